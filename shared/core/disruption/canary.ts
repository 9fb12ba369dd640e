import { type Reason, reason } from '../explain/reason.ts';
import { isTrue } from '../lifecycle/conditions.ts';
import {
  type NotedTimes,
  notedTimesText,
  readNotedTimes,
} from '../model/annotations/noted-times.ts';
import {
  FAILED_CANARIES,
  INTERRUPTED,
  type Labels,
  NODE_CLASS_HASH,
  TRIES,
} from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isLate, lateness } from './commands.ts';
import type { Drift } from './drift.ts';

/** A state whose canary did not become ready is tried again after this long, with one node. */
export const CANARY_RETRY_MS = 60 * 60_000;

/** New states whose canary failed, and when; of all NodePools together. */
export type FailedCanaries = NotedTimes;

/** What a NodePool's annotation says; whatever cannot be read says nothing. */
export function failedCanaries(annotations: Labels): FailedCanaries {
  return readNotedTimes(annotations[FAILED_CANARIES]);
}

/** The annotation's text; null removes it. */
export function failedCanariesText(failed: FailedCanaries): string | null {
  if (failed.size === 0) return null;
  return notedTimesText(failed);
}

/** Between the states in {@link TRIES}; none of them has a line break. */
const SEPARATOR = '\n';

/** The annotation that says what a replacement is the first to have. */
export function triesText(states: readonly string[]): string {
  return [...states].sort().join(SEPARATOR);
}

/** Of the states those that are about a NodePool or about an EC2NodeClass. */
export function statesOf(
  states: readonly string[],
  nodePool: string,
  nodeClass: string,
): readonly string[] {
  const owners = [`NodePool/${nodePool} `, `EC2NodeClass/${nodeClass} `];
  return states.filter((state) => owners.some((owner) => state.startsWith(owner)));
}

/**
 * What the claim was made to try and may have: of an image, and of a class's spec, it is known once
 * it is launched.
 */
export function triedStates({ annotations, imageId, nodeClassRef }: NodeClaim): readonly string[] {
  const all = annotations[TRIES]?.split(SEPARATOR) ?? [];
  const known = [
    [`EC2NodeClass/${nodeClassRef.name} image `, imageId],
    [`EC2NodeClass/${nodeClassRef.name} spec `, annotations[NODE_CLASS_HASH]],
  ] as const;
  return all.filter((state) =>
    known.every(
      ([kind, has]) => has === undefined || !state.startsWith(kind) || state === kind + has,
    ),
  );
}

/**
 * How far a canary has come. One that got no instance, or that EC2 has taken back, says nothing
 * of what it was to try, and neither does one that somebody has deleted before its time was up.
 * One whose instance ends while it boots has failed, and is gone: the memory of launches knows it.
 */
export type Trial =
  | { readonly kind: 'starting' }
  | { readonly kind: 'over' }
  | { readonly kind: 'failed'; readonly why: Reason };

export function trialOf(claim: NodeClaim, waitMs: number, nowMs: number): Trial {
  const { deletedAtMs, annotations } = claim;
  if (isTrue(claim, 'Initialized') || annotations[INTERRUPTED] !== undefined) {
    return { kind: 'over' };
  }
  if (!isLate(claim, waitMs, deletedAtMs ?? nowMs)) {
    return { kind: deletedAtMs === undefined ? 'starting' : 'over' };
  }
  if (!isTrue(claim, 'Launched')) return { kind: 'over' };
  return { kind: 'failed', why: reason('canary-late', lateness(claim, waitMs)) };
}

/** What is known of new states when a node is to be replaced. */
export interface Trials {
  /** States that an initialised node has. */
  readonly proven: ReadonlySet<string>;
  /** States that a node on its way is trying, with its claim. */
  readonly trying: ReadonlyMap<string, string>;
  readonly failed: FailedCanaries;
}

export type Verdict =
  /** Its state has been tried. */
  | { readonly kind: 'free' }
  /** It would be the first: these states have to be tried. */
  | { readonly kind: 'canary'; readonly states: readonly string[] }
  | { readonly kind: 'blocked'; readonly why: Reason };

/** States that a claim's replacement would be the first to have. */
function untriedStates(drifts: readonly Drift[], proven: ReadonlySet<string>): readonly string[] {
  return drifts.flatMap(({ state }) => (state === undefined || proven.has(state) ? [] : [state]));
}

/** Whether a drifted node may be replaced: one node tries what is new, the others wait for it. */
export function verdictOf(drifts: readonly Drift[], trials: Trials, nowMs: number): Verdict {
  const states = untriedStates(drifts, trials.proven);
  if (states.length === 0) return { kind: 'free' };
  for (const state of states) {
    const failedAtMs = trials.failed.get(state);
    if (failedAtMs !== undefined && nowMs < failedAtMs + CANARY_RETRY_MS) {
      const until = new Date(failedAtMs + CANARY_RETRY_MS).toISOString();
      return { kind: 'blocked', why: reason('canary-failed-before', { state, until }) };
    }
    const canary = trials.trying.get(state);
    if (canary !== undefined) {
      return { kind: 'blocked', why: reason('canary-pending', { nodeClaim: canary, state }) };
    }
  }
  return { kind: 'canary', states };
}
