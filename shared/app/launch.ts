import { allocatable } from '../core/instance-types/allocatable.ts';
import { canonicalText } from '../core/launch/canonical-text.ts';
import {
  clientToken,
  encodeMembership,
  FLEET,
  type FleetMembership,
  groupClaims,
  membershipOf,
} from '../core/launch/fleet-group.ts';
import {
  allocationStrategy,
  kubeletLabels,
  launchLines,
  launchTags,
  overlayAnnotations,
  podsMaxByType,
  subnetByZone,
} from '../core/launch/launch-request.ts';
import { chooseLaunch, type LaunchChoice } from '../core/launch/overrides.ts';
import { providerIdOf } from '../core/lifecycle/actions.ts';
import { isTrue, readiness, withConditions } from '../core/lifecycle/conditions.ts';
import type { InstanceType, Offering } from '../core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  type Labels,
  MIN_VALUES_RELAXED,
  NODE_POOL,
  REGION,
  RESERVATION_ID,
  RESERVATION_TYPE,
  ZONE,
  ZONE_ID,
} from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import {
  type ClusterState,
  type FleetFault,
  type FleetRequest,
  type FleetResult,
  type LaunchedInstance,
  PortError,
  type Ports,
} from '../ports.ts';
import { haltedPools, launchesLeft } from './launch-brakes.ts';
import { nodeClassHash, VERSION } from './nodeclass.ts';
import { nodeClassOf } from './offers.ts';
import { claimRef } from './references.ts';
import { type AppSettings, isPaused } from './settings.ts';

export interface LaunchReport {
  readonly launched: readonly string[];
  /** Claims deleted because nothing could be had for them: their pods need another plan. */
  readonly givenUp: readonly string[];
}

/** A claim with what its fleet would ask for. */
interface Launchable {
  readonly claim: NodeClaim;
  readonly nodeClass: NodeClass;
  readonly choice: LaunchChoice;
  readonly request: Omit<FleetRequest, 'clientToken' | 'claims' | 'tags'>;
  /** Equal for claims that one call can launch. */
  readonly same: string;
}

interface Pass {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly launched: string[];
  readonly givenUp: string[];
}

