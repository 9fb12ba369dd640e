import packageJson from '../../package.json' with { type: 'json' };
import { functionName } from '../../shared/contract.ts';
import { age } from '../../shared/core/duration.ts';
import { missing } from '../../shared/core/missing.ts';
import { type DocumentFormat, documentText } from '../output.ts';
import { table } from '../simulate/table.ts';
import { counted } from '../words.ts';
import type { Deed, Outcome } from './chosen.ts';
import type { Judgement } from './judgement.ts';
import { progress } from './move.ts';
import type { DeadLetter, Look, MoveTask } from './queue.ts';

/** A message and what is to be said of it. */
export interface Judged {
  readonly letter: DeadLetter;
  readonly judgement: Judgement;
}

/** What a look at the queue has found. */
export interface Listing extends Pick<Look, 'isAll'> {
  readonly cluster: string;
  readonly region: string;
  readonly queue: string;
  readonly nowMs: number;
  readonly judged: readonly Judged[];
  /** Messages that somebody else has been handed. */
  readonly hidden: number;
}

const IDS_SHOWN = 2;

function time(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

function instances({ instanceIds }: Judgement): string {
  const more = instanceIds.length - IDS_SHOWN;
  const shown = instanceIds.slice(0, IDS_SHOWN).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown || '-';
}

/** What the listing does not show. */
function unseen({ judged, isAll, hidden }: Listing): readonly string[] {
  return [
    ...(isAll ? [] : [`there may be more than these ${judged.length}: --limit looks further`]),
    ...(hidden > 0
      ? [`${counted(hidden, 'message')} more, which somebody else is looking at`]
      : []),
  ];
}

/** A row each, why it is there, and once for those in a row what can be done. */
export function listingText(listing: Listing): string {
  const { judged, queue, nowMs, cluster, region } = listing;
  const [oldest] = judged;
  if (oldest === undefined) {
    return [`${queue} is empty`, ...unseen(listing)].map((line) => `${line}\n`).join('');
  }
  const [header = '', ...rows] = table(
    ['ID', 'QUEUED', 'AGE', 'RECEIVED', 'KIND', 'INSTANCES'],
    judged.map(({ letter: { id, queuedAtMs, received }, judgement }) => [
      id,
      time(queuedAtMs),
      age(Math.max(0, Math.round((nowMs - queuedAtMs) / 1000))),
      String(received),
      judgement.kind,
      instances(judgement),
    ]),
  ).split('\n');
  const said = judged.flatMap(({ judgement: { why, advice } }, at) => {
    const isSaid = advice !== judged[at + 1]?.judgement.advice;
    return [rows[at] ?? missing(at), `  ${why}`, ...(isSaid ? [`  → ${advice}`] : [])];
  });
  const log = `/aws/lambda/${functionName(cluster, 'interrupt')}`;
  const since = `--since ${time(oldest.letter.queuedAtMs)} --region ${region}`;
  return [
    `${counted(judged.length, 'message')} in ${queue}, oldest first; each stays there`,
    '',
    header,
    ...said,
    '',
    ...unseen(listing),
    `the log of interrupt: aws logs tail ${log} ${since}`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** For programs: with the bodies. */
export function listingDocument(listing: Listing, format: DocumentFormat): string {
  const { cluster, queue, isAll, hidden, judged } = listing;
  const messages = judged.map(({ letter, judgement }) => ({
    id: letter.id,
    kind: judgement.kind,
    instances: judgement.instanceIds,
    sent: judgement.sentAtMs === undefined ? null : time(judgement.sentAtMs),
    queued: time(letter.queuedAtMs),
    received: letter.received,
    movedFrom: letter.movedFrom,
    redriven: judgement.redriven,
    why: judgement.why,
    advice: judgement.advice,
    body: letter.body,
  }));
  return documentText(
    { joiner: packageJson.version, cluster, queue, isAll, hidden, messages },
    format,
  );
}

const SAID: Readonly<Record<Outcome['result'], string>> = {
  redriven: 'redriven: interrupt gets it again',
  discarded: 'discarded',
  'dry-run': '',
  sent: 'redriven, but it is still here',
  kept: 'still here',
};

/** A line for each message that was named. */
export function outcomesText(outcomes: readonly Outcome[], deed: Deed): string {
  const wouldBe = deed === 'redrive' ? 'would be redriven' : 'would be discarded';
  return outcomes
    .map(({ id, result, why }) => {
      const said = result === 'dry-run' ? `${wouldBe} (dry run)` : SAID[result];
      return `${id}: ${said}${why === undefined ? '' : `: ${why}`}\n`;
    })
    .join('');
}

/** The same for programs. */
export function outcomesDocument(
  outcomes: readonly Outcome[],
  queue: string,
  format: DocumentFormat,
): string {
  return documentText({ joiner: packageJson.version, queue, messages: outcomes }, format);
}

/** What became of a redrive of everything. */
export function moveText(task: MoveTask | undefined, queue: string): string {
  if (task === undefined) return `${queue}: the redrive was asked for, and has not begun yet\n`;
  const { status, failure } = task;
  if (status === 'COMPLETED') return `${queue}: redriven, ${progress(task)}\n`;
  if (status === 'RUNNING') return `${queue}: ${progress(task)}; SQS goes on by itself\n`;
  const why = failure === undefined ? '' : `: ${failure}`;
  return `${queue}: the redrive is ${status}, ${progress(task)}${why}\n`;
}

/** The same for programs. */
export function moveDocument(
  task: MoveTask | undefined,
  queue: string,
  format: DocumentFormat,
): string {
  const redrive = task && {
    status: task.status,
    started: time(task.startedAtMs),
    moved: task.moved,
    toMove: task.toMove,
    failure: task.failure,
  };
  return documentText({ joiner: packageJson.version, queue, redrive }, format);
}
