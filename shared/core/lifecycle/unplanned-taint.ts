import type { Node } from '../model/cluster.ts';
import type { Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isDisrupted, isEphemeralTaint, type Taint, untoleratedTaint } from '../model/taint.ts';

/** Taints of the control plane say how a node fares, or that somebody drains it. */
const OF_THE_CONTROL_PLANE = /^node(\.cloudprovider)?\.kubernetes\.io\//;

/**
 * Agents put such taints on a node that has just come, and take them off when they are at work:
 * those of Cilium, of the EBS and EFS drivers and of others end like this.
 */
const PASSING = /(not-?ready|uninitiali[sz]ed|initiali[sz]ing|startup)$/i;

/**
 * The first taint with which a node has joined and that its claim does not know: what was planned
 * for the node does not run there, and does not on the next one either. One that all its pods
 * tolerate was meant by somebody.
 */
export function unplannedTaint(
  { taints: planned, startupTaints }: Pick<NodeClaim, 'taints' | 'startupTaints'>,
  node: Pick<Node, 'taints'>,
  pods: readonly Pick<Pod, 'spec'>[],
): Taint | undefined {
  if (isDisrupted(node)) return undefined;
  const known = [...planned, ...startupTaints];
  const others = node.taints.filter(
    (each) =>
      !isEphemeralTaint(each) &&
      !OF_THE_CONTROL_PLANE.test(each.key) &&
      !PASSING.test(each.key) &&
      !known.some(({ key, effect }) => key === each.key && effect === each.effect),
  );
  if (pods.length === 0) return untoleratedTaint([], others);
  for (const { spec } of pods) {
    const found = untoleratedTaint(spec.tolerations, others);
    if (found !== undefined) return found;
  }
  return undefined;
}