async function giveUp(pass: Pass, claim: NodeClaim, reason: string, message: string) {
  const { ports, givenUp } = pass;
  await ports.cluster.event({
    regarding: claimRef(claim),
    type: 'Warning',
    reason: 'InsufficientCapacityError',
    message,
  });
  await ports.cluster.delete(claimRef(claim));
  const { [NODE_POOL]: nodepool = '', [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  ports.recorder.count('nodeclaims_disrupted_total', { reason, nodepool, capacity_type });
  givenUp.push(claim.name);
}

async function prepare(
  pass: Pass,
  state: ClusterState,
  claim: NodeClaim,
  types: readonly InstanceType[],
  subnets: ReadonlyMap<string, string>,
): Promise<Launchable | undefined> {
  const nodeClass = nodeClassOf(state, claim.nodeClassRef);
  if (nodeClass === undefined || nodeClass.isDeleting || !isTrue(nodeClass.status, 'Ready')) {
    const message = `EC2NodeClass ${claim.nodeClassRef.name} is not ready`;
    await giveUp(pass, claim, 'nodeclass_not_ready', message);
    return undefined;
  }
  const choice = chooseLaunch(claim, types, pass.settings.fleetTypesMax);
  if ('stages' in choice) {
    const counts = choice.stages.map(({ what, left }) => `${left} ${what}`).join(', ');
    await giveUp(pass, claim, 'insufficient_capacity', `Nothing to launch: ${counts}`);
    return undefined;
  }
  const overrides = launchLines(choice.options, nodeClass.status.images, subnets);
  if (overrides.length === 0) {
    const message = 'No image or subnet for any instance type of the claim';
    await giveUp(pass, claim, 'insufficient_capacity', message);
    return undefined;
  }
  const request = {
    nodePool: claim.labels[NODE_POOL],
    nodeClass,
    capacityType: choice.capacityType,
    reservationType: choice.options[0]?.offering.reservation?.type,
    strategy: allocationStrategy(choice.capacityType, choice.priceOverlaid),
    overrides,
    nodeLabels: { ...kubeletLabels(claim), [CAPACITY_TYPE]: choice.capacityType },
    taints: [...claim.taints, ...claim.startupTaints],
    podsMax: podsMaxByType(choice),
    requests: claim.requests,
    sendContext: claim.annotations[MIN_VALUES_RELAXED] !== 'true',
  };
  const { nodeClass: _, ...rest } = request;
  return {
    claim,
    nodeClass,
    choice,
    request,
    same: canonicalText({ ...rest, nodeClass: nodeClass.name }),
  };
}

/** The one value of each label that the type describes, and what the offering adds. */
function instanceLabels(type: InstanceType, offering: Offering, region: string): Labels {
  const labels: Record<string, string> = {};
  for (const [key, values] of Object.entries(type.labels)) {
    const [only, second] = values ?? [];
    if (only !== undefined && second === undefined) labels[key] = only;
  }
  labels[INSTANCE_TYPE] = type.name;
  labels[REGION] = region;
  labels[ZONE] = offering.zone;
  labels[CAPACITY_TYPE] = offering.capacityType;
  if (offering.zoneId !== undefined) labels[ZONE_ID] = offering.zoneId;
  if (offering.reservation !== undefined) {
    labels[RESERVATION_ID] = offering.reservation.id;
    labels[RESERVATION_TYPE] = offering.reservation.type;
  }
  return labels;
}

/** Writes the instance on its claim; the provider id last, as it ends the claim's launching. */
async function assign(
  { ports, launched }: Pass,
  { claim, choice, nodeClass }: Launchable,
  instance: LaunchedInstance,
): Promise<void> {
  const option = choice.options.find(
    ({ type, offering }) =>
      type.name === instance.instanceType &&
      offering.zone === instance.zone &&
      offering.capacityType === instance.capacityType,
  );
  const ref = claimRef(claim);
  const known =
    option === undefined ? {} : instanceLabels(option.type, option.offering, ports.catalog.region);
  await ports.cluster.patchNodeClaim(ref, {
    labels: {
      ...known,
      ...claim.labels,
      [INSTANCE_TYPE]: instance.instanceType,
      [ZONE]: instance.zone,
      [CAPACITY_TYPE]: instance.capacityType,
    },
    annotations: {
      'karpenter.k8s.aws/ec2nodeclass-hash': nodeClassHash(nodeClass),
      'karpenter.k8s.aws/ec2nodeclass-hash-version': VERSION,
      ...(option === undefined ? {} : overlayAnnotations(option)),
    },
  });
  const isLaunched = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
  const nowMs = ports.clock.nowMs();
  const conditions = withConditions(claim.conditions, [isLaunched], nowMs);
  const ready = readiness(conditions, ['Launched', 'Registered', 'Initialized']);
  await ports.cluster.patchNodeClaimStatus(ref, {
    providerId: providerIdOf(instance.zone, instance.id),
    imageId: instance.imageId,
    ...(option === undefined
      ? {}
      : {
          capacity: option.type.capacity,
          allocatable: allocatable(option.type, option.offering),
        }),
    conditions: withConditions(conditions, [ready], nowMs),
  });
  launched.push(claim.name);
}

/** The group's claims carry it before the call: whoever comes after a crash repeats the same. */
async function writeGroup(
  { ports }: Pass,
  group: readonly Launchable[],
  membership: FleetMembership,
): Promise<readonly Launchable[]> {
  const text = encodeMembership(membership);
  const written: Launchable[] = [];
  for (const each of group) {
    if (each.claim.annotations[FLEET] !== text) {
      const patch = { annotations: { [FLEET]: text } };
      const result = await ports.cluster.patchNodeClaim(claimRef(each.claim), patch);
      if (result !== 'done') continue;
    }
    written.push(each);
  }
  return written;
}

async function recordFaults(pass: Pass, faults: readonly FleetFault[]): Promise<void> {
  const { memory, recorder } = pass.ports;
  for (const fault of faults) {
    if (fault.offering === undefined) continue;
    const { zone, capacityType: capacity_type } = fault.offering;
    const labels = { zone, capacity_type, reason: fault.code };
    recorder.count('cloudprovider_instance_launch_failures_total', labels);
    if (fault.kind === 'unfulfillable' || fault.kind === 'unknown') {
      await memory.markUnavailable(fault.offering, fault.code);
    }
  }
}

async function sayLaunchFailed(pass: Pass, claim: NodeClaim, message: string): Promise<void> {
  const condition = {
    type: 'Launched',
    status: 'Unknown',
    reason: 'LaunchFailed',
    message,
  } as const;
  await pass.ports.cluster.patchNodeClaimStatus(claimRef(claim), {
    conditions: withConditions(claim.conditions, [condition], pass.ports.clock.nowMs()),
  });
}

/** Claims without an instance: given up where capacity is short, else tried with a new token. */
async function settleLeftOver(
  pass: Pass,
  leftOver: readonly Launchable[],
  faults: readonly FleetFault[],
  membership: FleetMembership,
): Promise<void> {
  const other = faults.find((each) => each.kind !== 'unfulfillable');
  const message = faults.map((each) => `${each.code}: ${each.message}`)[0] ?? 'no capacity';
  for (const { claim } of leftOver) {
    if (other === undefined) {
      await giveUp(pass, claim, 'insufficient_capacity', message);
    } else {
      await sayLaunchFailed(pass, claim, `${other.code}: ${other.message}`);
    }
  }
  if (other === undefined) return;
  const attempt = membership.attempt + 1;
  const token = clientToken(
    leftOver.map(({ claim }) => claim.uid),
    attempt,
  );
  await writeGroup(pass, leftOver, { token, size: leftOver.length, attempt });
}

/** Instances of this token that no claim stands for yet: what an earlier call has launched. */
async function adoptable(
  ports: Ports,
  token: string,
  taken: ReadonlySet<string>,
): Promise<readonly LaunchedInstance[]> {
  const instances = await ports.compute.list();
  return instances.filter((each) => each.tags['joiner.dev/fleet'] === token && !taken.has(each.id));
}

async function callFleet(
  pass: Pass,
  group: readonly Launchable[],
  membership: FleetMembership,
): Promise<FleetResult | undefined> {
  const [first] = group;
  if (first === undefined) return undefined;
  const { ports, settings } = pass;
  const { nodeClass, nodePool } = first.request;
  try {
    return await ports.compute.launch({
      ...first.request,
      clientToken: membership.token,
      claims: group.map(({ claim }) => ({ name: claim.name, uid: claim.uid })),
      tags: launchTags(nodeClass, nodePool, settings.cluster, membership.token),
    });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    // The outcome is unknown: the next pass repeats the same token.
    const message = `${error.code}: ${error.message}`;
    for (const { claim } of group) await sayLaunchFailed(pass, claim, message);
    return undefined;
  }
}

function byId(a: LaunchedInstance, b: LaunchedInstance): number {
  return a.id < b.id ? -1 : 1;
}

async function launchGroup(
  pass: Pass,
  group: readonly Launchable[],
  taken: ReadonlySet<string>,
): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const uids = group.map(({ claim }) => claim.uid);
  const before = membershipOf(first.claim);
  const fresh = { token: clientToken(uids, 0), size: group.length, attempt: 0 };
  const membership = before ?? fresh;
  let waiting = await writeGroup(pass, group, membership);
  const adopt = async (instances: readonly LaunchedInstance[]): Promise<void> => {
    const pairs = [...instances].sort(byId).slice(0, waiting.length);
    for (const [index, instance] of pairs.entries()) {
      const item = waiting[index];
      if (item !== undefined) await assign(pass, item, instance);
    }
    waiting = waiting.slice(pairs.length);
  };
  if (before !== undefined) await adopt(await adoptable(pass.ports, before.token, taken));
  if (waiting.length === 0) return;
  const result = await callFleet(pass, waiting, membership);
  if (result === undefined) return;
  await recordFaults(pass, result.faults);
  await adopt(result.instances.filter((each) => !taken.has(each.id)));
  if (waiting.length > 0) await settleLeftOver(pass, waiting, result.faults, membership);
}

/** Launches every NodeClaim that has no instance yet, whoever wrote it. */
export async function launchClaims(
  ports: Ports,
  settings: AppSettings,
  state: ClusterState,
  typesOf: (claim: NodeClaim) => readonly InstanceType[],
): Promise<LaunchReport> {
  const pass: Pass = { ports, settings, launched: [], givenUp: [] };
  const report = { launched: pass.launched, givenUp: pass.givenUp };
  const nowMs = ports.clock.nowMs();
  if (isPaused(state.pausedUntilMs.launch, nowMs)) return report;
  const { nodeClaims } = state.objects;
  const waiting = nodeClaims.filter(
    (claim) => claim.providerId === undefined && claim.deletedAtMs === undefined,
  );
  if (waiting.length === 0) return report;
  const halted = await haltedPools(ports);
  const due = waiting
    .filter((claim) => !halted.has(claim.labels[NODE_POOL] ?? ''))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, launchesLeft(state, settings, nowMs));
  const subnets = new Map<string, ReadonlyMap<string, string>>();
  const launchable: Launchable[] = [];
  for (const claim of due) {
    const zones = await subnetsOf(ports, state, claim, subnets);
    const item = await prepare(pass, state, claim, typesOf(claim), zones);
    if (item !== undefined) launchable.push(item);
  }
  const taken = new Set(
    nodeClaims.flatMap((claim) => claim.providerId?.split('/').slice(-1) ?? []),
  );
  const groups = groupClaims(
    launchable.map((item) => ({
      ...item,
      same: membershipOf(item.claim)?.token ?? item.same,
    })),
    settings.fleetSizeMax,
  );
  for (const group of groups) await launchGroup(pass, group, taken);
  return report;
}

/** Free addresses are asked once per class and pass. */
async function subnetsOf(
  ports: Ports,
  state: ClusterState,
  claim: NodeClaim,
  known: Map<string, ReadonlyMap<string, string>>,
): Promise<ReadonlyMap<string, string>> {
  const nodeClass = nodeClassOf(state, claim.nodeClassRef);
  if (nodeClass === undefined) return new Map();
  const before = known.get(nodeClass.name);
  if (before !== undefined) return before;
  const listed = await ports.network.subnets(nodeClass.subnetSelectorTerms);
  const allowed = new Set(nodeClass.status.subnets.map((each) => each.id));
  const zones = subnetByZone(listed.filter((each) => allowed.has(each.id)));
  known.set(nodeClass.name, zones);
  return zones;
}
