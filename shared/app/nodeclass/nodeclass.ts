import { canonicalText } from '../../core/launch/canonical-text.ts';
import { nodeClassProblems } from '../../core/launch/node-class-problems.ts';
import { NODE_CLASS_GROUP, NODE_CLASS_KIND } from '../../core/launch/node-classes.ts';
import { HASH_VERSION, nodeClassHash } from '../../core/launch/template-hash.ts';
import {
  type ConditionClaim,
  isTrue,
  readiness,
  sameConditions,
  withConditions,
} from '../../core/lifecycle/conditions.ts';
import { NODE_CLASS_HASH, NODE_CLASS_HASH_VERSION } from '../../core/model/labels.ts';
import type {
  CapacityReservation,
  NodeClass,
  NodeClassStatus,
} from '../../core/model/node-class.ts';
import { type ClusterState, isTransient, PortError, type Ports } from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { publishNewlyFalse } from '../writes/condition-changes.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { classRef } from '../writes/references.ts';

const FINALIZER = 'karpenter.k8s.aws/termination';
const REQUIRED = [
  'AMIsReady',
  'CapacityReservationsReady',
  'InstanceProfileReady',
  'PlacementGroupReady',
  'SecurityGroupsReady',
  'SubnetsReady',
  'ValidationSucceeded',
];

function yes(type: string): ConditionClaim {
  return { type, status: 'True', reason: type, message: '' };
}

function no(type: string, reason: string, message: string): ConditionClaim {
  return { type, status: 'False', reason, message };
}

/** AWS could not be asked, and nothing is known from before: it is asked again soon. */
function unknown(type: string, message: string): ConditionClaim {
  return { type, status: 'Unknown', reason: 'ResolutionPending', message };
}

/** What a resolution step found, or what the class says of it. */
interface Resolved<Value> {
  readonly value: Value;
  /** Undefined: the value is what the condition goes by. */
  readonly failed: ConditionClaim | undefined;
}

/** A class being looked after, and what went wrong so far. */
interface Refreshing {
  readonly ports: Ports;
  /** Asked before each write: AWS takes seconds to answer what leads up to it. */
  readonly nodeClass: NodeClass;
  readonly failures: Failure[];
  /** What passes by itself stood in the way: the class is to be looked at again soon. */
  readonly onTransient: () => void;
}

/** The stack's prop that allows what a class names, by condition. */
const ALLOWED_BY: Readonly<Record<string, string>> = {
  AMIsReady: '. A parameter other than AWS’s own has to be in the prop imageParameters',
  InstanceProfileReady: '. The role has to be the stack’s own, nodeRole or one of nodeRoles',
};

/**
 * One resolution step. Where AWS cannot be asked for a while, what was found before still counts:
 * a moment of throttling must not stop the NodePools of the class.
 */
async function resolution<Value>(
  { nodeClass, failures, onTransient }: Refreshing,
  work: () => Promise<Value>,
  fallback: Value,
  type: string,
): Promise<Resolved<Value>> {
  try {
    return { value: await work(), failed: undefined };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const message = `${error.code}: ${error.message}`;
    if (error.isTransient) {
      onTransient();
      failures.push({ object: `EC2NodeClass/${nodeClass.name}`, message });
      const isKnown = isTrue(nodeClass.status, type);
      return { value: fallback, failed: isKnown ? undefined : unknown(type, message) };
    }
    const reason = error.kind === 'unauthorised' ? 'Unauthorised' : 'ResolutionFailed';
    const hint = error.kind === 'unauthorised' ? (ALLOWED_BY[type] ?? '') : '';
    return { value: fallback, failed: no(type, reason, `${message}${hint}`) };
  }
}

/**
 * Whether the class asks for what there is, and the catalog can make instance types of it. Where
 * AWS cannot be asked, what was found before counts here too.
 */
async function validation(
  { ports, failures, onTransient }: Refreshing,
  nodeClass: NodeClass,
): Promise<ConditionClaim> {
  const type = 'ValidationSucceeded';
  const [problem] = nodeClassProblems(nodeClass);
  if (problem !== undefined) return no(type, problem.reason, problem.message);
  try {
    await ports.catalog.instanceTypes(nodeClass);
    await ports.compute.check?.(nodeClass);
    return yes(type);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (!error.isTransient) return no(type, error.code, error.message);
    onTransient();
    const message = `${error.code}: ${error.message}`;
    failures.push({ object: `EC2NodeClass/${nodeClass.name}`, message });
    return isTrue(nodeClass.status, type) ? yes(type) : unknown(type, message);
  }
}

