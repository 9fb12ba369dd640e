import { allocatable } from '../../core/instance-types/allocatable.ts';
import { launchedLabels } from '../../core/launch/launch-request.ts';
import { nodePoolHashAnnotations } from '../../core/launch/template-hash.ts';
import { TERMINATION_FINALIZER } from '../../core/lifecycle/actions.ts';
import { launchPlanOf, launchPlanText } from '../../core/model/annotations/launch-plan.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import { DECISION, LIMIT_GROUP, PLAN, PLANNED_PODS } from '../../core/model/labels.ts';
import type { PlannedNodeClaim } from '../../core/model/plan.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import { amountOf, maxResources, type Resources } from '../../core/model/resources.ts';
import { plannedPodsText } from '../../core/nomination/planned-pods.ts';
import { poolLabels } from '../../core/scheduling/problem/launch-space.ts';
import type { NewNodeClaim } from '../../ports.ts';

/** Its nodes count against the caps of the group also once the NodePool is gone. */
function groupOf({ annotations }: NodePool): Readonly<Record<string, string>> {
  const group = annotations[LIMIT_GROUP];
  return group === undefined ? {} : { [LIMIT_GROUP]: group };
}

function baseClaim(pool: NodePool, name: string): NewNodeClaim {
  const { template } = pool;
  return {
    name,
    labels: poolLabels(pool),
    annotations: { ...template.annotations, ...nodePoolHashAnnotations(pool), ...groupOf(pool) },
    finalizers: [TERMINATION_FINALIZER],
    nodePool: { name: pool.name, uid: pool.uid },
    requirements: template.requirements,
    requests: {},
    taints: template.taints,
    startupTaints: template.startupTaints,
    nodeClassRef: template.nodeClassRef,
    expireAfter: template.expireAfter,
    terminationGracePeriodMs: template.terminationGracePeriodMs,
  };
}

/** The claim as the cluster has it once it is written, before anything has come of it. */
export function asWritten(wanted: NewNodeClaim, uid: string, createdAtMs: number): NodeClaim {
  const { nodePool: _, ...spec } = wanted;
  return {
    ...spec,
    uid,
    createdAtMs,
    deletedAtMs: undefined,
    nodeName: undefined,
    providerId: undefined,
    imageId: undefined,
    capacity: {},
    allocatable: {},
    conditions: [],
  };
}

/** A claim of a static pool: the template alone says what it may be. */
export function staticClaim(pool: NodePool, name: string): NewNodeClaim {
  return baseClaim(pool, name);
}

/** The most of each limited resource that any of the claim's types takes. */
function mostOfLimited(
  { limits }: NodePool,
  planned: PlannedNodeClaim,
  types: readonly InstanceType[],
): Resources {
  const listed = new Set(planned.instanceTypes);
  const capacities = types.filter(({ name }) => listed.has(name)).map(({ capacity }) => capacity);
  const names = Object.keys(limits).filter((name) => name !== 'nodes');
  return Object.fromEntries(
    names.map((name) => [name, Math.max(0, ...capacities.map((each) => amountOf(each, name)))]),
  );
}

/**
 * What the next snapshot counts the claim as, until it is launched: of what the pool limits as much
 * as the largest of its types would take.
 */
function planText(
  { chosen, runnerUp }: PlannedNodeClaim,
  types: readonly InstanceType[],
  limited: Resources,
): string {
  const type = types.find((each) => each.name === chosen.type);
  const offering = type?.offerings.find(
    (each) =>
      each.zone === chosen.zone &&
      each.capacityType === chosen.capacityType &&
      each.reservation?.id === chosen.reservationId,
  );
  const amounts =
    type === undefined || offering === undefined
      ? undefined
      : {
          allocatable: allocatable(type, offering),
          capacity: maxResources(type.capacity, limited),
        };
  return launchPlanText({ ...chosen, runnerUp, amounts });
}

/** The offering that the claim's plan chose, as its annotation says. */
function plannedOffering(claim: NodeClaim, types: readonly InstanceType[]) {
  const plan = launchPlanOf(claim);
  if (plan === undefined) return undefined;
  const { reservationId } = plan;
  const type = types.find(({ name }) => name === plan.type);
  const offering = type?.offerings.find(
    (each) =>
      each.zone === plan.zone &&
      each.capacityType === plan.capacityType &&
      (reservationId === undefined || each.reservation?.id === reservationId),
  );
  return type === undefined || offering === undefined ? undefined : { type, offering };
}

/**
 * A claim that is not launched yet, with the labels that its node will have if the plan's choice
 * can be had: else pods that are meant for it, and ask for one of them, would seem to need another.
 */
export function withPlannedLabels(
  claim: NodeClaim,
  types: readonly InstanceType[],
  region: string,
): NodeClaim {
  if (claim.providerId !== undefined || claim.deletedAtMs !== undefined) return claim;
  const planned = plannedOffering(claim, types);
  if (planned === undefined) return claim;
  return { ...claim, labels: launchedLabels(claim, planned, region) };
}

/**
 * A planned claim as it is written, before anything is launched for it. `podUids` are those that
 * wait for its node; one that still runs elsewhere comes back as another pod.
 */
export function plannedClaim(
  planned: PlannedNodeClaim,
  pool: NodePool,
  types: readonly InstanceType[],
  name: string,
  podUids: readonly string[],
): NewNodeClaim {
  const base = baseClaim(pool, name);
  const plannedFor = plannedPodsText(podUids);
  return {
    ...base,
    labels: { ...planned.labels, ...base.labels },
    annotations: {
      ...base.annotations,
      ...planned.annotations,
      [PLAN]: planText(planned, types, mostOfLimited(pool, planned, types)),
      [DECISION]: `provision-${name}`,
      ...(plannedFor === undefined ? {} : { [PLANNED_PODS]: plannedFor }),
    },
    requirements: planned.requirements,
    requests: planned.requests,
    taints: planned.taints,
  };
}
