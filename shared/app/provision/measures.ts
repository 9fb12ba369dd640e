import { mostOf } from '../../core/extremes.ts';
import { offeringOfClaim } from '../../core/model/claim-offering.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { Plan } from '../../core/model/plan.ts';
import { isOver, podKey } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import type { ShortMetricName } from '../../ports.ts';

/** Levels by the names that a recorder knows, each as it is at one moment. */
export type Measures = readonly (readonly [ShortMetricName, number])[];

/** What a round of `provision` has seen and decided. */
export interface Round {
  readonly snapshot: ClusterSnapshot;
  readonly plan: Plan;
  /** Pods of CapacityBuffers, which wait for nothing. */
  readonly virtual: ReadonlySet<string>;
  readonly typesOf: (claim: NodeClaim) => readonly InstanceType[];
  readonly nowMs: number;
}

/** The state of the cluster as the dashboard and the alarms ask for it. */
export function measuresOf(round: Round): Measures {
  const { snapshot } = round;
  const waitingMs = waitsMs(round);
  const used = usage(snapshot);
  const measures: (readonly [ShortMetricName, number | undefined])[] = [
    ['scheduler_unschedulable_pods_count', waitingMs.length],
    ['pods_provisioning_unbound_time_seconds', Math.max(0, mostOf(waitingMs)) / 1000],
    ['cluster_state_node_count', snapshot.nodes.length],
    ['cluster_utilization_percent_cpu', used.cpu],
    ['cluster_utilization_percent_memory', used.memory],
    ['nodepools_cost_total', costPerHour(round)],
    ['unavailable_offerings', unavailable(snapshot)],
  ];
  return measures.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/**
 * How long each pod has waited that the plan places, or cannot place. Pods of nodes that are
 * drained are planned too, but run: their age is no wait.
 */
function waitsMs({ snapshot, plan, virtual, nowMs }: Round): readonly number[] {
  const waiting = new Set([
    ...plan.newNodeClaims.flatMap(({ pods }) => pods),
    ...plan.existing.flatMap(({ pods }) => pods),
    ...plan.unplaced.keys(),
  ]);
  return snapshot.pods
    .filter((pod) => pod.nodeName === undefined && waiting.has(podKey(pod)))
    .filter((pod) => !virtual.has(podKey(pod)))
    .map((pod) => Math.max(0, nowMs - pod.createdAtMs));
}

/** Requests of the pods on nodes, in percent of what the nodes have; undefined without nodes. */
function usage({ nodes, pods }: ClusterSnapshot): {
  readonly cpu: number | undefined;
  readonly memory: number | undefined;
} {
  const isOnNode = new Set(nodes.map(({ name }) => name));
  const running = pods.filter(
    (pod) => pod.nodeName !== undefined && isOnNode.has(pod.nodeName) && !isOver(pod),
  );
  const percent = (name: string): number | undefined => {
    const had = nodes.reduce((sum, { allocatable }) => sum + (allocatable[name] ?? 0), 0);
    const used = running.reduce((sum, { spec }) => sum + (spec.requests[name] ?? 0), 0);
    return had === 0 ? undefined : (100 * used) / had;
  };
  return { cpu: percent('cpu'), memory: percent('memory') };
}

/** USD of all claims that have an instance; one whose type is not sold any more counts nothing. */
function costPerHour(round: Round): number {
  return [...costByPool(round).values()].reduce((sum, price) => sum + price, 0);
}

/** USD an hour by NodePool, of all NodePools that there are. */
export function costByPool({
  snapshot,
  typesOf,
}: Pick<Round, 'snapshot' | 'typesOf'>): ReadonlyMap<string, number> {
  const costs = new Map(snapshot.nodePools.map(({ name }) => [name, 0]));
  for (const claim of snapshot.nodeClaims) {
    if (claim.providerId === undefined) continue;
    const pool = claim.labels[NODE_POOL] ?? '';
    const price = offeringOfClaim(claim, typesOf(claim))?.price ?? 0;
    costs.set(pool, (costs.get(pool) ?? 0) + price);
  }
  return costs;
}

/** Offerings that some pool may use and that a shortage bars now, each once. */
function unavailable({ instanceTypes }: ClusterSnapshot): number {
  const barred = new Set<string>();
  for (const { name, offerings } of [...instanceTypes.values()].flat()) {
    for (const { zone, capacityType, available } of offerings) {
      if (!available) barred.add(`${name}/${zone}/${capacityType}`);
    }
  }
  return barred.size;
}
