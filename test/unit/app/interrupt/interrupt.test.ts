import { describe, expect, it } from 'vitest';
import { interrupt, type QueueMessage } from '../../../../shared/app/interrupt/interrupt.ts';
import { instanceIdOf } from '../../../../shared/core/lifecycle/actions.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  INTERRUPTED,
  RESERVATION_ID,
  TRIES,
  UNCONFIRMED,
  ZONE,
} from '../../../../shared/core/model/labels.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import { MINUTE, settings, withPorts } from '../world.ts';
import {
  claimsOf,
  forEachNode,
  leaving,
  sentAt,
  tenNodes,
  waiting,
  warnings,
} from './queue-messages.ts';

describe('a batch of messages', () => {
  it('is not failed by a message that cannot be read', async () => {
    const world = await tenNodes();
    const [first, second] = await warnings(world);
    const poison = { id: 'poison', body: first?.body.replace('"aws.ec2"', '{"toString":1}') ?? '' };
    const batch = [poison, ...[first, second].flatMap((each) => each ?? [])];
    const report = await interrupt(world.ports, settings, batch);
    expect(report.deleted).toHaveLength(2);
    expect(report.failedIds).toEqual([]);
    expect(report.refused).toEqual(new Map([['malformed', 1]]));
  });

  it('is not failed by a message whose claim cannot be written, for whatever reason', async () => {
    const world = await tenNodes();
    const batch = (await warnings(world)).slice(0, 3);
    const [claim] = await claimsOf(world);
    const ports = withPorts(world.ports, {
      cluster: {
        patchNodeClaim: async (ref, patch) => {
          if (ref.name === claim?.name) throw new TypeError('a fault of ours');
          return await world.ports.cluster.patchNodeClaim(ref, patch);
        },
      },
    });
    const report = await interrupt(ports, settings, batch);
    expect(report.deleted).toHaveLength(2);
    expect(report.failedIds).toEqual([batch[0]?.id]);
    expect(report.failures).toMatchObject([
      { object: `NodeClaim/${claim?.name}`, message: 'TypeError: a fault of ours' },
    ]);
  });
});

describe('the offering of an interrupted instance', () => {
  it.each<[string, 'spot' | 'reservation', Readonly<Record<string, string>>, object]>([
    ['a spot instance bars spot', 'spot', {}, { capacityType: 'spot' }],
    [
      'a reserved one bars its reservation, and neither spot nor another reservation',
      'reservation',
      { [CAPACITY_TYPE]: 'reserved', [RESERVATION_ID]: 'cr-0a' },
      { capacityType: 'reserved', reservationId: 'cr-0a' },
    ],
  ])('%s', async (_, kind, labels, expected) => {
    const world = await tenNodes();
    const messages = kind === 'spot' ? await warnings(world) : await forEachNode(world, kind);
    const barred: unknown[] = [];
    const ports = withPorts(world.ports, {
      cluster: {
        readClaims: async (labelKey) => {
          const { nodeClaims, ...rest } = await world.ports.cluster.readClaims(labelKey);
          const labelled = nodeClaims.map((claim) => ({
            ...claim,
            labels: { ...claim.labels, ...labels },
          }));
          return { ...rest, nodeClaims: labelled };
        },
      },
      memory: {
        ...world.ports.memory,
        markUnavailable: async (offering) => void barred.push(offering),
      },
    });
    const [claim] = await claimsOf(world);
    await interrupt(ports, settings, messages.slice(0, 1));
    const { [INSTANCE_TYPE]: instanceType, [ZONE]: zone } = claim?.labels ?? {};
    expect(barred).toEqual([{ instanceType, zone, reservationId: undefined, ...expected }]);
  });
});

