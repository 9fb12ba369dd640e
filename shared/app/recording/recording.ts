import type { ConsolidationCandidate } from '../../core/disruption/consolidation/payback.ts';
import type { Consolidated, Consolidation } from '../../core/disruption/consolidation/search.ts';
import { type Reason, sentence, sentences } from '../../core/explain/reason.ts';
import type { Plan } from '../../core/model/plan.ts';
import { type Pod, podKey } from '../../core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../core/model/snapshot.ts';
import { jsonValue, type SnapshotJson, snapshotJson } from './snapshot-json.ts';

/** Another layout gets another number, and is refused by those that do not know it. */
export const FORMAT = 3;

/** What a plan of `provision` was made from. */
export interface Planning {
  readonly snapshot: ClusterSnapshot;
  readonly settings: SchedulingSettings;
  /** Pods that ReplicaSets have still to make. */
  readonly expected: readonly Pod[];
}

interface Head {
  readonly format: number;
  /** The version of Joiner that decided. */
  readonly joiner: string;
  /** ISO 8601. */
  readonly at: string;
}

export type CandidateJson = Pick<
  ConsolidationCandidate,
  'pricePerHour' | 'isSpot' | 'isDrifted' | 'evictionCost'
> & {
  readonly claim: string;
  readonly pool: string;
  /** `namespace/name`. */
  readonly pods: readonly string[];
};

/** A decision as a file: what it was made from, and what came of it. */
export type RecordingJson =
  | (Head & {
      readonly useCase: 'provision';
      readonly snapshot: SnapshotJson;
      readonly settings: SchedulingSettings;
      readonly expected: readonly Pod[];
      readonly answer: unknown;
    })
  | (Head & {
      readonly useCase: 'disrupt';
      readonly snapshot: SnapshotJson;
      readonly consolidation: unknown;
      readonly candidates: readonly CandidateJson[];
      readonly answer: unknown;
    });

/** A reason as answers have it. */
function withSentence([name, why]: readonly [string, Reason]): readonly [string, string] {
  return [name, sentence(why)];
}

/** All of them. */
function withSentences([name, reasons]: readonly [string, readonly Reason[]]) {
  return [name, sentences(reasons)] as const;
}

/** What came of a decision, in an order that only depends on it. */
export function planAnswer(plan: Plan): unknown {
  const byKey = <Each>(entries: ReadonlyMap<string, Each>) =>
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
  const unplaced = byKey(plan.unplaced).map(([pod, { reasons, message }]) => [
    pod,
    { codes: reasons.map(({ code }) => code), message },
  ]);
  return { ...plan, unplaced, ignored: byKey(plan.ignored).map(withSentence) };
}

export function movesAnswer({ moves, refusals, plans }: Consolidated): unknown {
  const named = moves.map(({ nodes, replacements, elsewhere, balance }) => ({
    nodes: nodes.map(({ node }) => node.name),
    replacements,
    elsewhere: [...elsewhere].sort(),
    balance,
  }));
  const inOrder = [...refusals].sort(([a], [b]) => (a < b ? -1 : 1));
  return { moves: named, refusals: inOrder.map(withSentences), plans };
}

export function textOf(value: unknown): string {
  return JSON.stringify(value, jsonValue);
}

function headOf(joiner: string, atMs: number): Head {
  return { format: FORMAT, joiner, at: new Date(atMs).toISOString() };
}

/** The recording of a plan of `provision`, as the text of a file. */
export function planRecording(
  { snapshot, settings, expected }: Planning,
  plan: Plan,
  atMs: number,
): (joiner: string) => string {
  return (joiner) =>
    textOf({
      ...headOf(joiner, atMs),
      useCase: 'provision',
      snapshot: snapshotJson(snapshot),
      settings,
      expected,
      answer: planAnswer(plan),
    });
}

/** The recording of a search for moves, as the text of a file. */
export function consolidationRecording(
  input: Consolidation,
  found: Consolidated,
  atMs: number,
): (joiner: string) => string {
  const { snapshot, candidates, ...rest } = input;
  return (joiner) =>
    textOf({
      ...headOf(joiner, atMs),
      useCase: 'disrupt',
      snapshot: snapshotJson(snapshot),
      consolidation: rest,
      candidates: candidates.map(
        ({ claim, pool, pods, pricePerHour, isSpot, isDrifted, evictionCost }): CandidateJson => ({
          claim: claim.name,
          pool: pool.name,
          pods: pods.map(podKey),
          pricePerHour,
          isSpot,
          isDrifted,
          evictionCost,
        }),
      ),
      answer: movesAnswer(found),
    });
}
