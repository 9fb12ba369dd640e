import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { CAPACITY_TYPE, RESERVATION_ID } from '../../../../shared/core/model/labels.ts';
import {
  type FleetRequest,
  type FleetResult,
  PortError,
  type Ports,
} from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { deployment, nodePool } from '../../../sim/small-world.ts';
import { settings, spread, type WaitingWorld, waitingWorld, withPorts } from '../world.ts';

/** Pods of so many sizes that need a node each: no two claims ask for the same. */
function sized(count: number): readonly Json[] {
  return Array.from({ length: count }, (_, at) =>
    deployment(`web-${at}`, 1, `${500 + at * 10}m`, {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey: 'kubernetes.io/hostname', labelSelector: {} },
          ],
        },
      },
    }),
  );
}

interface Ec2 {
  readonly ports: Ports;
  /** Claims of the calls, as they came. */
  readonly asked: string[];
  mostAtOnce: number;
}

/** EC2 that takes its time; of every call the `answerMs` is said by its place in line. */
function slowEc2(
  { ports }: WaitingWorld,
  answerMs: (at: number) => number,
  answer: (fleet: FleetRequest, at: number) => Promise<FleetResult> = (fleet) =>
    ports.compute.launch(fleet),
): Ec2 {
  let underWay = 0;
  const launch = async (fleet: FleetRequest): Promise<FleetResult> => {
    const at = ec2.asked.push(fleet.claims.map(({ name }) => name).join()) - 1;
    underWay += 1;
    ec2.mostAtOnce = Math.max(ec2.mostAtOnce, underWay);
    await sleep(answerMs(at));
    underWay -= 1;
    return await answer(fleet, at);
  };
  const ec2: Ec2 = { ports: withPorts(ports, { compute: { launch } }), asked: [], mostAtOnce: 0 };
  return ec2;
}

function instances({ world }: WaitingWorld): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  return nodeClaims.flatMap(({ providerId }) => providerId ?? []);
}

describe('groups of claims', () => {
  it('are launched at the same time, and only so many', async () => {
    const waiting = await waitingWorld(sized(20));
    const ec2 = slowEc2(waiting, () => 20);
    const { launched } = await provision(ec2.ports, settings);
    expect([launched.length, ec2.asked.length, ec2.mostAtOnce]).toEqual([20, 20, 15]);
    expect(new Set(instances(waiting)).size).toBe(20);
  });

  it('are reported alike in whatever order EC2 answers', async () => {
    const reports = [];
    for (const answerMs of [(at: number) => at * 5, (at: number) => 40 - at * 5]) {
      const waiting = await waitingWorld(sized(6));
      const ec2 = slowEc2(waiting, answerMs, async (fleet, at) => {
        if (at % 2 === 0) return await waiting.ports.compute.launch(fleet);
        throw new PortError('throttled', 'RequestLimitExceeded', 'later');
      });
      reports.push([await provision(ec2.ports, settings), ec2.asked]);
    }
    expect(reports[0]).toEqual(reports[1]);
  });

  it('are launched though one of them cannot be', async () => {
    const waiting = await waitingWorld(sized(4));
    const ec2 = slowEc2(
      waiting,
      () => 1,
      async (fleet, at) => {
        if (at > 0) return await waiting.ports.compute.launch(fleet);
        throw new PortError('unknown', 'InternalError', 'later');
      },
    );
    const { created, launched, failures } = await provision(ec2.ports, settings);
    expect([created.length, launched.length]).toEqual([4, 3]);
    expect(failures).toEqual([
      { object: `NodeClaim/${ec2.asked[0]}`, message: 'InternalError: later' },
    ]);
    expect((await provision(waiting.ports, settings)).launched).toHaveLength(1);
  });

  it('of one token do not share an instance', async () => {
    const waiting = await waitingWorld([spread('web', 4)]);
    const lost = slowEc2(
      waiting,
      () => 1,
      async (fleet) => {
        await waiting.ports.compute.launch(fleet);
        throw new PortError('unknown', 'TimeoutError', 'no answer');
      },
    );
    await provision(lost.ports, settings);
    expect([waiting.world.compute.machines.size, instances(waiting)]).toEqual([4, []]);
    await provision(waiting.ports, { ...settings, fleetSizeMax: 2 });
    expect(new Set(instances(waiting)).size).toBe(4);
    expect(waiting.world.compute.machines.size).toBe(4);
  });

  it('are begun no more once the Lease is lost, and none is left under way', async () => {
    const waiting = await waitingWorld(sized(20));
    let ended = 0;
    const ec2 = slowEc2(
      waiting,
      (at) => 5 + at,
      async (fleet, at) => {
        ended += 1;
        if (at === 0) throw new Error('lost');
        return await waiting.ports.compute.launch(fleet);
      },
    );
    await expect(provision(ec2.ports, settings)).rejects.toThrow('lost');
    expect([ec2.asked.length, ended]).toEqual([15, 15]);
  });
});

describe('an invocation that ends', () => {
  it('begins no launch any more, and the next one does', async () => {
    const waiting = await waitingWorld(sized(20));
    const ec2 = slowEc2(waiting, () => 5);
    const remainingMs = () => (ec2.asked.length === 0 ? 60_000 : 9_999);
    const report = await provision(ec2.ports, settings, remainingMs);
    expect([report.created.length, report.launched.length]).toEqual([20, 15]);
    expect(report.isUnfinished).toBe(true);
    const next = await provision(waiting.ports, settings, () => 60_000);
    expect([next.created.length, next.launched.length, next.isUnfinished]).toEqual([0, 5, false]);
  });
});

it('a node has the labels of the reservation that EC2 took, of several of one type and zone', async () => {
  const { ports, world } = await waitingWorld([deployment('web', 1, '1'), nodePool(['reserved'])]);
  const instanceTypes: Ports['catalog']['instanceTypes'] = async (nodeClass) =>
    (await ports.catalog.instanceTypes(nodeClass)).map((type) => ({
      ...type,
      labels: { ...type.labels, [CAPACITY_TYPE]: ['reserved'], [RESERVATION_ID]: ['cr-1', 'cr-2'] },
      offerings: ['cr-1', 'cr-2'].flatMap((id) =>
        type.offerings.slice(0, 1).map((each) => ({
          ...each,
          capacityType: 'reserved' as const,
          reservation: { id, type: 'default' as const, capacity: 5 },
        })),
      ),
    }));
  const launch: Ports['compute']['launch'] = async ({ capacityType, overrides: [first] }) => {
    if (first === undefined) throw new Error('nothing is asked for');
    const { instanceType, zone, imageId } = first;
    const what = { instanceType, zone, imageId, capacityType, reservationId: 'cr-2' };
    return { faults: [], instances: [{ id: 'i-0a', ...what }] };
  };
  const reserving = { ...ports, catalog: { ...ports.catalog, instanceTypes } };
  await provision(withPorts(reserving, { compute: { launch } }), settings);
  const [claim] = readState(world.store).objects.nodeClaims;
  expect(claim?.labels[RESERVATION_ID]).toBe('cr-2');
});
