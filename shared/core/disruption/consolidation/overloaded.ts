import type { Reason } from '../../explain/reason.ts';
import { allocatable } from '../../instance-types/allocatable.ts';
import { missing } from '../../missing.ts';
import type { PlannedNodeClaim } from '../../model/plan.ts';
import { type Pod, podKey } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { addResources, type Resources, subtractResources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { podIndexOf } from '../../scheduling/problem/pod-index.ts';
import { stateNodes } from '../../scheduling/problem/state-node.ts';
import type { Places } from '../simulation.ts';
import { overLimits } from './limits-guard.ts';
import { type MeteredUsage, type Occupied, overUsage } from './usage-guard.ts';

/** What pods may use of the node that the plan launches. */
function roomOf(
  { instanceTypes }: ClusterSnapshot,
  { nodePool, chosen }: PlannedNodeClaim,
): Resources {
  const types = instanceTypes.get(nodePool) ?? missing(nodePool);
  const type = types.find(({ name }) => name === chosen.type) ?? missing(chosen.type);
  const offering = type.offerings.find(
    ({ zone, capacityType }) => zone === chosen.zone && capacityType === chosen.capacityType,
  );
  return allocatable(type, offering ?? missing(chosen.zone));
}

/** What the DaemonSets request that will run on a planned node beside its pods. */
function daemonsOf({ requests }: PlannedNodeClaim, pods: readonly Pod[]): Resources {
  const own = pods.map(({ spec }) => spec.requests).reduce<Resources>(addResources, {});
  return subtractResources(requests, own);
}

/** The cluster without the nodes that would go, and what pods use where anybody has asked. */
export interface Bearing {
  readonly snapshot: ClusterSnapshot;
  readonly usage: MeteredUsage | undefined;
}

/** By NodePool and guard the first of the nodes that take pods in and could not bear them. */
export function overloaded(
  { snapshot, usage }: Bearing,
  places: Places,
  replacements: readonly PlannedNodeClaim[],
): readonly Reason[] {
  const pools = new Map<string | undefined, NodePool>(
    snapshot.nodePools.map((pool) => [pool.name, pool]),
  );
  const byKey = new Map(snapshot.pods.map((pod) => [podKey(pod), pod]));
  const podsOf = (keys: readonly string[]) => keys.map((key) => byKey.get(key) ?? missing(key));
  const { onNodes } = podIndexOf(snapshot.pods);
  const taken = Map.groupBy(places.keys(), (pod) => places.get(pod));
  const found = new Map<string, Reason>();
  const note = (pool: NodePool, occupied: Occupied): void => {
    const reasons = {
      limits: overLimits(pool, occupied.node, occupied.allocatable, occupied.pods),
      usage: overUsage(pool, occupied, usage),
    };
    for (const [guard, why] of Object.entries(reasons)) {
      const key = `${pool.name} ${guard}`;
      if (why !== undefined && !found.has(key)) found.set(key, why);
    }
  };
  for (const { name, nodePool, allocatable: room } of stateNodes(snapshot)) {
    const [pool, coming] = [pools.get(nodePool), taken.get(name)];
    if (pool === undefined || coming === undefined) continue;
    const pods = [...(onNodes.get(name) ?? []), ...podsOf(coming)];
    note(pool, { node: name, allocatable: room, pods });
  }
  for (const each of replacements) {
    const pool = pools.get(each.nodePool) ?? missing(each.nodePool);
    const pods = podsOf(each.pods);
    const [node, room] = [`a new ${each.chosen.type}`, roomOf(snapshot, each)];
    note(pool, { node, allocatable: room, pods, daemons: daemonsOf(each, pods) });
  }
  return [...found.values()];
}
