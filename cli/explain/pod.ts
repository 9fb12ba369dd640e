import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { type LaunchOptions, Reasons } from '../../shared/core/scheduling/plan/reasons.ts';
import { unplaced } from '../../shared/core/scheduling/solve.ts';
import type { Preview } from '../plan/preview.ts';

/** Where a pod is, or would go. */
export type Place =
  | { readonly kind: 'bound'; readonly node: string }
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
  | { readonly kind: 'none'; readonly why: string };

export interface PodExplanation {
  readonly pod: string;
  readonly phase: string;
  readonly place: Place;
  /** What a node of its own could be, by NodePool, with what took types away. */
  readonly options: readonly LaunchOptions[];
}

function placeOf(pod: Pod, { plan }: Pick<Preview, 'plan'>): Place {
  const key = podKey(pod);
  if (pod.nodeName !== undefined) return { kind: 'bound', node: pod.nodeName };
  if (pod.deletedAtMs !== undefined) return { kind: 'none', why: 'it is being deleted' };
  const existing = plan.existing.find(({ pods }) => pods.includes(key));
  if (existing !== undefined) return { kind: 'existing', node: existing.node };
  const planned = plan.newNodeClaims.find(({ pods }) => pods.includes(key));
  if (planned !== undefined) {
    const { nodePool, chosen, runnerUp, overlays, instanceTypes, pods } = planned;
    const otherPods = pods.filter((each) => each !== key);
    return { kind: 'new', nodePool, chosen, runnerUp, overlays, instanceTypes, otherPods };
  }
  const why = plan.unplaced.get(key)?.message ?? plan.ignored.get(key);
  return { kind: 'none', why: why ?? 'kube-scheduler has not said yet that it finds no node' };
}

/** As if it were the only pod that waits, whatever it is doing now. */
function optionsOf(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  pod: Pod,
): readonly LaunchOptions[] {
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
  const sizes = snapshot.nodePools.map((pool) => ({
    pool,
    types: snapshot.instanceTypes.get(pool.name)?.length ?? 0,
  }));
  const own = world.ground.problem.classes.find(({ pods }) => pods.includes(waiting));
  return own === undefined ? [] : new Reasons(world, sizes).options(own);
}

/** Why the pod is, or would be, where it is, and what was there to choose from. */
export function explainPod(
  pod: Pod,
  found: Pick<Preview, 'plan'>,
  planning: { readonly snapshot: ClusterSnapshot; readonly settings: SchedulingSettings },
): PodExplanation {
  return {
    pod: podKey(pod),
    phase: pod.phase,
    place: placeOf(pod, found),
    options: optionsOf(planning.snapshot, planning.settings, pod),
  };
}
