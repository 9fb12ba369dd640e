import type { Node } from '../model/cluster.ts';
import type { Labels } from '../model/labels.ts';
import { dependsOnOtherPods, type Pod, type PodSpec } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { fitsResources, type Resources, subtractResources } from '../model/resources.ts';
import { type Taint, untoleratedTaint } from '../model/taint.ts';
import {
  NODE_NAME_FIELD,
  type NodeTerms,
  nodeTermsOf,
  termsAllow,
} from '../scheduling/problem/node-terms.ts';

/** Claims made within so long of one another were launched for the same pods, or nearly. */
const WAVE_MS = 30_000;

/** A claim whose node takes no pods yet. */
export interface ClosedClaim {
  readonly claim: NodeClaim;
  /** Its node, where it could be opened now; undefined: it has not joined, or is not ready. */
  readonly node: Node | undefined;
  /** What the node's taints will be once it is open. */
  readonly taints: readonly Taint[];
  /** Pods that were planned for it, or are nominated to its node, and have none. */
  readonly planned: readonly Pod[];
  /** Pods on the node: those of DaemonSets, which tolerate that it is closed. */
  readonly bound: readonly Pod[];
}

/** What the node has left beside the pods that are on it and those of `planned`. */
function roomBeside(
  { allocatable }: Node,
  { bound }: ClosedClaim,
  planned: readonly Pod[],
): Resources {
  return [...planned, ...bound].reduce(
    (room, { spec }) => subtractResources(room, spec.requests),
    allocatable,
  );
}

/**
 * The specs of pods planned elsewhere that the node should not open without: those that are drawn
 * by other pods and fit beside its own, and those that would take the place of some of its own,
 * because kube-scheduler keeps room for nominated pods from those of the same priority or a lower
 * one only.
 */
function takenBy(
  closed: ClosedClaim,
  node: Node,
  specs: ReadonlyMap<PodSpec, NodeTerms>,
): ReadonlySet<PodSpec> {
  const taken = new Set<PodSpec>();
  const { taints, planned } = closed;
  const spare = roomBeside(node, closed, planned);
  const least = Math.min(...planned.map(({ spec }) => spec.priority));
  const own: Labels = { ...closed.claim.labels, ...node.labels, [NODE_NAME_FIELD]: node.name };
  const isTaken = (spec: PodSpec) => {
    if (fitsResources(spec.requests, spare)) return dependsOnOtherPods(spec);
    if (spec.priority <= least) return false;
    const kept = planned.filter((pod) => pod.spec.priority >= spec.priority);
    return fitsResources(spec.requests, roomBeside(node, closed, kept));
  };
  for (const [spec, terms] of specs) {
    if (!isTaken(spec)) continue;
    if (untoleratedTaint(spec.tolerations, taints) !== undefined) continue;
    if (termsAllow(terms, (key) => own[key])) taken.add(spec);
  }
  return taken;
}

interface Expectation {
  readonly claim: NodeClaim;
  readonly specs: ReadonlySet<PodSpec>;
}

function isOfOneWave(a: NodeClaim, b: NodeClaim): boolean {
  return Math.abs(a.createdAtMs - b.createdAtMs) <= WAVE_MS;
}

/**
 * The claims whose nodes have to wait for others, each with one that it waits for. A node with room
 * to spare opens only with those on which pods are planned that are drawn by others and would take
 * that room: the rest of their group would have to follow them, and find none. A node opens also
 * only with those of pods of a higher priority that would take the place of its own. Each waits for
 * what those that it waits for wait for.
 */
export function awaitedNodes(closed: readonly ClosedClaim[]): ReadonlyMap<NodeClaim, NodeClaim> {
  const inOrder = closed.toSorted((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
  const expected = inOrder.map(
    ({ claim, planned }): Expectation => ({
      claim,
      specs: new Set(planned.map(({ spec }) => spec)),
    }),
  );
  const all = new Set(expected.flatMap((each) => [...each.specs]));
  const specs = new Map([...all].map((spec) => [spec, nodeTermsOf(spec)]));
  const opening = new Map(
    inOrder.flatMap((each) => {
      const { claim, node } = each;
      return node === undefined ? [] : [[claim, takenBy(each, node, specs)] as const];
    }),
  );
  const awaited = new Map<NodeClaim, NodeClaim>();
  for (let count = -1; count !== opening.size; ) {
    count = opening.size;
    for (const [claim, taken] of opening) {
      const other = expected.find(
        (each) =>
          !opening.has(each.claim) &&
          isOfOneWave(each.claim, claim) &&
          [...each.specs].some((spec) => taken.has(spec)),
      );
      if (other === undefined) continue;
      opening.delete(claim);
      awaited.set(claim, other.claim);
    }
  }
  return awaited;
}