/** What the class's selectors mean now, step by step. */
async function resolveAll(refreshing: Refreshing) {
  const { ports, nodeClass } = refreshing;
  const { status, capacityReservationSelectorTerms: terms } = nodeClass;
  const step = <Value>(type: string, work: () => Promise<Value>, fallback: Value) =>
    resolution(refreshing, work, fallback, type);
  const subnets = await step(
    'SubnetsReady',
    () => ports.network.subnets(nodeClass.subnetSelectorTerms),
    status.subnets,
  );
  const groups = await step(
    'SecurityGroupsReady',
    () => ports.network.securityGroups(nodeClass.securityGroupSelectorTerms),
    status.securityGroups,
  );
  const images = await step('AMIsReady', () => ports.images.resolve(nodeClass), status.images);
  const none: readonly CapacityReservation[] = [];
  const reservations = await step(
    'CapacityReservationsReady',
    async () => (terms.length === 0 ? none : await ports.network.reservations(terms)),
    status.capacityReservations,
  );
  const profile = await step(
    'InstanceProfileReady',
    () => ports.profiles.ensure(nodeClass),
    status.instanceProfile,
  );
  return { subnets, groups, images, reservations, profile };
}

type Found = Awaited<ReturnType<typeof resolveAll>>;

/** That nothing is reserved keeps no node from being launched: it is said, and stops nothing. */
function reservationsReady(
  { value, failed }: Found['reservations'],
  { capacityReservationSelectorTerms: terms }: NodeClass,
): ConditionClaim {
  const ready = failed ?? yes('CapacityReservationsReady');
  if (failed !== undefined || terms.length === 0 || value.length > 0) return ready;
  const message = 'No capacity reservation matches spec.capacityReservationSelectorTerms';
  return { ...ready, message };
}

/** Placement groups are not supported. Karpenter's clients wait for the condition of every class. */
function placementGroupReady({ spec }: NodeClass): ConditionClaim {
  const type = 'PlacementGroupReady';
  if (spec['placementGroupSelector'] === undefined) return yes(type);
  return no(type, 'Unsupported', 'spec.placementGroupSelector: placement groups are not supported');
}

function resolutionConditions(found: Found, nodeClass: NodeClass): readonly ConditionClaim[] {
  const some = (
    { value, failed }: Resolved<readonly unknown[]>,
    type: string,
    [reason, message]: readonly [string, string],
  ): ConditionClaim => failed ?? (value.length > 0 ? yes(type) : no(type, reason, message));
  return [
    some(found.subnets, 'SubnetsReady', [
      'SubnetsNotFound',
      'No subnet matches spec.subnetSelectorTerms',
    ]),
    some(found.groups, 'SecurityGroupsReady', [
      'SecurityGroupsNotFound',
      'No security group matches spec.securityGroupSelectorTerms',
    ]),
    some(found.images, 'AMIsReady', ['AMINotFound', 'No image matches spec.amiSelectorTerms']),
    reservationsReady(found.reservations, nodeClass),
    found.profile.failed ?? yes('InstanceProfileReady'),
    placementGroupReady(nodeClass),
  ];
}

async function resolve(refreshing: Refreshing): Promise<NodeClassStatus> {
  const { ports, nodeClass } = refreshing;
  const before = nodeClass.status.conditions;
  const found = await resolveAll(refreshing);
  const resolved = {
    subnets: found.subnets.value.map(({ id, zone, zoneId }) => ({ id, zone, zoneId })),
    securityGroups: found.groups.value,
    images: found.images.value,
    capacityReservations: found.reservations.value.map((each) => withoutCount(each)),
    instanceProfile: found.profile.value,
    conditions: before,
  };
  const valid = await validation(refreshing, { ...nodeClass, status: resolved });
  const nowMs = ports.clock.nowMs();
  const conditions = withConditions(
    before,
    [...resolutionConditions(found, nodeClass), valid],
    nowMs,
  );
  const ready = readiness(conditions, REQUIRED);
  return {
    ...resolved,
    conditions: withConditions(conditions, [ready], nowMs),
    // What was found before a change of the spec is not said to be found for it.
    observedGeneration:
      refreshing.failures.length === 0 ? nodeClass.generation : nodeClass.status.observedGeneration,
  };
}

/** Free capacity changes by the minute and is no part of the status. */
function withoutCount(reservation: CapacityReservation): CapacityReservation {
  const { id, instanceType, zone, ownerID, instanceMatchCriteria } = reservation;
  const { reservationType, interruptible, state, endsAtMs } = reservation;
  const place = { id, instanceType, zone, ownerID, instanceMatchCriteria };
  return { ...place, reservationType, interruptible, state, endsAtMs };
}

