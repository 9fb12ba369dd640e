import { consolidate } from '../../core/disruption/consolidation/consolidate.ts';
import type { ConsolidationCandidate } from '../../core/disruption/consolidation/payback.ts';
import type { Consolidated, Consolidation } from '../../core/disruption/consolidation/search.ts';
import type { MeteredUsage } from '../../core/disruption/consolidation/usage-guard.ts';
import type { Reason } from '../../core/explain/reason.ts';
import type { Currency } from '../../core/model/currency.ts';
import { nodeOfClaim } from '../../core/model/joins.ts';
import { podKey } from '../../core/model/pod.ts';
import type { Resources } from '../../core/model/resources.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
  type SchedulingSettings,
} from '../../core/model/snapshot.ts';
import { type PartPlan, planWhole } from '../../core/rollouts/part-plan.ts';
import {
  type CandidateJson,
  FORMAT,
  movesAnswer,
  type Planning,
  planAnswer,
  type RecordingJson,
  textOf,
} from './recording.ts';
import { recorded, snapshotFrom, valueOfJson } from './snapshot-json.ts';

/** A search's other fields, of which JSON knows no maps and sets. */
type Rest = Omit<
  Consolidation,
  'snapshot' | 'candidates' | 'allowance' | 'pools' | 'quiet' | 'fallbacks' | 'known' | 'usage'
> & {
  readonly allowance: readonly (readonly [string, number])[];
  readonly pools: readonly (readonly [string, { pricePerHour: number; disruption: number }])[];
  readonly quiet: readonly string[];
  /** Absent: none of the nodes is one. */
  readonly fallbacks?: readonly string[];
  readonly known: readonly (readonly [string, readonly Reason[]])[];
  /** Absent: no NodePool has a guard on it. */
  readonly usage?:
    | Extract<MeteredUsage, { readonly kind: 'missing' }>
    | { readonly kind: 'metered'; readonly pods: readonly (readonly [string, Resources])[] };
};

function usageFrom(usage: Rest['usage']): MeteredUsage | undefined {
  return usage?.kind === 'metered' ? { ...usage, pods: new Map(usage.pods) } : usage;
}

function candidatesFrom(
  { nodeClaims, nodes, nodePools, pods }: ClusterSnapshot,
  candidates: readonly CandidateJson[],
): readonly ConsolidationCandidate[] {
  const claims = new Map(nodeClaims.map((claim) => [claim.name, claim]));
  const pools = new Map(nodePools.map((pool) => [pool.name, pool]));
  const byKey = new Map(pods.map((pod) => [podKey(pod), pod]));
  return candidates.flatMap(
    ({ claim: name, pool, pods: keys, ...rest }): readonly ConsolidationCandidate[] => {
      const claim = recorded(claims.get(name), `NodeClaim ${name}`);
      const node = nodeOfClaim(nodes, claim);
      if (node === undefined) return [];
      const own = keys.flatMap((key) => byKey.get(key) ?? []);
      return [
        { ...rest, claim, node, pods: own, pool: recorded(pools.get(pool), `NodePool ${pool}`) },
      ];
    },
  );
}

/** Recordings of older versions lack what only newer ones know: that is as by default. */
function completed(settings: SchedulingSettings): SchedulingSettings {
  return { ...DEFAULT_SCHEDULING_SETTINGS, ...settings };
}

/** What a recorded plan of `provision` was made from. */
export function planningOf({
  snapshot,
  settings,
  expected,
}: Extract<RecordingJson, { readonly useCase: 'provision' }>): Planning {
  return { snapshot: snapshotFrom(snapshot), settings: completed(settings), expected };
}

/** What a recorded search for moves was made from. */
export function consolidationOf(
  recording: Extract<RecordingJson, { readonly useCase: 'disrupt' }>,
): Consolidation {
  const snapshot = snapshotFrom(recording.snapshot);
  const { allowance, pools, quiet, fallbacks, known, usage, ...rest } =
    recording.consolidation as Rest;
  return {
    ...rest,
    scheduling: completed(rest.scheduling),
    snapshot,
    candidates: candidatesFrom(snapshot, recording.candidates),
    allowance: new Map(allowance),
    pools: new Map(pools),
    quiet: new Set(quiet),
    fallbacks: fallbacks && new Set(fallbacks),
    known: new Map(known),
    usage: usageFrom(usage),
  };
}

interface DecidedOn {
  readonly snapshot: ClusterSnapshot;
  /** Of all prices. */
  readonly currency: Currency;
}

/** What is decided on a recorded snapshot. */
export type Decided =
  | (DecidedOn & { readonly useCase: 'provision'; readonly plan: PartPlan })
  | (DecidedOn & { readonly useCase: 'disrupt'; readonly found: Consolidated });

function decided(recording: RecordingJson): Decided {
  if (recording.useCase === 'disrupt') {
    const search = consolidationOf(recording);
    const { snapshot, scheduling } = search;
    const { currency } = scheduling;
    return { useCase: 'disrupt', snapshot, currency, found: consolidate(search) };
  }
  const { snapshot, settings, expected } = planningOf(recording);
  const plan = planWhole(snapshot, settings, expected);
  return { useCase: 'provision', snapshot, currency: settings.currency, plan };
}

function answerOf(made: Decided): unknown {
  return made.useCase === 'disrupt' ? movesAnswer(made.found) : planAnswer(made.plan);
}

/** Undefined: this is no recording, or one of a layout that is not known. */
export function recordingIn(text: string): RecordingJson | undefined {
  const recording = JSON.parse(text, valueOfJson) as Partial<RecordingJson> | null;
  if (recording?.format !== FORMAT || recording.snapshot === undefined) return undefined;
  return recording as RecordingJson;
}

/** What a recording says, and what is decided on it now. */
export interface Replayed {
  readonly useCase: RecordingJson['useCase'];
  readonly joiner: string;
  readonly at: string;
  /** JSON text. */
  readonly recorded: string;
  /** JSON text. */
  readonly now: string;
  readonly decided: Decided;
}

/** Undefined: this is no recording, or one of a layout that is not known. */
export function replayed(text: string): Replayed | undefined {
  const recording = recordingIn(text);
  if (recording === undefined) return undefined;
  const { useCase, joiner, at, answer } = recording;
  const made = decided(recording);
  const texts = { recorded: textOf(answer), now: textOf(answerOf(made)) };
  return { useCase, joiner, at, ...texts, decided: made };
}
