import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { type Reason, sentences } from '../../shared/core/explain/reason.ts';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { readJsonObject } from '../../shared/core/model/annotations/json-object.ts';
import type { Condition } from '../../shared/core/model/cluster.ts';
import { podsOnNode } from '../../shared/core/model/joins.ts';
import {
  DECISION,
  DO_NOT_DISRUPT,
  INTERRUPTED,
  NODE_POOL,
  NOMINATED_UNTIL,
  PLAN,
  REPLACED_BY,
  REPLACED_FOR,
  REPLACES,
} from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { DryRunOptions } from '../../shared/preview/dry-run.ts';
import type { Preview } from '../../shared/preview/preview.ts';
import { leavingBecause } from '../../shared/preview/removals.ts';
import type { NodeRow } from '../top/rows.ts';
import { type Further, furtherReasons } from './further.ts';

/** What Joiner would do with a node now. */
export type Fate =
  /** Undefined: nobody asked whether its pods could be elsewhere. */
  | {
      readonly kind: 'stays';
      readonly why: string | undefined;
      readonly reasons: readonly Reason[];
    }
  | { readonly kind: 'starts'; readonly why: string }
  /** It would go, at once or when its replacements are ready. */
  | { readonly kind: 'goes'; readonly why: string; readonly replacedBy: readonly string[] }
  /** It differs from what is asked for, or is not needed, and something keeps it. */
  | { readonly kind: 'held'; readonly why: readonly string[] };

export interface ClaimExplanation {
  readonly row: NodeRow;
  /** What the plan chose that made it, as it was noted then; undefined: nobody noted it. */
  readonly planned: Readonly<Record<string, unknown>> | undefined;
  /** The id of the record of that decision, in the log of `provision`. */
  readonly decision: string | undefined;
  readonly conditions: readonly Condition[];
  /** Annotations that decisions go by, of the claim and its node. */
  readonly annotations: Readonly<Record<string, string>>;
  /** `namespace/name` of those that would move. */
  readonly pods: readonly string[];
  readonly fate: Fate;
  /** What would keep it once all is away that keeps it now; undefined: nothing does. */
  readonly further: Further | undefined;
}

const DECISIVE = [
  DO_NOT_DISRUPT,
  NOMINATED_UNTIL,
  INTERRUPTED,
  REPLACES,
  REPLACED_BY,
  REPLACED_FOR,
] as const;

/** What is so already, then what would be decided now, then what keeps it from being decided. */
function fateOf(claim: NodeClaim, isUnused: boolean, found: Preview, nowMs: number): Fate {
  const { removals, held, drifted, kept } = found;
  const leaving = leavingBecause(claim, nowMs);
  if (leaving !== undefined) return { kind: 'goes', why: leaving, replacedBy: [] };
  const removal = removals.find(({ nodeClaim }) => nodeClaim === claim.name);
  if (removal !== undefined) {
    return { kind: 'goes', why: removal.why, replacedBy: removal.replacedBy };
  }
  if (claim.providerId === undefined) return { kind: 'starts', why: 'it waits for an instance' };
  if (!isTrue(claim, 'Initialized')) return { kind: 'starts', why: 'its node is not ready yet' };
  const own = held.filter(({ object }) => object === `NodeClaim/${claim.name}`);
  const ofPool = held.filter(({ object }) => object === `NodePool/${claim.labels[NODE_POOL]}`);
  const drift = drifted.find(({ nodeClaim }) => nodeClaim === claim.name);
  // What is empty and not said to be held back is needed: by pods that wait, or a CapacityBuffer.
  const isHeld = isUnused && isTrue(claim, 'Consolidatable') && ofPool.length > 0;
  const isUnwanted = drift !== undefined || isHeld;
  if (own.length === 0 && !isUnwanted) {
    const others = removals.length > 0 ? 'other nodes go first' : undefined;
    const reasons = kept.get(claim.name) ?? [];
    const why = reasons.length === 0 ? others : sentences(reasons);
    return { kind: 'stays', why, reasons };
  }
  const reasons = [...own, ...(isUnwanted ? ofPool : [])].map(({ message }) => message);
  const what = drift === undefined ? [] : [`it has drifted (${drift.reason})`];
  const why = reasons.length > 0 ? reasons : ['other nodes go first'];
  return { kind: 'held', why: [...what, ...why] };
}

/**
 * What the claim is, how it came to be, and what would become of it now: `found` on the input, asked
 * about the claim.
 */
export async function explainClaim(
  claim: NodeClaim,
  row: NodeRow,
  input: Parameters<typeof furtherReasons>[0],
  found: Preview,
  options: Pick<DryRunOptions, 'onPart'> = {},
): Promise<ClaimExplanation> {
  const { objects } = input.state;
  const node = objects.nodes.find(({ name }) => name === row.node);
  const all = { ...node?.annotations, ...claim.annotations };
  const pods = podsOnNode(objects.pods, row.node).filter(isReschedulable);
  const isUnused = row.node !== undefined && pods.length === 0;
  const fate = fateOf(claim, isUnused, found, input.nowMs);
  const isKept = fate.kind === 'stays' || fate.kind === 'held';
  const kept = isKept ? (found.kept.get(claim.name) ?? []) : [];
  return {
    row,
    planned: readJsonObject(claim.annotations[PLAN]),
    decision: claim.annotations[DECISION],
    conditions: claim.conditions,
    annotations: Object.fromEntries(
      DECISIVE.flatMap((name) => {
        const value = all[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    pods: row.node === undefined ? [] : pods.map((pod) => `${pod.namespace}/${pod.name}`).sort(),
    fate,
    further: kept.length === 0 ? undefined : await furtherReasons(input, claim.name, kept, options),
  };
}
