import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { type Reason, reason, sentence } from '../../shared/core/explain/reason.ts';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { type Living, lifeOf } from '../../shared/core/lifecycle/node-life.ts';
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
import { EXPIRY_HELD, leavingBecause } from '../../shared/preview/removals.ts';
import type { NodeRow } from '../top/rows.ts';
import { type Explained, type Further, furtherReasons, keepingReasons } from './further.ts';
import { sentencesByBudget } from './sentences.ts';

/** What Joiner would do with a node now. */
export type Fate =
  /** Undefined: nobody asked whether its pods could be elsewhere. */
  | {
      readonly kind: 'stays';
      readonly why: string | undefined;
      readonly reasons: readonly Reason[];
    }
  | { readonly kind: 'starts'; readonly why: string; readonly reasons: readonly Reason[] }
  /** It would go, at once or when its replacements are ready. */
  | { readonly kind: 'goes'; readonly why: string; readonly replacedBy: readonly string[] }
  /** It differs from what is asked for, or is not needed, and something keeps it. */
  | {
      readonly kind: 'held';
      readonly why: readonly string[];
      readonly reasons: readonly Reason[];
    };

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

/** What is so already, or would be decided now; undefined: neither, and the node stays. */
function movesAs(
  living: Living & { readonly claim: NodeClaim },
  state: Explained['state'],
  { removals }: Preview,
  nowMs: number,
): Fate | undefined {
  const { claim } = living;
  const leaving = leavingBecause(claim, state, nowMs);
  if (leaving !== undefined) {
    const { detail } = lifeOf(living, state.objects.podDisruptionBudgets, nowMs);
    const isDrained = claim.deletedAtMs !== undefined && detail !== '';
    return { kind: 'goes', why: isDrained ? `${leaving}: ${detail}` : leaving, replacedBy: [] };
  }
  const removal = removals.find(({ nodeClaim }) => nodeClaim === claim.name);
  if (removal !== undefined) {
    return { kind: 'goes', why: removal.why, replacedBy: removal.replacedBy };
  }
  if (claim.providerId === undefined) return startsAs(reason('instance-awaited', {}));
  return isTrue(claim, 'Initialized') ? undefined : startsAs(reason('node-not-joined', {}));
}

/** What keeps a node that neither goes nor starts. */
function staysAs(
  { claim, node, pods }: Living & { readonly claim: NodeClaim },
  { held, drifted }: Preview,
  kept: readonly Reason[],
): Fate {
  const own = held.filter(({ object }) => object === `NodeClaim/${claim.name}`);
  const ofPool = held.filter(({ object }) => object === `NodePool/${claim.labels[NODE_POOL]}`);
  const drift = drifted.find(({ nodeClaim }) => nodeClaim === claim.name);
  // What is empty and not said to be held back is needed: by pods that wait, or a CapacityBuffer.
  const isUnused = node !== undefined && !pods.some(isReschedulable);
  const isHeld = isUnused && isTrue(claim, 'Consolidatable') && ofPool.length > 0;
  const isUnwanted = drift !== undefined || isHeld;
  const why = kept.length === 0 ? undefined : sentencesByBudget(kept);
  if (own.length === 0 && !isUnwanted) return { kind: 'stays', why, reasons: kept };
  const expiry = own.flatMap(({ message }) => (message === EXPIRY_HELD ? [message] : []));
  const others = own.filter(({ message }) => message !== EXPIRY_HELD);
  const said = [...others, ...(isUnwanted ? ofPool : [])].map(({ message }) => message);
  const what = [...expiry, ...(drift === undefined ? [] : [`it has drifted (${drift.reason})`])];
  return { kind: 'held', why: [...what, ...(why === undefined ? said : [why])], reasons: kept };
}

function startsAs(why: Reason): Fate {
  return { kind: 'starts', why: sentence(why), reasons: [why] };
}

/**
 * What the claim is, how it came to be, and what would become of it now: `found` on the input, asked
 * about the claim.
 */
export async function explainClaim(
  claim: NodeClaim,
  row: NodeRow,
  input: Explained,
  found: Preview,
  options: Pick<DryRunOptions, 'onPart'> = {},
): Promise<ClaimExplanation> {
  const { objects } = input.state;
  const node = objects.nodes.find(({ name }) => name === row.node);
  const all = { ...node?.annotations, ...claim.annotations };
  const pods = podsOnNode(objects.pods, row.node);
  const moving = pods.filter(isReschedulable);
  const living = { claim, node, pods };
  const moves = movesAs(living, input.state, found, input.nowMs);
  const pass = { going: found.removals.map(({ nodeClaim }) => nodeClaim), kept: found.kept };
  const kept = moves === undefined ? await keepingReasons(input, claim.name, pass, options) : [];
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
    pods: moving.map((pod) => `${pod.namespace}/${pod.name}`).sort(),
    fate: moves ?? staysAs(living, found, kept),
    further: kept.length === 0 ? undefined : await furtherReasons(input, claim.name, kept, options),
  };
}
