import { launchImages } from '../../core/disruption/proven-images.ts';
import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { canonicalText } from '../../core/launch/canonical-text.ts';
import {
  allocationStrategy,
  kubeletLabels,
  launchLines,
  podsMaxByType,
} from '../../core/launch/launch-request.ts';
import {
  isAwaited,
  isUsable,
  nodeClassLabels,
  nodeClassOf,
} from '../../core/launch/node-classes.ts';
import {
  chooseLaunch,
  type LaunchChoice,
  type NothingToLaunch,
} from '../../core/launch/overrides.ts';
import { SubnetBalance } from '../../core/launch/subnet-choice.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import { CAPACITY_TYPE, MIN_VALUES_RELAXED, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClass } from '../../core/model/node-class.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { SchedulingSettings } from '../../core/model/snapshot.ts';
import { launchPauseText } from '../../core/pause-windows.ts';
import {
  type ClusterState,
  type FleetRequest,
  type ObjectRef,
  PortError,
  type Ports,
} from '../../ports.ts';
import type { LaunchPause } from '../planning/launch-pause.ts';
import type { AppSettings } from '../settings.ts';
import { isApproved } from '../writes/approval.ts';
import type { Failure } from '../writes/attempt.ts';
import { withReadiness } from '../writes/claim-readiness.ts';
import { recordNothing, saying } from '../writes/decisions.ts';
import { claimRef, seenRef } from '../writes/references.ts';
import { recordLaunchFailure } from './records.ts';

/** A claim with what its fleet would ask for. */
export interface Launchable {
  readonly claim: NodeClaim;
  /** The claim with the version at which it was read. */
  readonly seen: ObjectRef;
  readonly nodeClass: NodeClass;
  readonly choice: LaunchChoice;
  /** Everything that the claim's pool has, whether it can be had or not. */
  readonly types: readonly InstanceType[];
  readonly request: Omit<FleetRequest, 'clientToken' | 'claims' | 'tags'>;
  /** Equal for claims that one call can launch. */
  readonly same: string;
}

/** What launching goes by. */
export interface Launching {
  /** A write once Karpenter is active ends the pass. */
  readonly ports: Ports;
  /** To write on claims what EC2 has launched for them, whoever is active by then. */
  readonly settling: Ports;
  readonly settings: AppSettings;
  readonly pause: LaunchPause;
  /** Steps that were refused are added; the others go on. */
  readonly failures: Failure[];
  /** Milliseconds left to the invocation. */
  readonly remainingMs: () => number;
}

export interface LaunchPass extends Launching {
  readonly launched: string[];
  readonly givenUp: string[];
  /** Claims that another has written since they were read. */
  readonly changed: string[];
  /** By EC2NodeClass, claims refused for what passes by itself: its other launches wait, too. */
  readonly transient: Map<string, number>;
}

/** Why a claim is given up, as metrics call it, and the event that says so: two are Karpenter's. */
const GIVEN_UP_EVENTS = {
  insufficient_capacity: 'InsufficientCapacityError',
  nodeclass_not_ready: 'NodeClassNotReady',
  launches_paused: 'LaunchesPaused',
} as const;
type GiveUpCause = keyof typeof GIVEN_UP_EVENTS;

