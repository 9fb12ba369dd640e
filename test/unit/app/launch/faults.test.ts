import { describe, expect, it } from 'vitest';
import { withUnavailable } from '../../../../shared/app/instance-types/available-types.ts';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { versionOf } from '../../../../shared/core/model/node-class.ts';
import type { FleetFault, FleetRequest, Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { typeOf } from '../../../builders/scheduling.ts';
import { deployment, nodeClass, nodePool } from '../../../sim/small-world.ts';
import { overtaken, settings, spread, waitingWorld, withPorts } from '../world.ts';

const SHORT = {
  kind: 'shortage',
  code: 'InsufficientInstanceCapacity',
  message: 'no',
} as const;
const ODD = { kind: 'unknown', code: 'InvalidBlockDeviceMapping', message: 'too small' } as const;

/** The fault of each of the first lines; one that is not about capacity is the class's own. */
function faultsOf(
  { overrides, capacityType, nodeClass: own }: FleetRequest,
  faultOf: (at: number) => Pick<FleetFault, 'kind' | 'code' | 'message'>,
): readonly FleetFault[] {
  return overrides.slice(0, 6).map(({ instanceType, zone }, at) => {
    const fault = faultOf(at);
    const nodeClassOf = fault.kind === 'unknown' ? versionOf(own) : undefined;
    return { ...fault, offering: { instanceType, zone, capacityType, nodeClass: nodeClassOf } };
  });
}

/** Fleets that get no instance; undefined: as ever. */
function refusing(
  ports: Ports,
  faultsFor: (fleet: FleetRequest) => readonly FleetFault[] | undefined,
) {
  const asked: FleetRequest[] = [];
  const launch = async (fleet: FleetRequest) => {
    asked.push(fleet);
    const faults = faultsFor(fleet);
    return faults === undefined ? await ports.compute.launch(fleet) : { instances: [], faults };
  };
  return { ports: withPorts(ports, { compute: { launch } }), asked };
}

/** A world whose Warnings about claims and classes are heard. */
async function listening(workloads: readonly Json[] = [deployment('web', 1, '1')]) {
  const { ports } = await waitingWorld(workloads);
  const heard: string[] = [];
  const event: Ports['cluster']['event'] = async ({
    regarding: { kind },
    type,
    reason,
    message,
  }) => {
    if (type === 'Warning' && kind !== 'Pod') heard.push(`${kind} ${reason} ${message}`);
  };
  return { ports: withPorts(ports, { cluster: { event } }), heard };
}

describe('a fleet that gets no instance', () => {
  it('though some lines fail for a reason of their class asks for another choice at once', async () => {
    const { ports } = await waitingWorld([deployment('web', 1, '1')]);
    const ec2 = refusing(ports, (fleet) =>
      ec2.asked.length > 1 ? undefined : faultsOf(fleet, (at) => (at === 1 ? ODD : SHORT)),
    );
    expect((await provision(ec2.ports, settings)).launched).toHaveLength(1);
    expect(ec2.asked).toHaveLength(2);
  });

  it('names each of its faults once, and on the class what is wrong with the class', async () => {
    const { ports, heard } = await listening([spread('web', 2)]);
    const ec2 = refusing(ports, (fleet) =>
      ec2.asked.length > 1 ? undefined : faultsOf(fleet, (at) => (at % 2 === 0 ? ODD : SHORT)),
    );
    const { failures, launched } = await provision(ec2.ports, settings);
    const odd = `${ODD.code}: ${ODD.message}`;
    const given = `NodeClaim InsufficientCapacityError ${SHORT.code}: ${SHORT.message}; ${odd}`;
    expect(heard).toEqual([given, given, `EC2NodeClass LaunchFailed ${odd}`]);
    expect(failures).toEqual([{ object: 'EC2NodeClass/default', message: odd }]);
    expect(launched).toHaveLength(2);
  });

  it('for want of capacity says nothing of the class', async () => {
    const { ports, heard } = await listening();
    const ec2 = refusing(ports, (fleet) =>
      ec2.asked.length > 1 ? undefined : faultsOf(fleet, () => SHORT),
    );
    expect((await provision(ec2.ports, settings)).failures).toEqual([]);
    expect(heard).toEqual([`NodeClaim InsufficientCapacityError ${SHORT.code}: ${SHORT.message}`]);
  });

  it('gives its claims up with no more words than an event has room for', async () => {
    const { ports, heard } = await listening();
    const message = 'x'.repeat(600);
    const ec2 = refusing(ports, (fleet) =>
      ec2.asked.length > 1
        ? undefined
        : faultsOf(fleet, (at) => ({ ...(at === 5 ? SHORT : ODD), code: `C${at}`, message })),
    );
    expect((await provision(ec2.ports, settings)).failures).toHaveLength(5);
    const given = heard[0]?.replace('NodeClaim InsufficientCapacityError ', '') ?? '';
    const codes = [5, 0, 1, 2, 3, 4].map((at) => `C${at}`);
    expect([given.match(/C\d/g), given.length < 1024]).toEqual([codes, true]);
  });

  it('says nothing of the class while Karpenter runs', async () => {
    const { ports, world } = await waitingWorld([deployment('web', 1, '1')]);
    const ec2 = refusing(ports, (fleet) => faultsOf(fleet, (at) => (at === 1 ? ODD : SHORT)));
    const { ports: late, writes } = overtaken(ec2.ports, 'launch');
    expect((await provision(late, settings)).failures).toEqual([]);
    expect(writes).toEqual([]);
    expect(readState(world.store).objects.nodeClaims).toHaveLength(1);
  });

  it.each<[string, (fleet: FleetRequest) => readonly FleetFault[], string]>([
    ['as each line fails', (fleet) => faultsOf(fleet, () => ODD), `${ODD.code}: too small`],
    [
      'and says nothing of why',
      () => [],
      'NoInstances: EC2 has returned neither instances nor errors',
    ],
  ])('%s is left to the next pass, and its claim says so', async (_, faultsFor, message) => {
    const { ports, world } = await waitingWorld([deployment('web', 1, '1')]);
    const ec2 = refusing(ports, faultsFor);
    expect((await provision(ec2.ports, settings)).launched).toEqual([]);
    expect(ec2.asked).toHaveLength(1);
    const [claim] = readState(world.store).objects.nodeClaims;
    expect(claim?.conditions.find(({ type }) => type === 'Launched')?.message).toBe(message);
    expect((await provision(ports, settings)).launched).toEqual([claim?.name]);
  });

  it('takes nothing away from the pools of other classes', async () => {
    const { ports, add } = await waitingWorld([]);
    const bad: Json[] = JSON.parse(
      JSON.stringify([nodeClass, nodePool(['on-demand'])]).replaceAll('"default"', '"bad"'),
    );
    const nodeSelector = { 'karpenter.sh/nodepool': 'bad' };
    await add([...bad, deployment('broken', 1, '1', { nodeSelector })]);
    const ec2 = refusing(ports, (fleet) =>
      fleet.nodeClass.name === 'bad' ? faultsOf(fleet, () => ODD) : undefined,
    );
    expect((await provision(ec2.ports, settings)).launched).toEqual([]);
    await add([deployment('healthy', 1, '1')]);
    expect((await provision(ec2.ports, settings)).launched).toHaveLength(1);
  });
});

describe('an offering that is barred', () => {
  const status = {
    subnets: [],
    securityGroups: [],
    images: [],
    capacityReservations: [],
    instanceProfile: undefined,
    conditions: [],
  };
  const OWN = { uid: 'own', generation: 2, status };
  const SINCE = { kind: 'shortage', markedAtMs: 9, untilMs: 11, reason: 'ICE' } as const;
  const a = { instanceType: 'm7g.large', zone: 'zone-a', capacityType: 'on-demand' } as const;
  const reserved = { ...a, capacityType: 'reserved' } as const;
  const plain = typeOf('m7g.large', 2, 8, 1, { zones: ['zone-a', 'zone-b'] });
  const reservations = ['cr-1', 'cr-2'].flatMap((id) =>
    plain.offerings.slice(0, 1).map((each) => ({
      ...each,
      capacityType: 'reserved' as const,
      reservation: { id, type: 'default' as const, capacity: 5 },
    })),
  );
  const type = { ...plain, offerings: [...plain.offerings, ...reservations] };

  it.each([
    ['for everybody', a, ['on-demand zone-a']],
    ['for the class as it is', { ...a, nodeClass: versionOf(OWN) }, ['on-demand zone-a']],
    ['for the class as it was', { ...a, nodeClass: versionOf({ ...OWN, generation: 1 }) }, []],
    ['for another class', { ...a, nodeClass: versionOf({ ...OWN, uid: 'other' }) }, []],
    ['in one reservation', { ...reserved, reservationId: 'cr-1' }, ['cr-1']],
    ['in every reservation', reserved, ['cr-1', 'cr-2']],
    ['until now', { ...a, untilMs: 10 }, []],
  ])('%s', (_, bar, expected) => {
    const barring = {
      barred: [{ ...SINCE, ...bar }],
      fullSubnets: new Set<string>(),
      shiftedZones: new Set<string>(),
    };
    const [found] = withUnavailable([type], OWN, barring, 10);
    const barred = found?.offerings.filter(({ available }) => !available) ?? [];
    expect(
      barred.map(
        ({ reservation: own, capacityType, zone }) => own?.id ?? `${capacityType} ${zone}`,
      ),
    ).toEqual(expected);
  });

  it('is every reservation without the feature gate ReservedCapacity, and nothing else', () => {
    const unmarked = {
      barred: [],
      fullSubnets: new Set<string>(),
      shiftedZones: new Set<string>(),
    };
    const [found] = withUnavailable([type], OWN, { ...unmarked, reservedCapacity: false }, 10);
    const left = found?.offerings.filter(({ available }) => available) ?? [];
    expect(left).toEqual(plain.offerings);
  });
});
