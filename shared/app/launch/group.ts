import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { allocatable } from '../../core/instance-types/allocatable.ts';
import { mayBeHadElsewhere } from '../../core/launch/faults.ts';
import { clientToken, type FleetMembership, membershipOf } from '../../core/launch/fleet-group.ts';
import {
  launchedLabels,
  launchFacts,
  launchTags,
  optionAnnotations,
} from '../../core/launch/launch-request.ts';
import { nodeClassLabels } from '../../core/launch/node-classes.ts';
import type { LaunchOption } from '../../core/launch/overrides.ts';
import { HASH_VERSION, nodeClassHash } from '../../core/launch/template-hash.ts';
import { providerIdOf } from '../../core/lifecycle/actions.ts';
import {
  CAPACITY_TYPE,
  FLEET,
  INSTANCE_TYPE,
  NODE_CLASS_HASH,
  NODE_CLASS_HASH_VERSION,
  NODE_POOL,
  ZONE,
} from '../../core/model/labels.ts';
import type { NodeClass } from '../../core/model/node-class.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import {
  type FleetFault,
  type FleetResult,
  type Instance,
  type LaunchedInstance,
  PortError,
  type Ports,
} from '../../ports.ts';
import { withReadiness } from '../writes/claim-readiness.ts';
import { recordDecision, saying } from '../writes/decisions.ts';
import { claimRef, classRef } from '../writes/references.ts';
import { giveUp, type Launchable, type LaunchPass } from './choice.ts';
import { writeGroup } from './intent.ts';
import { recordLaunchFailure } from './records.ts';

/** What was launched: an earlier call may have asked for what is out of the question by now. */
function optionOf(
  { choice, types }: Launchable,
  { instanceType, zone, capacityType, reservationId }: LaunchedInstance,
): LaunchOption | undefined {
  const isIt = ({ type, offering }: LaunchOption): boolean =>
    type.name === instanceType &&
    offering.zone === zone &&
    offering.capacityType === capacityType &&
    (reservationId === undefined || offering.reservation?.id === reservationId);
  const known = choice.options.find(isIt);
  if (known !== undefined) return known;
  const all = types.flatMap((type) => type.offerings.map((offering) => ({ type, offering })));
  return all.find(isIt);
}

/**
 * Writes the instance on its claim; the provider id last, as it ends the claim's launching. A claim
 * that is gone by then leaves the instance to garbage collection.
 */
async function assign(
  { ports, launched, changed }: Pick<LaunchPass, 'ports' | 'launched' | 'changed'>,
  item: Launchable,
  instance: LaunchedInstance,
): Promise<void> {
  const { claim, nodeClass, request } = item;
  const option = optionOf(item, instance);
  const ref = claimRef(claim);
  const noted = await ports.cluster.patchNodeClaim(ref, {
    labels: {
      ...nodeClassLabels(claim.nodeClassRef),
      ...launchedLabels(claim, option, ports.catalog.region),
      [INSTANCE_TYPE]: instance.instanceType,
      [ZONE]: instance.zone,
      [CAPACITY_TYPE]: instance.capacityType,
    },
    annotations: {
      [NODE_CLASS_HASH]: nodeClassHash(nodeClass),
      [NODE_CLASS_HASH_VERSION]: HASH_VERSION,
      ...launchFacts(request, instance),
      ...(option === undefined ? {} : optionAnnotations(option)),
    },
  });
  // Without its labels nobody would know what the node is: it is written again with the next call,
  // which answers with the same instance.
  if (noted === 'conflict') changed.push(claim.name);
  if (noted !== 'done') return;
  const isLaunched = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
  const nowMs = ports.clock.nowMs();
  const written = await ports.cluster.patchNodeClaimStatus(ref, {
    providerId: providerIdOf(instance.zone, instance.id),
    imageId: instance.imageId,
    ...(option === undefined
      ? {}
      : {
          capacity: option.type.capacity,
          allocatable: allocatable(option.type, option.offering),
        }),
    conditions: withReadiness([isLaunched], nowMs),
  });
  if (written === 'conflict') changed.push(claim.name);
  if (written !== 'done') return;
  launched.push(claim.name);
  await recordLaunch(ports, claim, instance);
  await publishProvenImage(ports, claim, nodeClass, instance);
}

/** Where another image was launched than the class selects: it was the one of nodes that are ready. */
async function publishProvenImage(
  { cluster }: Pick<Ports, 'cluster'>,
  claim: NodeClaim,
  { name, status }: NodeClass,
  { imageId }: LaunchedInstance,
): Promise<void> {
  if (status.images.some(({ id }) => id === imageId)) return;
  const why = reason('proven-image-launched', { image: imageId, nodeClass: name });
  const event = { type: 'Normal', reason: 'ProvenImageLaunched', ...saying(why) } as const;
  await cluster.event({ regarding: claimRef(claim), ...event });
}

