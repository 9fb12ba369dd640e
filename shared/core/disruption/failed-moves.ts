import { readJsonObject, readTime } from '../model/annotations/json-object.ts';
import type { NotedTimes } from '../model/annotations/noted-times.ts';
import { replacedUids } from '../model/annotations/replacements.ts';
import type { InstanceType } from '../model/instance-type.ts';
import { CAPACITY_TYPE, FAILED_MOVES, INSTANCE_TYPE, type Labels, TRIES } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';

/**
 * What consolidation does not launch for a while, of a NodePool: a node of the kind was to take the
 * place of others and did not become ready. The next one in vain doubles the time.
 */
const WAIT_MS = 15 * 60_000;
const WAIT_MS_MAX = 8 * 3_600_000;
/** So long after its wait a target is like one that has never failed. */
export const FORGET_MS = 24 * 3_600_000;

/** How long nothing is tried after so many failures in a row, from 1 on. */
export function waitMsOf(count: number): number {
  return Math.min(WAIT_MS_MAX, WAIT_MS * 2 ** (count - 1));
}

/** Moves to a target that failed: how many in a row, and until when no other is made. */
export interface FailedMove {
  readonly untilMs: number;
  readonly count: number;
}

/** By the target: an instance type and a capacity type. */
export type FailedMoves = ReadonlyMap<string, FailedMove>;

/** Undefined: it is none. */
export function readMove(value: unknown): FailedMove | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { until, count } = value as Readonly<Record<string, unknown>>;
  const untilMs = readTime(until);
  if (untilMs === undefined || typeof count !== 'number' || count < 1) return undefined;
  return { untilMs, count };
}

/** What a NodePool's annotation says; whatever cannot be read says nothing. */
export function failedMoves(annotations: Labels): FailedMoves {
  const read = readJsonObject(annotations[FAILED_MOVES]) ?? {};
  return new Map(
    Object.entries(read).flatMap(([target, value]) => {
      const move = readMove(value);
      return move === undefined ? [] : [[target, move] as const];
    }),
  );
}

/** The annotation's text; null removes it. */
export function failedMovesText(moves: FailedMoves): string | null {
  if (moves.size === 0) return null;
  const entries = [...moves].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(
      entries.map(([target, { untilMs, count }]) => [
        target,
        { until: new Date(untilMs).toISOString(), count },
      ]),
    ),
  );
}

/** What a claim was launched as, for people and as a key. */
export function targetOf({ labels }: { readonly labels: Labels }): string {
  return `${labels[INSTANCE_TYPE] ?? ''} ${labels[CAPACITY_TYPE] ?? ''}`;
}

/** Before a target in what an instance was to try, which the memory of launches keeps. */
const MOVE_TO = 'move to ';

/** What a replacement was to try beside what is new: of a canary that is to blame. */
export function triedMove(claim: Pick<NodeClaim, 'annotations' | 'labels'>): readonly string[] {
  const { annotations } = claim;
  const isMove = replacedUids(annotations).length > 0 && annotations[TRIES] === undefined;
  return isMove ? [`${MOVE_TO}${targetOf(claim)}`] : [];
}

/** The targets whose instances ended while they booted since the last failure of each was noted. */
export function endedTargets(
  tried: NotedTimes,
  moves: FailedMoves,
  nowMs: number,
): readonly string[] {
  return [...tried].flatMap(([text, atMs]) => {
    if (!text.startsWith(MOVE_TO) || nowMs - atMs >= WAIT_MS) return [];
    const target = text.slice(MOVE_TO.length);
    const noted = moves.get(target);
    const isNoted = noted !== undefined && atMs <= noted.untilMs - waitMsOf(noted.count);
    return isNoted ? [] : [target];
  });
}

/** The moves with one more failure; those of one move count once. */
export function withFailure(moves: FailedMoves, target: string, nowMs: number): FailedMoves {
  const before = moves.get(target);
  if (before !== undefined && nowMs < before.untilMs) return moves;
  const count = (before?.count ?? 0) + 1;
  return new Map([...moves, [target, { untilMs: nowMs + waitMsOf(count), count }]]);
}

/** Nodes of the targets have become ready: what failed before is over, but for a wait of now. */
export function withSuccess(
  moves: FailedMoves,
  targets: ReadonlySet<string>,
  nowMs: number,
): FailedMoves {
  return new Map(
    [...moves].filter(([target, { untilMs }]) => nowMs < untilMs || !targets.has(target)),
  );
}

/** The moves that still mean something. */
export function remembered(moves: FailedMoves, nowMs: number): FailedMoves {
  return new Map([...moves].filter(([, { untilMs }]) => nowMs < untilMs + FORGET_MS));
}

/** The targets that are to be left alone now. */
export function waitingTargets(moves: FailedMoves, nowMs: number): ReadonlySet<string> {
  return new Set([...moves].flatMap(([target, { untilMs }]) => (nowMs < untilMs ? [target] : [])));
}

/** The types without what is to be left alone. */
export function withoutTargets(
  types: readonly InstanceType[],
  targets: ReadonlySet<string>,
): readonly InstanceType[] {
  if (targets.size === 0) return types;
  return types.flatMap((type) => {
    const offerings = type.offerings.filter(
      ({ capacityType }) => !targets.has(`${type.name} ${capacityType}`),
    );
    if (offerings.length === type.offerings.length) return [type];
    return offerings.length === 0 ? [] : [{ ...type, offerings }];
  });
}