describe('an instance that has ended', () => {
  it.each<[string, boolean, number]>([
    ['before its node has joined counts as one that did not join', false, 1],
    ['later does not', true, 0],
  ])('%s', async (_, isJoined, count) => {
    const world = await tenNodes();
    const messages = (await forEachNode(world, 'stopped')).slice(0, 1);
    const readClaims: Ports['cluster']['readClaims'] = async (labelKey) => {
      const { nodeClaims, ...rest } = await world.ports.cluster.readClaims(labelKey);
      const seen = nodeClaims.map((claim) => ({
        ...claim,
        annotations: { ...claim.annotations, [TRIES]: 'a state' },
        conditions: claim.conditions.filter(({ type }) => isJoined || type !== 'Registered'),
      }));
      return { ...rest, nodeClaims: seen };
    };
    const stateReason = 'Server.InternalError: Internal error on launch';
    const end = { state: 'terminated', stateReason } as const;
    const describe: Ports['compute']['describe'] = async (ids) =>
      (await world.ports.compute.describe(ids)).map((each) => ({ ...each, ...end }));
    const ports = withPorts(world.ports, { cluster: { readClaims }, compute: { describe } });
    expect((await interrupt(ports, settings, messages)).deleted).toHaveLength(1);
    const { decisions } = world.recorder;
    expect(decisions.at(-1)?.reasons).toMatchObject([{ parameters: { cause: stateReason } }]);
    const failed = (await ports.memory.failedRegistrations()).get('default');
    expect(failed?.count ?? 0).toBe(count);
    expect(failed?.cause).toBe(count === 0 ? undefined : stateReason);
    expect([...(failed?.tried?.keys() ?? [])]).toEqual(count === 0 ? [] : ['a state']);
  });

  it('as lifecycle had it is not interrupted: it counts as a termination', async () => {
    const world = await tenNodes();
    const [claim] = await claimsOf(world);
    const ref = { kind: 'NodeClaim', name: claim?.name ?? '' } as const;
    await world.ports.cluster.delete(ref);
    const lastTransitionAtMs = world.timeline.nowMs();
    const ending = {
      type: 'InstanceTerminating',
      status: 'True',
      reason: '',
      message: '',
    } as const;
    await world.ports.cluster.patchNodeClaimStatus(ref, {
      conditions: (before) => [...before, { ...ending, lastTransitionAtMs }],
    });
    const unasked = async () => expect.fail('EC2 is asked');
    const ports = withPorts(world.ports, { compute: { describe: unasked } });
    const messages = (await forEachNode(world, 'stopped')).slice(0, 1);
    const { deleted, failedIds, refused } = await interrupt(ports, settings, messages);
    expect([deleted, failedIds, refused.size]).toEqual([[], [], 0]);
    const [after] = await claimsOf(world);
    expect(after?.annotations[INTERRUPTED]).toBeUndefined();
  });
});

describe('what EC2 cannot confirm', () => {
  it('takes a fifth of a pool, in however many batches at once', async () => {
    const world = await tenNodes();
    const messages = await forEachNode(world, 'reservation');
    const batches = [0, 2, 4, 6, 8].map((at) => messages.slice(at, at + 2));
    const reports = await Promise.all(
      batches.map((batch) => interrupt(world.ports, settings, batch)),
    );
    expect(reports.flatMap(({ deleted }) => deleted)).toHaveLength(2);
    expect(await leaving(world)).toBe(2);
    expect(reports.flatMap(({ failedIds }) => failedIds)).toHaveLength(8);
  });

  it('takes no more when the messages come again, until ten minutes are over', async () => {
    const world = await tenNodes();
    const messages = await forEachNode(world, 'reservation');
    const startMs = world.timeline.nowMs();
    const gone: number[] = [];
    for (const afterMs of [0, 1.5, 3, 4.5, 9.9, 10].map((minutes) => minutes * MINUTE)) {
      await world.run(startMs + afterMs);
      const { deleted } = await interrupt(world.ports, settings, messages);
      gone.push(deleted.length);
    }
    expect(gone).toEqual([2, 0, 0, 0, 0, 2]);
  });

  it('is noted before a claim is deleted, and not noted again when it comes again', async () => {
    const world = await tenNodes();
    const [message] = await forEachNode(world, 'reservation');
    const noted = async () =>
      (await world.ports.cluster.readNodePoolNotes('default'))?.annotations[UNCONFIRMED];
    const ports = withPorts(world.ports, {
      cluster: {
        delete: async () => {
          throw new PortError('unknown', '500', 'later');
        },
      },
    });
    const batch = message === undefined ? [] : [message];
    expect((await interrupt(ports, settings, batch)).failedIds).toEqual([message?.id]);
    const before = await noted();
    expect(Object.keys(JSON.parse(before ?? '{}'))).toHaveLength(1);
    expect((await interrupt(world.ports, settings, batch)).deleted).toHaveLength(1);
    expect(await noted()).toBe(before);
  });

  it.each<[string, Partial<Ports['cluster']>]>([
    ['is refused', { patchNodePool: async () => 'conflict' }],
    [
      'fails',
      {
        patchNodePool: async () => {
          throw new PortError('unknown', '500', 'later');
        },
      },
    ],
  ])('deletes nothing where the note %s', async (_, cluster) => {
    const world = await tenNodes();
    const [message] = await forEachNode(world, 'reservation');
    const ports = withPorts(world.ports, { cluster });
    const report = await interrupt(ports, settings, message === undefined ? [] : [message]);
    expect(report).toMatchObject({ deleted: [], failedIds: [message?.id] });
    expect(report.failures.map(({ object }) => object)).toEqual(['NodePool/default']);
    expect(await leaving(world)).toBe(0);
    expect((await claimsOf(world)).filter((each) => each.annotations[INTERRUPTED])).toEqual([]);
  });
});