async function recordLaunch(
  ports: Pick<Ports, 'clock' | 'recorder'>,
  { name, labels }: NodeClaim,
  { id: instance, instanceType, zone, capacityType }: LaunchedInstance,
): Promise<void> {
  await recordDecision(
    { ports },
    {
      id: `launch-${name}`,
      useCase: 'provision',
      object: `NodeClaim/${name}`,
      action: 'launch',
      reasons: [reason('instance-launched', { instance, instanceType, capacityType, zone })],
      detail: { nodePool: labels[NODE_POOL], chosen: { type: instanceType, zone, capacityType } },
    },
  );
}

async function recordFaults(pass: LaunchPass, faults: readonly FleetFault[]): Promise<void> {
  const { memory } = pass.ports;
  for (const fault of faults) {
    const { kind, code, offering, subnetId } = fault;
    const barred = kind === 'subnet' && subnetId !== undefined ? { subnetId } : offering;
    if (barred !== undefined && kind !== 'transient') {
      await memory.markUnavailable(barred, code, kind);
    }
  }
}

/** On the claim, as an event, and in the log: a claim that waits says what for. */
export async function setLaunchFailed(
  pass: LaunchPass,
  claim: NodeClaim,
  code: string,
  why: Reason,
): Promise<void> {
  const message = `${code}: ${sentence(why)}`;
  const condition = {
    type: 'Launched',
    status: 'Unknown',
    reason: 'LaunchFailed',
    message,
  } as const;
  const { cluster, clock } = pass.ports;
  const regarding = claimRef(claim);
  // Recorded first: once Karpenter is active the record alone says so.
  await recordLaunchFailure(pass, claim, code, why);
  pass.failures.push({ object: `NodeClaim/${claim.name}`, message });
  await cluster.patchNodeClaimStatus(regarding, {
    conditions: withReadiness([condition], clock.nowMs()),
  });
  const event = { type: 'Warning', reason: 'LaunchFailed', message, code: why.code } as const;
  await cluster.event({ regarding, ...event });
}

/** What EC2, or the way to it, refused the launch for. */
export function refusedBecause(fault: Pick<PortError, 'code' | 'message'>): Reason {
  return reason('launch-refused', { code: fault.code, said: fault.message });
}

/**
 * Whether another choice may be had at once: some lines are short of capacity, and none that failed
 * would be chosen again. Those that failed for another reason are barred like those that are short.
 */
function isShort(faults: readonly FleetFault[]): boolean {
  const isBarred = ({ kind, offering }: FleetFault): boolean =>
    kind !== 'transient' && offering !== undefined;
  return faults.some(mayBeHadElsewhere) && faults.every(isBarred);
}

/** Of the faults of one fleet, together: an event has room for no more. */
const FAULTS_LENGTH_MAX = 1000;

/** Each code once, with what EC2 said first; shortages come first. */
function namesOf(faults: readonly FleetFault[]): readonly string[] {
  const isOther = (fault: FleetFault): number => Number(!mayBeHadElsewhere(fault));
  const messages = new Map<string, string>();
  for (const { code, message } of faults.toSorted((a, b) => isOther(a) - isOther(b))) {
    if (!messages.has(code)) messages.set(code, message);
  }
  const room = Math.floor(FAULTS_LENGTH_MAX / messages.size);
  const named = [...messages].map(([code, message]) => `${code}: ${message}`);
  return named.map((each) => (each.length < room ? each : `${each.slice(0, room - 3)}…`));
}

/** What is wrong with the class: the claims that could say so are given up. */
async function publishClassFaults(
  { ports, failures }: LaunchPass,
  nodeClass: NodeClass,
  faults: readonly FleetFault[],
): Promise<void> {
  const others = faults.filter((each) => !mayBeHadElsewhere(each));
  for (const message of new Set(others.map((each) => `${each.code}: ${each.message}`))) {
    const regarding = classRef(nodeClass);
    await ports.cluster.event({ regarding, type: 'Warning', reason: 'LaunchFailed', message });
    failures.push({ object: `EC2NodeClass/${nodeClass.name}`, message });
  }
}

/** EC2 has launched nothing and says nothing of why. */
const NO_ANSWER = { code: 'NoInstances', message: 'EC2 has returned neither instances nor errors' };