function sameStatus(a: NodeClassStatus, b: NodeClassStatus): boolean {
  const { conditions: before, observedGeneration = b.observedGeneration, ...restBefore } = a;
  const { conditions: after, observedGeneration: generation, ...restAfter } = b;
  if (observedGeneration !== generation) return false;
  return canonicalText(restBefore) === canonicalText(restAfter) && sameConditions(before, after);
}

async function release({ ports, nodeClass }: Refreshing, state: ClusterState): Promise<boolean> {
  const users = state.objects.nodeClaims.filter(
    ({ nodeClassRef: { group, kind, name } }) =>
      group === NODE_CLASS_GROUP && kind === NODE_CLASS_KIND && name === nodeClass.name,
  );
  if (users.length > 0) {
    const names = users
      .map((claim) => claim.name)
      .sort()
      .join(', ');
    await ports.cluster.event({
      regarding: classRef(nodeClass),
      type: 'Normal',
      reason: 'WaitingOnNodeClaimTermination',
      message: `Waiting on NodeClaim termination for ${names}`,
    });
    return false;
  }
  if (!nodeClass.finalizers.includes(FINALIZER)) return false;
  // Also where it names a profile: it may have named a role before.
  await ports.profiles.remove(nodeClass);
  await ports.compute.removeLaunchTemplates(nodeClass.name, 'none');
  await ports.cluster.patchNodeClass(classRef(nodeClass), { removeFinalizer: FINALIZER });
  return true;
}

async function refresh(refreshing: Refreshing): Promise<void> {
  const { ports, nodeClass, failures } = refreshing;
  const hash = nodeClassHash(nodeClass);
  const isStamped =
    nodeClass.annotations[NODE_CLASS_HASH] === hash &&
    nodeClass.annotations[NODE_CLASS_HASH_VERSION] === HASH_VERSION;
  if (!isStamped || !nodeClass.finalizers.includes(FINALIZER)) {
    await ports.cluster.patchNodeClass(classRef(nodeClass), {
      annotations: { [NODE_CLASS_HASH]: hash, [NODE_CLASS_HASH_VERSION]: HASH_VERSION },
      addFinalizer: FINALIZER,
    });
  }
  const status = await resolve(refreshing);
  if (!sameStatus(nodeClass.status, status)) {
    await ports.cluster.patchNodeClassStatus(classRef(nodeClass), status);
  }
  const { conditions } = nodeClass.status;
  const said = await publishNewlyFalse(ports, classRef(nodeClass), conditions, status.conditions);
  failures.unshift(...said);
  await ports.compute.removeLaunchTemplates(nodeClass.name, 'used');
}

/**
 * What went wrong is said in the log, and as an event where a step was refused. What passes by
 * itself is tried again soon: a new class has no finalizer yet, or somebody waits for a deletion.
 */
async function maintain(refreshing: Refreshing, state: ClusterState): Promise<void> {
  const { ports, nodeClass, failures } = refreshing;
  // One class that cannot be looked after does not stop the others.
  const refused = await attempt(`EC2NodeClass/${nodeClass.name}`, async () => {
    try {
      if (nodeClass.isDeleting) await release(refreshing, state);
      else await refresh(refreshing);
    } catch (error) {
      if (isTransient(error)) refreshing.onTransient();
      throw error;
    }
  });
  failures.push(...refused);
  for (const { message } of refused) {
    const regarding = classRef(nodeClass);
    await ports.cluster.event({ regarding, type: 'Warning', reason: 'ReconcileFailed', message });
  }
}

/**
 * Keeps every EC2NodeClass's status true: what its selectors mean now; what went wrong. Told where
 * AWS or the cluster could not be asked for a moment.
 */
export async function maintainNodeClasses(
  unguarded: Ports,
  onTransient: () => void = () => undefined,
): Promise<readonly Failure[]> {
  const startedAtMs = unguarded.clock.nowMs();
  const state = await unguarded.cluster.read();
  const karpenter = new KarpenterLease(unguarded, state, startedAtMs);
  const ports = karpenter.guarded(unguarded);
  const failures: Failure[] = [];
  for (const nodeClass of state.nodeClasses) {
    if (await karpenter.isActive()) break;
    const refreshing: Refreshing = { ports, nodeClass, failures: [], onTransient };
    await untilKarpenterIsActive(() => maintain(refreshing, state)).finally(() => {
      failures.push(...refreshing.failures);
    });
  }
  return failures;
}
