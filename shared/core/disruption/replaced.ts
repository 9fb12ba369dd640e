import { conditionOf } from '../lifecycle/conditions.ts';
import { nodeOfClaim, podsOnNode } from '../model/joins.ts';
import { INTERRUPTED, REPLACED_BY } from '../model/labels.ts';
import type { Plan } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { isDisrupted } from '../model/taint.ts';
import type { PlanOn } from './left-waiting.ts';
import { withReserved } from './simulation.ts';

/** A node that takes no pods and waits for its replacements, or is drained since they are ready. */
interface Replaced {
  readonly claim: NodeClaim;
  readonly pods: readonly string[];
}

/**
 * Whether a decision has just found places for the pods of its node: it is being replaced, or it is
 * drained because its pods run cheaper there, or on what is tried first. EC2 takes an interrupted
 * one whatever became of them.
 */
function isProvidedFor(claim: NodeClaim): boolean {
  const { annotations, deletedAtMs } = claim;
  if (deletedAtMs === undefined) return annotations[REPLACED_BY] !== undefined;
  const reason = conditionOf(claim, 'DisruptionReason')?.reason;
  const hasPlaces = reason === 'Underutilized' || reason === 'Fallback';
  return hasPlaces && annotations[INTERRUPTED] === undefined;
}

function replacedNodes({ nodeClaims, nodes, pods }: ClusterSnapshot): readonly Replaced[] {
  const waiting = nodeClaims.filter(isProvidedFor);
  return waiting.flatMap((claim) => {
    const node = nodeOfClaim(nodes, claim);
    if (node === undefined || !isDisrupted(node)) return [];
    if (node.deletedAtMs !== undefined && claim.deletedAtMs === undefined) return [];
    return [{ claim, pods: podsOnNode(pods, node.name).map(podKey) }];
  });
}

/**
 * Plans with the pods of nodes that are being replaced, or drained after that, as demand for what
 * there is, so that nobody else gets their places, but not as demand for new nodes: where
 * replacements cannot be had, the nodes stay, and another plan may not find places that are tight.
 * Those whose pods would need more are planned as nodes that stay, pods and all.
 */
export function planAround<Made extends Plan>(
  snapshot: ClusterSnapshot,
  make: (snapshot: ClusterSnapshot) => Made,
): PlanOn<Made> {
  const replaced = replacedNodes(snapshot);
  const first = planOn(snapshot, make);
  const staying = withoutPlace(replaced, first.plan);
  if (staying.length === 0) return first;
  const second = planOn(withStaying(snapshot, staying), make);
  // What they leave undone may be the place of others: then all stay.
  const others = replaced.filter((each) => !staying.includes(each));
  if (withoutPlace(others, second.plan).length === 0) return second;
  return planOn(withStaying(snapshot, replaced), make);
}

function planOn<Made extends Plan>(
  snapshot: ClusterSnapshot,
  make: (snapshot: ClusterSnapshot) => Made,
): PlanOn<Made> {
  return { snapshot, plan: make(snapshot) };
}

/** Those that have a pod for which there is nothing but a new node. */
function withoutPlace(replaced: readonly Replaced[], plan: Plan): readonly Replaced[] {
  if (replaced.length === 0) return [];
  const short = new Set([
    ...plan.newNodeClaims.flatMap(({ pods }) => pods),
    ...plan.unplaced.keys(),
  ]);
  return replaced.filter(({ pods }) => pods.some((pod) => short.has(pod)));
}

function withStaying(snapshot: ClusterSnapshot, staying: readonly Replaced[]): ClusterSnapshot {
  return staying.reduce((each, { claim }) => withReserved(each, claim, []), snapshot);
}