/** Claims without an instance: given up where capacity is short, else tried with a new token. */
async function settleLeftOver(
  pass: LaunchPass,
  leftOver: readonly Launchable[],
  faults: readonly FleetFault[],
  membership: FleetMembership,
): Promise<void> {
  if (isShort(faults)) {
    const why = reason('capacity-insufficient', { faults: namesOf(faults) });
    for (const { claim } of leftOver) await giveUp(pass, claim, 'insufficient_capacity', why);
    const [first] = leftOver;
    if (first !== undefined) await publishClassFaults(pass, first.nodeClass, faults);
    return;
  }
  const transient = faults.find(({ kind }) => kind === 'transient');
  if (transient !== undefined) noteTransient(pass, leftOver);
  const fault = transient ?? faults.find((each) => !mayBeHadElsewhere(each)) ?? NO_ANSWER;
  const why = refusedBecause(fault);
  for (const { claim } of leftOver) await setLaunchFailed(pass, claim, fault.code, why);
  const attempt = membership.attempt + 1;
  const token = clientToken(
    leftOver.map(({ claim }) => claim.uid),
    attempt,
  );
  const next = { token, size: leftOver.length, attempt };
  // Ours are the last writes: what was read is older.
  await writeGroup(pass, leftOver, next, ({ claim }) => claimRef(claim));
}

/** They are tried again in a moment, and nothing else of their class before. */
function noteTransient({ transient }: LaunchPass, group: readonly Launchable[]): void {
  const name = group[0]?.nodeClass.name ?? '';
  transient.set(name, (transient.get(name) ?? 0) + group.length);
}

/** The fault is written on the claims; the next pass tries them again with the same token. */
async function postpone(
  pass: LaunchPass,
  group: readonly Launchable[],
  error: PortError,
): Promise<undefined> {
  if (error.kind === 'throttled') noteTransient(pass, group);
  const why = refusedBecause(error);
  for (const { claim } of group) await setLaunchFailed(pass, claim, error.code, why);
}

/**
 * Instances of this token that no claim stands for yet: what an earlier call has launched.
 * Undefined: EC2 could not be asked.
 */
async function adoptable(
  pass: LaunchPass,
  { listed }: SharedInstances,
  group: readonly Launchable[],
  token: string,
): Promise<readonly LaunchedInstance[] | undefined> {
  try {
    return (await listed()).filter((each) => each.tags[FLEET] === token);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return await postpone(pass, group, error);
  }
}

async function callFleet(
  pass: LaunchPass,
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
    // The outcome is unknown.
    return await postpone(pass, group, error);
  }
}

function byId(a: LaunchedInstance, b: LaunchedInstance): number {
  return a.id < b.id ? -1 : 1;
}

/** What the groups of a pass have in common, as they are launched at the same time. */
export interface SharedInstances {
  /** Ids of instances that a claim stands for. */
  readonly taken: Set<string>;
  /** What runs in EC2, asked when it is first needed. */
  readonly listed: () => Promise<readonly Instance[]>;
}

/** The first `count` that no claim stands for yet: nobody else takes them from then on. */
function take(
  { taken }: SharedInstances,
  instances: readonly LaunchedInstance[],
  count: number,
): readonly LaunchedInstance[] {
  const free = instances.filter(({ id }) => !taken.has(id)).sort(byId);
  const own = free.slice(0, count);
  for (const { id } of own) taken.add(id);
  return own;
}

/** One fleet call; a group that was written before first adopts what its call has launched. */
export async function launchGroup(
  pass: LaunchPass,
  common: SharedInstances,
  group: readonly Launchable[],
): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const uids = group.map(({ claim }) => claim.uid);
  const before = membershipOf(first.claim);
  const fresh = { token: clientToken(uids, 0), size: group.length, attempt: 0 };
  const membership = before ?? fresh;
  let waiting = await writeGroup(pass, group, membership, ({ seen }) => seen);
  const adopt = async (ports: Ports, instances: readonly LaunchedInstance[]): Promise<void> => {
    const own = take(common, instances, waiting.length);
    for (const [index, instance] of own.entries()) {
      const item = waiting[index];
      if (item !== undefined) await assign({ ...pass, ports }, item, instance);
    }
    waiting = waiting.slice(own.length);
  };
  if (before !== undefined) {
    const known = await adoptable(pass, common, waiting, before.token);
    if (known === undefined) return;
    await adopt(pass.ports, known);
  }
  if (waiting.length === 0) return;
  const result = await callFleet(pass, waiting, membership);
  if (result === undefined) return;
  await recordFaults(pass, result.faults);
  // Also once Karpenter is active: it would launch a claim without an instance again.
  await adopt(pass.settling, result.instances);
  if (waiting.length > 0) await settleLeftOver(pass, waiting, result.faults, membership);
}
