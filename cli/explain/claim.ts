import { isMoving } from '../../shared/core/disruption/candidates.ts';
import type { Condition } from '../../shared/core/model/cluster.ts';
import {
  DECISION,
  DO_NOT_DISRUPT,
  INTERRUPTED,
  NOMINATED_UNTIL,
  PLAN,
  REPLACED_BY,
  REPLACES,
} from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';
import type { Preview } from '../plan/preview.ts';
import type { NodeRow } from '../top/rows.ts';

/** What Joiner would do with a node now. */
export type Fate =
  | { readonly kind: 'stays' }
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
  /** Notes that decisions go by, by the annotation's name. */
  readonly notes: Readonly<Record<string, string>>;
  /** `namespace/name` of those that would move. */
  readonly pods: readonly string[];
  readonly fate: Fate;
}

const NOTES = [DO_NOT_DISRUPT, NOMINATED_UNTIL, INTERRUPTED, REPLACES, REPLACED_BY] as const;

function plannedOf(text: string | undefined): ClaimExplanation['planned'] {
  if (text === undefined) return undefined;
  try {
    const plan: unknown = JSON.parse(text);
    return typeof plan === 'object' && plan !== null ? { ...plan } : undefined;
  } catch {
    return undefined;
  }
}

function fateOf({ name }: NodeClaim, { removals, held }: Preview): Fate {
  const removal = removals.find(({ nodeClaim }) => nodeClaim === name);
  if (removal !== undefined) {
    return { kind: 'goes', why: removal.why, replacedBy: removal.replacedBy };
  }
  const why = held.filter(({ object }) => object === `NodeClaim/${name}`);
  if (why.length === 0) return { kind: 'stays' };
  return { kind: 'held', why: why.map(({ message }) => message) };
}

/** What the claim is, how it came to be, and what would become of it now. */
export function explainClaim(
  claim: NodeClaim,
  row: NodeRow,
  { objects }: ClusterState,
  found: Preview,
): ClaimExplanation {
  const node = objects.nodes.find(({ name }) => name === row.node);
  const annotations = { ...node?.annotations, ...claim.annotations };
  const pods = objects.pods.filter((pod) => pod.nodeName === row.node && isMoving(pod));
  return {
    row,
    planned: plannedOf(claim.annotations[PLAN]),
    decision: claim.annotations[DECISION],
    conditions: claim.conditions,
    notes: Object.fromEntries(
      NOTES.flatMap((name) => {
        const value = annotations[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    ),
    pods: row.node === undefined ? [] : pods.map((pod) => `${pod.namespace}/${pod.name}`).sort(),
    fate: fateOf(claim, found),
  };
}