describe('a state change of an instance that still runs, says EC2', () => {
  const tries: readonly (readonly [string, boolean, object])[] = [
    ['that is news comes again', false, { deleted: 0, failed: 1, refused: {} }],
    [
      'that is five minutes old is dropped',
      true,
      { deleted: 0, failed: 0, refused: { contradicted: 1 } },
    ],
  ];

  it.each(tries)('%s', async (_, isOld, expected) => {
    const world = await tenNodes();
    const [message] = await forEachNode(world, 'stopped');
    if (message === undefined) throw new Error('there is no node');
    const sentMs = world.timeline.nowMs() - (isOld ? 5 * MINUTE : 5 * MINUTE - 1_000);
    const { deleted, failedIds, refused } = await interrupt(world.ports, settings, [
      sentAt(message, sentMs),
    ]);
    const counts = { deleted: deleted.length, failed: failedIds.length };
    expect({ ...counts, refused: Object.fromEntries(refused) }).toEqual(expected);
  });

  it('that says it is of tomorrow is as old as it has been in the queue', async () => {
    const world = await tenNodes();
    const [message] = await forEachNode(world, 'stopped');
    if (message === undefined) throw new Error('there is no node');
    const nowMs = world.timeline.nowMs();
    const forged = { ...sentAt(message, nowMs + 60 * MINUTE), queuedAtMs: nowMs - 6 * MINUTE };
    const { failedIds, refused } = await interrupt(world.ports, settings, [forged]);
    expect([failedIds, refused]).toEqual([[], new Map([['contradicted', 1]])]);
  });
});

