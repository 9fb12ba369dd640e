import { describe, expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { fleetResult } from '../../../../shared/aws/fleet-request.ts';
import type { FleetRequest, FleetResult, Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { deployment } from '../../../sim/small-world.ts';
import {
  MINUTE,
  reading,
  runningWorld,
  settings,
  spread,
  type WaitingWorld,
  waitingWorld,
  withPorts,
} from '../world.ts';

/** EC2's answer where it refuses all lines that the code is about. */
function refusal(
  fleet: FleetRequest,
  ErrorCode: string,
  isMeant: (subnetId: string | undefined) => boolean = () => true,
): FleetResult {
  const lines = fleet.overrides.filter(({ subnetId }) => isMeant(subnetId));
  const Errors = lines.map(({ instanceType, zone, subnetId }) => ({
    ErrorCode,
    ErrorMessage: 'no',
    LaunchTemplateAndOverrides: {
      Overrides: {
        InstanceType: instanceType as never,
        AvailabilityZone: zone,
        SubnetId: subnetId,
      },
    },
  }));
  return fleetResult(fleet, { Errors });
}

/** When EC2 was asked, in minutes from the start, while it refused until the given minute. */
async function triedAt(code: string, untilMinute: number): Promise<readonly number[]> {
  const { ports, world } = await waitingWorld([deployment('web', 1, '1')]);
  const startMs = ports.clock.nowMs();
  const minute = (): number => Math.floor((ports.clock.nowMs() - startMs) / MINUTE);
  const tried: number[] = [];
  const launch = async (fleet: FleetRequest): Promise<FleetResult> => {
    if (tried.at(-1) !== minute()) tried.push(minute());
    return minute() < untilMinute ? refusal(fleet, code) : await ports.compute.launch(fleet);
  };
  const short = withPorts(ports, { compute: { launch } });
  while (minute() <= untilMinute + 60) {
    if ((await provision(short, settings)).launched.length > 0) break;
    await world.run(world.timeline.nowMs() + MINUTE / 2);
  }
  return tried;
}

describe('what EC2 refuses for a while', () => {
  it.each(['VcpuLimitExceeded', 'MaxSpotInstanceCountExceeded', 'MaxFleetCountExceeded'])(
    'as a quota is used up is tried again each three minutes: %s',
    async (code) => {
      expect(await triedAt(code, 29)).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
    },
  );

  it('as a quota is used up is free when an instance of ours has ended', async () => {
    const world = await runningWorld([deployment('web', 1, '1')]);
    const { cluster, memory } = world.ports;
    const [claim] = readState(world.store).objects.nodeClaims;
    const place = { instanceType: 'm6a.large', zone: 'us-east-1a' };
    const key = { ...place, capacityType: 'on-demand' } as const;
    await memory.markUnavailable(key, 'VcpuLimitExceeded', 'quota');
    await memory.markUnavailable({ ...key, zone: 'us-east-1b' }, 'Short', 'shortage');
    await cluster.delete({ kind: 'NodeClaim', name: claim?.name ?? '' });
    await world.run(world.timeline.nowMs() + 2.5 * MINUTE);
    expect(readState(world.store).objects.nodeClaims.map(({ name }) => name)).not.toContain(
      claim?.name,
    );
    expect(await memory.unavailable()).toMatchObject([{ kind: 'shortage' }]);
  });

  it('for want of capacity is tried again each three minutes where nothing else is left', async () => {
    const tried = await triedAt('InsufficientInstanceCapacity', 29);
    expect(tried).toEqual([0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
  });
});

/** Another subnet in each zone, `-2`, with so many free addresses; the first ones have `first`. */
function withTwoSubnets(
  { ports }: WaitingWorld,
  free: { readonly first: number; readonly second: number },
  launch: Ports['compute']['launch'],
): Ports {
  const twice = <Each extends { readonly id: string }>(
    all: readonly Each[],
    more: (each: Each, isSecond: boolean) => Each,
  ) => all.flatMap((each) => [more(each, false), more({ ...each, id: `${each.id}2` }, true)]);
  const subnets: Ports['network']['subnets'] = async (terms) =>
    twice(await ports.network.subnets(terms), (each, isSecond) => ({
      ...each,
      freeAddresses: isSecond ? free.second : free.first,
    }));
  const read = reading(ports, (state) => ({
    ...state,
    nodeClasses: state.nodeClasses.map((each) => ({
      ...each,
      status: { ...each.status, subnets: twice(each.status.subnets, (subnet) => subnet) },
    })),
  }));
  return withPorts(ports, { network: { subnets }, cluster: { read }, compute: { launch } });
}

describe('subnets of a zone', () => {
  it('are used before the zone is given up', async () => {
    const waiting = await waitingWorld([
      deployment('web', 1, '1', {
        nodeSelector: { 'topology.kubernetes.io/zone': 'us-east-1a' },
      }),
    ]);
    const isFull = (subnet = '') => !subnet.endsWith('2');
    const ports = withTwoSubnets(waiting, { first: 100, second: 50 }, async (fleet) =>
      fleet.overrides.some(({ subnetId }) => isFull(subnetId))
        ? refusal(fleet, 'InsufficientFreeAddressesInSubnet', isFull)
        : await waiting.ports.compute.launch(fleet),
    );
    const { launched } = await provision(ports, settings);
    expect(launched).toHaveLength(1);
    const [machine] = [...waiting.world.compute.machines.values()];
    expect([machine?.zone, machine?.subnetId.endsWith('2')]).toEqual(['us-east-1a', true]);
  });

  it('are counted down across the groups of a pass', async () => {
    const waiting = await waitingWorld([spread('web', 4)]);
    const asked: string[] = [];
    const ports = withTwoSubnets(waiting, { first: 300, second: 290 }, async (fleet) => {
      asked.push(...fleet.overrides.slice(0, 1).map(({ subnetId = '' }) => subnetId));
      return await waiting.ports.compute.launch(fleet);
    });
    await provision(ports, { ...settings, fleetSizeMax: 1 });
    const inSecond = asked.filter((subnet) => subnet.endsWith('2'));
    expect([asked.length, inSecond.length]).toEqual([4, 2]);
  });
});
