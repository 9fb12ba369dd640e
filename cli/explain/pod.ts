import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { type Reason, sentences } from '../../shared/core/explain/reason.ts';
import { podsOnNode } from '../../shared/core/model/joins.ts';
import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import {
  type NodeObstacle,
  nodeObstacles,
} from '../../shared/core/scheduling/plan/node-obstacles.ts';
import { type LaunchOptions, Reasons } from '../../shared/core/scheduling/plan/reasons.ts';
import { unplaced } from '../../shared/core/scheduling/solve.ts';
import type { ClusterState } from '../../shared/ports.ts';
import type { Preview } from '../../shared/preview/preview.ts';
import type { NodeRow } from '../top/rows.ts';

/** The node that kube-scheduler has bound a pod to. */
export interface BoundPlace {
  readonly node: string;
  readonly isGone: boolean;
  /** Undefined: the node is gone, or of manifests. */
  readonly row: NodeRow | undefined;
  /** Undefined: not known, as the node is somebody else's or the pod is older than its record. */
  readonly because: string | undefined;
  /** Running beside it, without DaemonSets' pods. */
  readonly otherPods: readonly string[];
}

/** Where a pod is, or would go. */
export type Place =
  | ({ readonly kind: 'bound' } & BoundPlace)
  /** On a node, or a NodeClaim on its way, that is there. */
  | { readonly kind: 'existing'; readonly node: string }
  | {
      readonly kind: 'new';
      readonly nodePool: string;
      readonly chosen: PlannedNodeClaim['chosen'];
      readonly runnerUp: PlannedNodeClaim['runnerUp'];
      readonly overlays: readonly string[];
      /** Types that would hold all its pods, cheapest first. */
      readonly instanceTypes: readonly string[];
      /** On the same node. */
      readonly otherPods: readonly string[];
    }
  /** It stays as it is: pending, over, or none of ours to place. */
  | { readonly kind: 'none'; readonly why: string; readonly reasons?: readonly Reason[] };

/** The cluster around a pod, and its nodes as `joiner top` shows them. */
export interface Surroundings {
  readonly state: {
    readonly objects: Pick<ClusterState['objects'], 'nodeClaims' | 'nodes' | 'pods'>;
  };
  readonly rows: readonly NodeRow[];
}

export interface PodExplanation {
  readonly pod: string;
  readonly phase: string;
  readonly place: Place;
  /** What a node of its own could be, by NodePool, with what took types away. */
  readonly options: readonly LaunchOptions[];
  readonly existing: ExistingNodes;
}

/** Nodes that are there, for a pod that has none. */
export interface ExistingNodes {
  readonly nodes: number;
  /** What keeps it from them; a node may have several. */
  readonly obstacles: readonly NodeObstacle[];
}

/** What there is for a pod. */
export type Choice = Pick<PodExplanation, 'options' | 'existing'>;

/** What Joiner had to do with it: kube-scheduler chose the node. */
function becauseOf(pod: Pod, claim: NodeClaim | undefined): string | undefined {
  if (claim === undefined || pod.createdAtMs === 0 || claim.createdAtMs === 0) return undefined;
  return pod.createdAtMs <= claim.createdAtMs
    ? 'the node was launched while it waited'
    : 'the node was there, with room for it: nothing was launched';
}

function boundPlace(pod: Pod, node: string, { state, rows }: Surroundings): Place {
  const row = rows.find((each) => each.node === node);
  const { nodeClaims, nodes, pods } = state.objects;
  const isGone = nodes.every(({ name }) => name !== node);
  const claim = nodeClaims.find(({ name }) => name === row?.nodeClaim);
  const otherPods = podsOnNode(pods, node)
    .filter((each) => each !== pod && isReschedulable(each))
    .map(podKey)
    .sort();
  return { kind: 'bound', node, isGone, row, because: becauseOf(pod, claim), otherPods };
}

/** Where the pod is, or would go by the plan. */
export function placeOf(pod: Pod, { plan }: Pick<Preview, 'plan'>, around: Surroundings): Place {
  const key = podKey(pod);
  if (pod.nodeName !== undefined) return boundPlace(pod, pod.nodeName, around);
  if (pod.deletedAtMs !== undefined) return { kind: 'none', why: 'it is being deleted' };
  const existing = plan.existing.find(({ pods }) => pods.includes(key));
  if (existing !== undefined) return { kind: 'existing', node: existing.node };
  const planned = plan.newNodeClaims.find(({ pods }) => pods.includes(key));
  if (planned !== undefined) {
    const { nodePool, chosen, runnerUp, overlays, instanceTypes, pods } = planned;
    const otherPods = pods.filter((each) => each !== key);
    return { kind: 'new', nodePool, chosen, runnerUp, overlays, instanceTypes, otherPods };
  }
  const ignored = plan.ignored.get(key);
  const reasons = plan.unplaced.get(key)?.reasons ?? (ignored && [ignored]);
  if (reasons !== undefined) return { kind: 'none', why: sentences(reasons), reasons };
  return { kind: 'none', why: 'kube-scheduler has not marked the pod unschedulable yet' };
}

/** What is planned, and by what. */
export interface Planning {
  readonly snapshot: ClusterSnapshot;
  readonly settings: SchedulingSettings;
}

/** As if it were the only pod that waits, whatever it is doing now. */
export function choiceOf(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  pod: Pod,
): Choice {
  const waiting: Pod = {
    ...pod,
    nodeName: undefined,
    nominatedNodeName: undefined,
    phase: 'Pending',
    unschedulable: true,
    deletedAtMs: undefined,
  };
  const others = snapshot.pods.filter(
    (each) => podKey(each) !== podKey(pod) && each.nodeName !== undefined,
  );
  const alone = { ...snapshot, pods: [...others, waiting] };
  const world = unplaced(alone, settings);
  const own = world.context.problem.classes.find(({ pods }) => pods.includes(waiting));
  const nodes = world.existingNodes.length;
  if (own === undefined) return { options: [], existing: { nodes, obstacles: [] } };
  return {
    options: new Reasons(world, alone).options(own),
    existing: { nodes, obstacles: nodeObstacles(world, own) },
  };
}

/** Why the pod is, or would be, where it is, and what was there to choose from. */
export function explainPod(
  pod: Pod,
  found: Pick<Preview, 'plan'>,
  around: Surroundings,
  planning: Planning,
): PodExplanation {
  return {
    pod: podKey(pod),
    phase: pod.phase,
    place: placeOf(pod, found, around),
    ...choiceOf(planning.snapshot, planning.settings, pod),
  };
}