describe('spot warnings', () => {
  /** Batches of five at once, as Lambda hands them out: each to a process of its own. */
  async function handled(ports: Ports, messages: readonly QueueMessage[], onDeleted?: () => void) {
    const batches = [messages.slice(0, 5), messages.slice(5)];
    const told = async (): Promise<void> => onDeleted?.();
    return await Promise.all(
      batches.map((batch) => interrupt(withPorts(ports, {}), settings, batch, told)),
    );
  }

  it('that EC2 confirms are acted on at once, however many, and nothing is noted', async () => {
    const world = await tenNodes();
    const { waits, clock } = waiting(world);
    const asked: number[] = [];
    const spotRequests = async (ids: readonly string[]) => {
      asked.push(ids.length);
      return await world.compute.spotRequests(ids);
    };
    const ports = withPorts(world.ports, { clock, compute: { spotRequests } });
    await handled(ports, await warnings(world));
    expect(await leaving(world)).toBe(10);
    expect([waits, asked]).toEqual([[], [5, 5]]);
    const notes = await world.ports.cluster.readNodePoolNotes('default');
    expect(notes?.annotations[UNCONFIRMED]).toBeUndefined();
  });

  it('that are forged take a fifth of the pool, are refused after seconds and counted', async () => {
    const world = await tenNodes();
    const { waitedMs, clock } = waiting(world);
    const messages = await forEachNode(world, 'spot');
    const reports = await handled(withPorts(world.ports, { clock }), messages);
    expect(await leaving(world)).toBe(2);
    const refused = reports.map((each) => each.refused.get('unconfirmed') ?? 0);
    expect(refused.reduce((sum, each) => sum + each)).toBe(8);
    expect(reports.flatMap(({ failedIds }) => failedIds)).toEqual([]);
    expect(waitedMs()).toBeGreaterThanOrEqual(10_000);
    expect(waitedMs()).toBeLessThanOrEqual(2 * 10_000);
    const reasons = world.recorder.decisions.filter(({ action }) => action === 'none');
    expect(reasons.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('EC2 does not confirm the warning'),
    );
    // The same again, and others: nothing more goes.
    await handled(withPorts(world.ports, { clock }), await forEachNode(world, 'spot'));
    expect(await leaving(world)).toBe(2);
  });

  it('that are confirmed late go as soon as they are, and who drains is woken before', async () => {
    const world = await tenNodes();
    const goneAtWaits: number[] = [];
    const gone = () =>
      world.store.list('NodeClaim').filter(({ metadata }) => metadata.deletionTimestamp).length;
    const { waits, clock } = waiting(world, (waited) => {
      goneAtWaits.push(gone());
      if (waited === 2)
        for (const { id } of world.compute.machines.values()) world.compute.takeBack(id);
    });
    const told: number[] = [];
    const messages = await forEachNode(world, 'spot');
    const ports = withPorts(world.ports, { clock });
    const report = await interrupt(ports, settings, messages, async () => void told.push(gone()));
    expect(report).toMatchObject({ failedIds: [], refused: new Map() });
    expect(report.deleted).toHaveLength(10);
    expect(waits).toEqual([1000, 2000]);
    expect(goneAtWaits).toEqual([2, 2]);
    expect(told).toEqual([2, 10]);
  });

  it('are confirmed by instances that shut down, whatever their requests say', async () => {
    const world = await tenNodes();
    const messages = await forEachNode(world, 'spot');
    await world.compute.terminate([...world.compute.machines.keys()]);
    await handled(world.ports, messages);
    expect(await leaving(world)).toBe(10);
  });

  it('are acted on at once where EC2 cannot be asked', async () => {
    const world = await tenNodes();
    const spotRequests = async (): Promise<never> => {
      throw new PortError('throttled', 'RequestLimitExceeded', 'later');
    };
    const ports = withPorts(world.ports, { compute: { spotRequests } });
    await handled(ports, await forEachNode(world, 'spot'));
    expect(await leaving(world)).toBe(10);
  });

  it('come again where EC2 can be asked no more', async () => {
    const world = await tenNodes();
    let asked = 0;
    const spotRequests = async (ids: readonly string[]) => {
      asked += 1;
      if (asked > 1) throw new PortError('throttled', 'RequestLimitExceeded', 'later');
      return await world.compute.spotRequests(ids);
    };
    const { clock } = waiting(world);
    const ports = withPorts(world.ports, { clock, compute: { spotRequests } });
    const report = await interrupt(ports, settings, await forEachNode(world, 'spot'));
    expect(report.deleted).toHaveLength(2);
    expect(report.failedIds).toHaveLength(8);
  });

  it('come again where the note is refused, unless they are confirmed meanwhile', async () => {
    const world = await tenNodes();
    const messages = (await forEachNode(world, 'spot')).slice(0, 2);
    const [first] = await claimsOf(world);
    const { clock } = waiting(world, () =>
      world.compute.takeBack(instanceIdOf(first?.providerId) ?? ''),
    );
    const patchNodePool = async () => 'conflict' as const;
    const ports = withPorts(world.ports, { clock, cluster: { patchNodePool } });
    const report = await interrupt(ports, settings, messages);
    expect(report.deleted).toEqual([first?.name]);
    expect(report.failedIds).toEqual([messages[1]?.id]);
  });
});

describe('a warning beside a Karpenter', () => {
  /** Its Lease is so many seconds old; after so many waits it is renewed, if ever. */
  async function warned(ageSeconds: number, renewedAfter?: number) {
    const world = await tenNodes();
    const [first] = await warnings(world);
    const startMs = world.timeline.nowMs();
    const { waitedMs, waits, clock } = waiting(world);
    const renewedAtMs = (): number =>
      renewedAfter !== undefined && waits.length >= renewedAfter
        ? clock.nowMs()
        : startMs - ageSeconds * 1000;
    const { cluster } = world.ports;
    const readClaims: typeof cluster.readClaims = async (labelKey) => ({
      ...(await cluster.readClaims(labelKey)),
      karpenterRenewedAtMs: renewedAtMs(),
    });
    const ports = withPorts(world.ports, {
      clock,
      cluster: { readClaims, karpenterRenewedAtMs: async () => renewedAtMs() },
    });
    const batch = first === undefined ? [] : [first];
    const { deleted, failedIds } = await interrupt(ports, settings, batch);
    return { deleted: deleted.length, failedIds, seconds: waitedMs() / 1000 };
  }

  it.each<[string, number, number | undefined, number, number]>([
    ['that is alive is left to it', 2, undefined, 0, 0],
    ['that is elected anew is left to it, once that is known', 20, 2, 0, 10],
    ['that has ended is answered when its Lease counts no longer', 20, undefined, 1, 40],
    ['that has long ended is answered at once', 61, undefined, 1, 0],
  ])('%s', async (_, age, renewedAfter, deleted, seconds) => {
    expect(await warned(age, renewedAfter)).toEqual({ deleted, failedIds: [], seconds });
  });
});
