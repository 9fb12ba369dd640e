import { INTERRUPTION_RECEIVES_MAX, PROBE } from '../../shared/contract.ts';
import { actionFor } from '../../shared/core/interruption/action.ts';
import {
  type Envelope,
  type InterruptionKind,
  parseInterruption,
  type Refusal,
} from '../../shared/core/interruption/interruption.ts';
import { probeOf } from '../../shared/core/interruption/probe.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
import type { DeadLetter } from './queue.ts';

/** Whose `interrupt` is to say what it makes of a message. */
export interface Judge {
  readonly cluster: string;
  readonly envelope: Envelope;
}

/** What `interrupt` makes of a message, for people. */
export interface Judgement {
  /** Karpenter's name of the kind; a refusal where `interrupt` reads no kind out of it. */
  readonly kind: InterruptionKind | 'probe' | Refusal;
  /** `i-…` */
  readonly instanceIds: readonly string[];
  /** By its sender; undefined: nothing that is believed says so. */
  readonly sentAtMs: number | undefined;
  /** What becomes of it where it is handed to `interrupt` again. */
  readonly redriven: 'handled' | 'taken-away' | 'refused';
  /** Why it is among the dead letters. */
  readonly why: string;
  /** What a person can do. */
  readonly advice: string;
}

const LOOK = 'find the cause in the log of interrupt, and redrive it when that is gone';
const DISCARD = 'discard it: a redrive would change nothing';

/** EC2 takes an instance back so long after its warning. */
const WARNING_MS = 120_000;

/** What makes `interrupt` fail on a message of the kind, when nothing is wrong with the message. */
function causeOf(kind: InterruptionKind): string {
  const refused = 'the cluster or AWS refused a call, or the run was cut off';
  const action = actionFor({ kind });
  if (action?.deleteClaim !== true) return refused;
  switch (action.confirmedBy) {
    case 'nothing':
      return `too many nodes of its NodePool would have gone unconfirmed, or ${refused}`;
    case 'instance-state':
      return `EC2 said that the instance runs, or ${refused}`;
    case 'spot-request':
      return refused;
  }
}

/** What `interrupt` refuses, as a sentence goes on after "it". */
function saidOf(refusal: Refusal, { body }: DeadLetter, { envelope }: Judge): string {
  switch (refusal) {
    case 'malformed':
      return parsedJson(body) === undefined
        ? 'is not JSON'
        : 'is not an event of EventBridge that names instances';
    case 'too_large':
      return 'is larger than any event of EventBridge';
    case 'foreign_account':
      return `is not of the account ${envelope.accountId}`;
    case 'foreign_region':
      return `is not of the region ${envelope.region}`;
    case 'stale':
      return 'was sent more than a day before or after the queue took it';
  }
}

/** What is known of how it came here. */
function failed({ movedFrom }: DeadLetter): string {
  return movedFrom === undefined
    ? 'SQS names no queue that gave it up, so it may have been sent here by hand'
    : `the function interrupt failed to handle it ${INTERRUPTION_RECEIVES_MAX} times`;
}

/** What `interrupt` refuses, or has no action for, it takes away: only whole runs fail on that. */
function failedAsAWhole(letter: DeadLetter): string {
  return letter.movedFrom === undefined
    ? failed(letter)
    : `${INTERRUPTION_RECEIVES_MAX} runs that it was in failed as a whole`;
}

function judgeProbe(letter: DeadLetter): Judgement {
  return {
    kind: 'probe',
    instanceIds: [],
    sentAtMs: letter.queuedAtMs,
    redriven: 'taken-away',
    why: `joiner doctor --probe sent it; ${failedAsAWhole(letter)}`,
    advice: 'discard it; joiner doctor --probe sends the next one',
  };
}

/** By the decoder of `interrupt`: as it was when the queue took it, and as it is now. */
export function judge(letter: DeadLetter, of: Judge, nowMs: number): Judgement {
  const { body, queuedAtMs } = letter;
  if (probeOf(body, { ...of.envelope, ...PROBE, cluster: of.cluster }) !== undefined) {
    return judgeProbe(letter);
  }
  const [then, now] = [queuedAtMs, nowMs].map((atMs) => parseInterruption(body, of.envelope, atMs));
  if (then?.ok !== true) {
    const kind = then?.refusal ?? 'malformed';
    const said = `it ${saidOf(kind, letter, of)}, which interrupt refuses`;
    const why = `${said}; ${failedAsAWhole(letter)}`;
    const nothing = { instanceIds: [], sentAtMs: undefined };
    return { kind, ...nothing, redriven: 'refused', why, advice: DISCARD };
  }
  const { kind, instanceIds, sentAtMs } = then.interruption;
  const read = { kind, instanceIds, sentAtMs };
  if (actionFor(then.interruption) === undefined) {
    const why = `interrupt has nothing to do about its kind; ${failedAsAWhole(letter)}`;
    return { ...read, redriven: 'taken-away', why, advice: DISCARD };
  }
  const cause = letter.movedFrom === undefined ? '' : `: ${causeOf(kind)}`;
  const why = `${failed(letter)}${cause}`;
  if (now?.ok !== true) {
    const late = `${why}; it was sent more than a day ago by now, which interrupt refuses`;
    return { ...read, redriven: 'refused', why: late, advice: DISCARD };
  }
  const isOver = kind === 'spot_interrupted' && nowMs - sentAtMs > WARNING_MS;
  const advice = isOver
    ? 'its two minutes are over: redrive it, or discard it where the instance is gone'
    : LOOK;
  return { ...read, redriven: 'handled', why, advice };
}
