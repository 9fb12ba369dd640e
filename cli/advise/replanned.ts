import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { withAllWaiting } from '../../shared/core/disruption/simulation.ts';
import { isOurs } from '../../shared/core/launch/node-classes.ts';
import type { InstanceType, Offering } from '../../shared/core/model/instance-type.ts';
import { claimsByProviderId } from '../../shared/core/model/joins.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { Plan, PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { type Pod, type PodSpec, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { type Side, savedBy, sideOf, USD_PER_MONTH_MIN } from './advice.ts';

/** The pod as one that waits for a node. */
function waiting(pod: Pod): Pod {
  const place = { nodeName: undefined, nominatedNodeName: undefined };
  return { ...pod, ...place, phase: 'Pending', unschedulable: true };
}

/**
 * The cluster without the nodes of NodePools that follow the pods: those pods wait. Static
 * NodePools' nodes and those of others stay, with the pods on them.
 */
export function withoutNodes(snapshot: ClusterSnapshot): ClusterSnapshot {
  const dynamic = new Set(
    snapshot.nodePools.filter(({ replicas }) => replicas === undefined).map(({ name }) => name),
  );
  const goes = ({ nodeClassRef, labels }: NodeClaim): boolean =>
    isOurs(nodeClassRef) && dynamic.has(labels[NODE_POOL] ?? '');
  const claims = claimsByProviderId(snapshot.nodeClaims);
  const gone = new Set(
    snapshot.nodes
      .filter(({ providerId }) => {
        const claim = providerId === undefined ? undefined : claims.get(providerId);
        return claim !== undefined && goes(claim);
      })
      .map(({ name }) => name),
  );
  const pods = snapshot.pods.flatMap((pod): readonly Pod[] => {
    if (!gone.has(pod.nodeName ?? '')) return [pod];
    return isReschedulable(pod) ? [waiting(pod)] : [];
  });
  return withAllWaiting({
    ...snapshot,
    pods,
    nodes: snapshot.nodes.filter(({ name }) => !gone.has(name)),
    nodeClaims: snapshot.nodeClaims.filter((claim) => !goes(claim)),
  });
}

function isShort({ available, reservation }: Offering): boolean {
  return !available && reservation === undefined;
}

/**
 * The snapshot without bars of shortages, and how many there were: they pass within minutes, and
 * amounts are of a month. A reservation without free instances stays as it is.
 */
export function withoutShortages(snapshot: ClusterSnapshot): {
  readonly snapshot: ClusterSnapshot;
  readonly lifted: number;
} {
  const lifted = new Set<string>();
  const made = new Map<InstanceType, InstanceType>();
  const open = (type: InstanceType): InstanceType => {
    const short = type.offerings.filter(isShort);
    for (const { zone, capacityType } of short) lifted.add(`${type.name} ${zone} ${capacityType}`);
    if (short.length === 0) return type;
    const opened = made.get(type) ?? {
      ...type,
      offerings: type.offerings.map((each) =>
        isShort(each) ? { ...each, available: true } : each,
      ),
    };
    made.set(type, opened);
    return opened;
  };
  const lists = new Map<readonly InstanceType[], readonly InstanceType[]>();
  const types = [...snapshot.instanceTypes].map(([pool, list]) => {
    const opened = lists.get(list) ?? list.map(open);
    lists.set(list, opened);
    return [pool, opened] as const;
  });
  return { snapshot: { ...snapshot, instanceTypes: new Map(types) }, lifted: lifted.size };
}

/** The snapshot with another NodePool of that name. */
export function withPool(
  snapshot: ClusterSnapshot,
  name: string,
  change: (pool: NodePool) => NodePool,
): ClusterSnapshot {
  const nodePools = snapshot.nodePools.map((each) => (each.name === name ? change(each) : each));
  return { ...snapshot, nodePools };
}

/** The snapshot with other specs of these pods; pods that share a spec share the new one. */
export function withSpecs(
  snapshot: ClusterSnapshot,
  keys: ReadonlySet<string>,
  change: (spec: PodSpec) => PodSpec,
): ClusterSnapshot {
  const made = new Map<PodSpec, PodSpec>();
  const changed = (spec: PodSpec): PodSpec => {
    const known = made.get(spec) ?? change(spec);
    made.set(spec, known);
    return known;
  };
  const pods = snapshot.pods.map((pod) =>
    keys.has(podKey(pod)) ? { ...pod, spec: changed(pod.spec) } : pod,
  );
  return { ...snapshot, pods };
}

/** What a change makes of a plan. */
export interface Changed {
  readonly before: Side;
  readonly after: Side;
  readonly usdPerMonth: number;
  /** New nodes with the change. */
  readonly claims: readonly PlannedNodeClaim[];
}

function isSameLeft(a: Plan['unplaced'], b: Plan['unplaced']): boolean {
  return a.size === b.size && [...a.keys()].every((pod) => b.has(pod));
}

/** Plans all pods on none of Joiner's nodes, with and without changes. */
export class Replanned {
  readonly snapshot: ClusterSnapshot;
  readonly plan: Plan;
  private readonly scheduling: SchedulingSettings;

  constructor(snapshot: ClusterSnapshot, scheduling: SchedulingSettings) {
    this.snapshot = withoutNodes(snapshot);
    this.scheduling = scheduling;
    this.plan = replan(this.snapshot, scheduling);
  }

  /** Undefined: the change saves nothing that is worth an advice, or places other pods. */
  saving(change: (snapshot: ClusterSnapshot) => ClusterSnapshot): Changed | undefined {
    const plan = replan(change(this.snapshot), this.scheduling);
    const [before, after] = [sideOf(this.plan), sideOf(plan)];
    const usdPerMonth = savedBy(before, after);
    if (usdPerMonth < USD_PER_MONTH_MIN) return undefined;
    if (!isSameLeft(this.plan.unplaced, plan.unplaced)) return undefined;
    return { before, after, usdPerMonth, claims: plan.newNodeClaims };
  }
}