/** Deletes the claim: its pods need another plan. What a window pauses is no failed launch. */
export async function giveUp(pass: LaunchPass, claim: NodeClaim, cause: GiveUpCause, why: Reason) {
  const { ports, givenUp } = pass;
  await ports.cluster.event({
    regarding: claimRef(claim),
    type: 'Warning',
    reason: GIVEN_UP_EVENTS[cause],
    ...saying(why),
  });
  await ports.cluster.delete(claimRef(claim));
  const { [NODE_POOL]: nodepool = '', [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  ports.recorder.count('nodeclaims_disrupted_total', { reason: cause, nodepool, capacity_type });
  givenUp.push(claim.name);
  if (cause === 'launches_paused') await recordNothing(pass, why, `NodeClaim/${claim.name}`);
  else await recordLaunchFailure(pass, claim, cause, why);
}

/** The claim says what it waits for; how long that may take counts from when it said so first. */
export async function setAwaiting(
  { ports }: Pick<LaunchPass, 'ports'>,
  claim: NodeClaim,
  type: string,
  why: Reason,
): Promise<void> {
  const message = sentence(why);
  const said = conditionOf(claim, 'Launched');
  if (said?.reason === type && said.message === message) return;
  const condition = { type: 'Launched', status: 'Unknown', reason: type, message } as const;
  const conditions = withReadiness([condition], ports.clock.nowMs());
  await ports.cluster.patchNodeClaimStatus(claimRef(claim), { conditions });
}

/** Why none of the types can be launched for the claim now; undefined: some can. */
export function nothingToLaunch(
  claim: Parameters<typeof chooseLaunch>[0],
  types: readonly InstanceType[],
  minValuesPolicy: SchedulingSettings['minValuesPolicy'],
): Reason | undefined {
  const choice = chooseLaunch(claim, types, 1, minValuesPolicy);
  return 'stages' in choice ? nothingReason(choice.stages) : undefined;
}

function nothingReason(remainders: NothingToLaunch['stages']): Reason {
  return reason('nothing-to-launch', { remainders });
}

/** Undefined: nothing can be launched of the claim's class, now or at all; the claim is told. */
async function usableClass(
  pass: LaunchPass,
  state: ClusterState,
  claim: NodeClaim,
): Promise<NodeClass | undefined> {
  const { name } = claim.nodeClassRef;
  const nodeClass = nodeClassOf(state, claim.nodeClassRef);
  if (nodeClass !== undefined && isUsable(nodeClass)) return nodeClass;
  if (nodeClass !== undefined && isAwaited(nodeClass)) {
    const why = reason('nodeclass-not-checked', { nodeClass: name });
    await setAwaiting(pass, claim, 'NodeClassReadinessUnknown', why);
    return undefined;
  }
  const code = nodeClass === undefined ? 'nodeclass-missing' : 'nodeclass-not-ready';
  await giveUp(pass, claim, 'nodeclass_not_ready', reason(code, { nodeClass: name }));
  return undefined;
}

/** Gives up what its NodePool has begun to pause since it was written; false: nothing is paused. */
async function givenUpInWindow(
  pass: LaunchPass,
  { objects }: ClusterState,
  claim: NodeClaim,
): Promise<boolean> {
  const pool = objects.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
  const said = pool && launchPauseText(pool, pass.ports.clock.nowMs());
  if (said === undefined || isApproved(claim, 'launch')) return false;
  await giveUp(pass, claim, 'launches_paused', reason('nodepool-cannot-launch', { said }));
  return true;
}

/** Undefined: the claim waits for its class, or was given up, since nothing can be had for it. */
export async function prepare(
  pass: LaunchPass,
  state: ClusterState,
  claim: NodeClaim,
  types: readonly InstanceType[],
  zones: ReadonlySet<string>,
): Promise<Launchable | undefined> {
  if (await givenUpInWindow(pass, state, claim)) return undefined;
  const nodeClass = await usableClass(pass, state, claim);
  if (nodeClass === undefined) return undefined;
  const { fleetTypesMax, scheduling } = pass.settings;
  const choice = chooseLaunch(claim, types, fleetTypesMax, scheduling.minValuesPolicy);
  if ('stages' in choice) {
    await giveUp(pass, claim, 'insufficient_capacity', nothingReason(choice.stages));
    return undefined;
  }
  // Which subnet is for all claims of a group: see `placed`.
  const images = launchImages(claim, nodeClass, state.objects);
  const lines = launchLines(choice.options, images, zones);
  const overrides = lines.map((line) => ({ ...line, subnetId: undefined }));
  if (overrides.length === 0) {
    await giveUp(pass, claim, 'insufficient_capacity', reason('no-image-or-subnet', {}));
    return undefined;
  }
  const request = {
    nodePool: claim.labels[NODE_POOL],
    nodeClass,
    capacityType: choice.capacityType,
    reservationType: choice.options[0]?.offering.reservation?.type,
    strategy: allocationStrategy(choice.capacityType, choice.priceOverlaid),
    overrides,
    nodeLabels: {
      ...nodeClassLabels(claim.nodeClassRef),
      ...kubeletLabels(claim),
      [CAPACITY_TYPE]: choice.capacityType,
    },
    taints: [...claim.taints, ...claim.startupTaints],
    podsMax: podsMaxByType(choice),
    requests: claim.requests,
    sendContext: claim.annotations[MIN_VALUES_RELAXED] !== 'true',
  };
  const { nodeClass: _, ...rest } = request;
  return {
    claim,
    seen: seenRef(state, claimRef(claim)),
    nodeClass,
    choice,
    types,
    request,
    same: canonicalText({ ...rest, nodeClass: nodeClass.name }),
  };
}

/** By class, its subnets with what is free, or why EC2 could not say. */
export type Subnets = Map<string, SubnetBalance | PortError>;

/** Free addresses are asked once per class and pass. */
export async function subnetsOf(
  ports: Ports,
  state: ClusterState,
  claim: NodeClaim,
  known: Subnets,
): Promise<SubnetBalance | PortError> {
  const nodeClass = nodeClassOf(state, claim.nodeClassRef);
  if (nodeClass === undefined) return new SubnetBalance([]);
  const before = known.get(nodeClass.name);
  if (before !== undefined) return before;
  const found = await readSubnets(ports, nodeClass);
  known.set(nodeClass.name, found);
  return found;
}

async function readSubnets(
  { memory, network }: Ports,
  nodeClass: NodeClass,
): Promise<SubnetBalance | PortError> {
  const allowed = new Set(nodeClass.status.subnets.map((each) => each.id));
  const full = await memory.unavailableSubnets();
  try {
    const listed = await network.subnets(nodeClass.subnetSelectorTerms);
    return new SubnetBalance(listed.filter(({ id }) => allowed.has(id) && !full.has(id)));
  } catch (error) {
    if (error instanceof PortError) return error;
    throw error;
  }
}

/**
 * The group with the subnet of each of its zones. A node takes an address for each pod that it may
 * run, or not much fewer; which of the zones it is in is not known before EC2 says so.
 */
export function placed(group: readonly Launchable[], known: Subnets): readonly Launchable[] {
  const [first] = group;
  const balance = first === undefined ? undefined : known.get(first.nodeClass.name);
  if (first === undefined || balance === undefined || balance instanceof PortError) return group;
  const { overrides, podsMax } = first.request;
  const subnets = balance.byZone();
  const addresses = group.length * Math.min(...Object.values(podsMax));
  for (const zone of new Set(overrides.map((line) => line.zone))) {
    balance.take(subnets.get(zone) ?? '', addresses);
  }
  return group.map((item) => ({
    ...item,
    request: {
      ...item.request,
      overrides: item.request.overrides.map((line) => ({
        ...line,
        subnetId: subnets.get(line.zone),
      })),
    },
  }));
}
