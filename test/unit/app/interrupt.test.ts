import { describe, expect, it } from 'vitest';
import { interrupt, type QueueMessage } from '../../../shared/app/interrupt.ts';
import { instanceIdOf } from '../../../shared/core/lifecycle/actions.ts';
import { INTERRUPTED, UNCONFIRMED } from '../../../shared/core/model/labels.ts';
import { PortError, type Ports } from '../../../shared/ports.ts';
import { ACCOUNT, type World } from '../../../shared/sim/world.ts';
import { MINUTE, runningWorld, settings, spread, withPorts } from './world.ts';

const EVENTS = {
  spot: { source: 'aws.ec2', 'detail-type': 'EC2 Spot Instance Interruption Warning' },
  reservation: {
    source: 'aws.ec2',
    'detail-type': 'EC2 Capacity Reservation Instance Interruption Warning',
  },
} as const;

function messageOf(world: World, kind: keyof typeof EVENTS, id: string): QueueMessage {
  const body = JSON.stringify({
    ...EVENTS[kind],
    account: ACCOUNT,
    region: 'us-east-1',
    time: new Date(world.timeline.nowMs()).toISOString(),
    detail: { 'instance-id': id },
  });
  return { id: `m-${id}`, body };
}

async function claimsOf({ ports }: World) {
  return (await ports.cluster.readClaims()).nodeClaims;
}

async function leaving(world: World): Promise<number> {
  return (await claimsOf(world)).filter(({ deletedAtMs }) => deletedAtMs !== undefined).length;
}

async function forEachNode(world: World, kind: keyof typeof EVENTS) {
  const ids = (await claimsOf(world)).map((claim) => instanceIdOf(claim.providerId) ?? '');
  return ids.map((id) => messageOf(world, kind, id));
}

const tenNodes = () => runningWorld([spread('web', 10)], 'spot');

describe('a batch of messages', () => {
  it('is not failed by a message that cannot be read', async () => {
    const world = await tenNodes();
    const [first, second] = await forEachNode(world, 'spot');
    const poison = { id: 'poison', body: first?.body.replace('"aws.ec2"', '{"toString":1}') ?? '' };
    const batch = [poison, ...[first, second].flatMap((each) => each ?? [])];
    const report = await interrupt(world.ports, settings, batch);
    expect(report.deleted).toHaveLength(2);
    expect(report.failedIds).toEqual([]);
    expect(report.refused).toEqual(new Map([['malformed', 1]]));
  });

  it('is not failed by a message whose claim cannot be written, for whatever reason', async () => {
    const world = await tenNodes();
    const batch = (await forEachNode(world, 'spot')).slice(0, 3);
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
    expect(report.failures).toEqual([
      { object: `NodeClaim/${claim?.name}`, message: 'TypeError: a fault of ours' },
    ]);
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
    ['finds no pool', { readNodePoolNotes: async () => undefined }],
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
