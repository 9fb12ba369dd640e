import { blockersOf, isEmpty } from '../disruption/candidates.ts';
import { sentences } from '../explain/reason.ts';
import type { Node, PodDisruptionBudget } from '../model/cluster.ts';
import { INTERRUPTED } from '../model/labels.ts';
import { isOver, type Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isDisrupted } from '../model/taint.ts';
import { conditionOf, isTrue } from './conditions.ts';

/** Where a node is in its life, in the order in which most nodes go through it. */
export type LifeState =
  | 'Launching'
  | 'Joining'
  | 'Registering'
  | 'Initializing'
  | 'Ready'
  | 'Empty'
  | 'Cordoned'
  | 'NotReady'
  | 'Drifted'
  | 'Warned'
  | 'Replacing'
  | 'Draining'
  | 'Terminating';

export interface NodeLife {
  readonly state: LifeState;
  /** What it waits for, or why; empty where there is nothing to say. */
  readonly detail: string;
}

/** A node, or a NodeClaim without one, with the pods that are bound to it. */
export interface Living {
  readonly node: Node | undefined;
  /** Undefined: somebody else's node. */
  readonly claim: NodeClaim | undefined;
  readonly pods: readonly Pod[];
}

function said(claim: NodeClaim, type: string): string {
  const { message = '', reason = '' } = conditionOf(claim, type) ?? {};
  return message === '' ? reason : message;
}

/** Its end has begun: what keeps it, or how much is left to do. */
function leaving(
  { node, claim, pods }: Living & { readonly claim: NodeClaim },
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
): NodeLife {
  if (isTrue(claim, 'InstanceTerminating') || node === undefined) {
    return { state: 'Terminating', detail: '' };
  }
  const blockers = blockersOf({ claim, node, pods }, budgets, nowMs, 'graceful');
  const left = pods.filter((pod) => !isOver(pod) && !isEmpty({ pods: [pod] })).length;
  const rest =
    left === 0 ? said(claim, 'VolumesDetached') : `${left} ${left === 1 ? 'pod' : 'pods'} left`;
  return { state: 'Draining', detail: blockers.length > 0 ? sentences(blockers) : rest };
}

/** Before it can take pods; undefined: it can. */
function starting({ node, claim }: Living): NodeLife | undefined {
  if (claim === undefined) return undefined;
  if (claim.providerId === undefined) {
    return { state: 'Launching', detail: said(claim, 'Launched') };
  }
  if (node === undefined) return { state: 'Joining', detail: '' };
  if (!isTrue(claim, 'Registered')) {
    return { state: 'Registering', detail: said(claim, 'Registered') };
  }
  if (isTrue(claim, 'Initialized')) return undefined;
  return { state: 'Initializing', detail: said(claim, 'Initialized') };
}

/** Where the node is now, and what it waits for. */
export function lifeOf(
  living: Living,
  budgets: readonly PodDisruptionBudget[],
  nowMs: number,
): NodeLife {
  const { node, claim, pods } = living;
  if (claim?.deletedAtMs !== undefined) return leaving({ ...living, claim }, budgets, nowMs);
  const warning = claim?.annotations[INTERRUPTED];
  if (warning !== undefined) return { state: 'Warned', detail: warning };
  const start = starting(living);
  if (start !== undefined) return start;
  if (node !== undefined && isDisrupted(node)) {
    return { state: 'Replacing', detail: 'its replacement is not ready yet' };
  }
  if (node !== undefined && !isTrue(node, 'Ready')) return { state: 'NotReady', detail: '' };
  if (claim !== undefined && isTrue(claim, 'Drifted')) {
    return { state: 'Drifted', detail: said(claim, 'Drifted') };
  }
  const isCordoned = node?.taints.some(({ key }) => key === 'node.kubernetes.io/unschedulable');
  if (isCordoned === true) return { state: 'Cordoned', detail: '' };
  const isIdle = claim !== undefined && isEmpty({ pods });
  return { state: isIdle ? 'Empty' : 'Ready', detail: '' };
}
