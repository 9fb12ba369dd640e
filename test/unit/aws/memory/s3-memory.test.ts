import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DecisionLog } from '../../../../shared/aws/memory/decision-log.ts';
import type { DecisionRecord, OfferingKey } from '../../../../shared/ports.ts';
import { WireFault } from '../../../support/aws/wire/response.ts';
import { TestBucket } from './bucket.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNAVAILABLE = 'shared/us-east-1/unavailable';
const ALLOCATABLE = 'shared/us-east-1/allocatable';
const REGISTRATIONS = 'clusters/demo/registrations.json';

const c7g: OfferingKey = { instanceType: 'c7g.large', zone: 'us-east-1a', capacityType: 'spot' };
const c8g: OfferingKey = { ...c7g, instanceType: 'c8g.large' };

const record: DecisionRecord = {
  id: 'plan/1',
  atMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  useCase: 'provision',
  object: 'NodeClaim/default-x7k2p',
  action: 'launch',
  message: 'c7g.large is the cheapest',
  detail: { pods: 3 },
};

let bucket: TestBucket;

beforeEach(async () => {
  bucket = new TestBucket();
  await bucket.cloud.start();
});

afterEach(async () => {
  await bucket.cloud.stop();
});

function shortage(offering: OfferingKey, untilMs: number) {
  return { ...offering, reason: 'ICE', markedAtMs: bucket.nowMs, untilMs, times: 1 };
}

function file(...offerings: readonly object[]): string {
  return JSON.stringify({ version: 1, offerings });
}

describe('unavailable offerings', () => {
  it('are known to every process of the cluster, and to other clusters', async () => {
    const first = bucket.process();
    await first.memory.markUnavailable(c7g, 'InsufficientInstanceCapacity');
    await first.memory.flush();
    const expected = [
      { ...c7g, reason: 'InsufficientInstanceCapacity', untilMs: bucket.nowMs + 3 * MINUTE_MS },
    ];
    expect(await bucket.process().memory.unavailable()).toEqual(expected);
    expect(await bucket.process({ cluster: 'other' }).memory.unavailable()).toEqual(expected);
    expect(bucket.keys()).toEqual([`${UNAVAILABLE}/demo.json`]);
  });

  it('count at once, before they are written', async () => {
    const { memory } = bucket.process();
    bucket.put(`${UNAVAILABLE}/demo.json`, file(shortage(c8g, bucket.nowMs + MINUTE_MS)));
    await memory.markUnavailable(c7g, 'ICE');
    expect(await memory.unavailable()).toHaveLength(2);
  });

  it('are barred twice as long each time, up to six hours', async () => {
    const lengths: number[] = [];
    for (let times = 0; times < 10; times += 1) {
      const { memory } = bucket.process();
      await memory.markUnavailable(c7g, 'ICE');
      await memory.flush();
      const [{ untilMs } = { untilMs: 0 }] = await memory.unavailable();
      lengths.push((untilMs - bucket.nowMs) / MINUTE_MS);
      bucket.nowMs = untilMs;
      expect(await memory.unavailable()).toEqual([]);
    }
    expect(lengths).toEqual([3, 6, 12, 24, 48, 96, 192, 360, 360, 360]);
  });

  it('of one reservation, or for one class, are that in every process', async () => {
    const { memory } = bucket.process();
    const reserved = { ...c7g, capacityType: 'reserved', reservationId: 'cr-0123' } as const;
    const ofClass = { ...c7g, nodeClass: 'uid/3' };
    for (const each of [c7g, reserved, ofClass]) await memory.markUnavailable(each, 'ICE');
    await memory.flush();
    const barred = await bucket.process({ cluster: 'other' }).memory.unavailable();
    const untilMs = bucket.nowMs + 3 * MINUTE_MS;
    const expected = [reserved, c7g, ofClass].map((each) => ({ ...each, reason: 'ICE', untilMs }));
    expect(barred).toEqual(expected);
  });

  it('for one class are barred no longer each time: it may be mended by then', async () => {
    const { memory } = bucket.process();
    for (let times = 0; times < 3; times += 1) {
      await memory.markUnavailable({ ...c7g, nodeClass: 'uid/3' }, 'InvalidSnapshot.NotFound');
      const untilMs = bucket.nowMs + 3 * MINUTE_MS;
      expect(await memory.unavailable()).toMatchObject([{ untilMs }]);
      bucket.nowMs = untilMs;
    }
    await memory.flush();
  });

  it('begin anew after as long without a shortage', async () => {
    const { memory } = bucket.process();
    await memory.markUnavailable(c7g, 'ICE');
    bucket.nowMs += 3 * MINUTE_MS;
    await memory.markUnavailable(c7g, 'ICE');
    bucket.nowMs += 12 * MINUTE_MS;
    await memory.markUnavailable(c7g, 'ICE');
    expect(await memory.unavailable()).toMatchObject([{ untilMs: bucket.nowMs + 3 * MINUTE_MS }]);
    await memory.flush();
  });

  it('met by many fleets at once are one shortage, written once', async () => {
    const { memory } = bucket.process();
    for (let times = 0; times < 60; times += 1) await memory.markUnavailable(c7g, 'ICE');
    await memory.markUnavailable(c8g, 'ICE');
    await memory.flush();
    const untilMs = bucket.nowMs + 3 * MINUTE_MS;
    expect(await memory.unavailable()).toMatchObject([{ untilMs }, { untilMs }]);
    expect(bucket.calls('PutObject')).toBe(1);
  });

  it('of several writers: the latest end counts', async () => {
    const at = bucket.nowMs;
    bucket.put(`${UNAVAILABLE}/a.json`, file(shortage(c7g, at + HOUR_MS), shortage(c8g, at - 1)));
    bucket.put(`${UNAVAILABLE}/b.json`, file(shortage(c7g, at + 2 * HOUR_MS)));
    bucket.put(`${UNAVAILABLE}/notes.txt`, 'not a file of ours');
    const { memory, conditions } = bucket.process();
    expect(await memory.unavailable()).toMatchObject([{ ...c7g, untilMs: at + 2 * HOUR_MS }]);
    expect(conditions).toEqual([]);
  });

  it('are looked up in others’ files once a minute, in our own every five seconds', async () => {
    const { memory } = bucket.process();
    expect(await memory.unavailable()).toEqual([]);
    bucket.put(`${UNAVAILABLE}/a.json`, file(shortage(c7g, bucket.nowMs + HOUR_MS)));
    bucket.put(`${UNAVAILABLE}/demo.json`, file(shortage(c8g, bucket.nowMs + HOUR_MS)));
    expect(await memory.unavailable()).toEqual([]);
    bucket.nowMs += 5_000;
    expect(await memory.unavailable()).toMatchObject([c8g]);
    bucket.nowMs += 55_000;
    expect(await memory.unavailable()).toMatchObject([c7g, c8g]);
  });

  const far = (hours: number) => file(shortage(c7g, bucket.nowMs + hours * HOUR_MS));
  it.each<readonly [string, () => string, number]>([
    ['no JSON', () => '{"version": 1, "offerings": [', 0],
    ['nothing', () => '', 0],
    ['another version', () => '{"version": 2, "offerings": []}', 0],
    ['a type that is none', () => file({ ...shortage(c7g, 0), instanceType: '*' }), 0],
    ['a bar of seven hours', () => far(7), 0],
    ['and a bar of six is fine', () => far(6), 1],
  ])('are not believed from a file that holds %s', async (_, body, expected) => {
    bucket.put(`${UNAVAILABLE}/other.json`, body());
    bucket.put(`${UNAVAILABLE}/demo.json`, body());
    const { memory, conditions } = bucket.process();
    expect(await memory.unavailable()).toHaveLength(expected);
    const reasons = conditions.map(({ key, reason }) => `${key} ${reason}`).sort();
    const invalid = ['demo', 'other'].map((name) => `${UNAVAILABLE}/${name}.json Invalid`);
    expect(reasons).toEqual(expected === 0 ? invalid : []);
  });

  it('are known but for those entries that cannot be true', async () => {
    const until = bucket.nowMs + HOUR_MS;
    const wrong = { ...shortage(c7g, until), capacityType: 'free' };
    bucket.put(`${UNAVAILABLE}/demo.json`, file(wrong, shortage(c8g, until)));
    const { memory, conditions } = bucket.process();
    expect(await memory.unavailable()).toMatchObject([c8g]);
    expect(conditions).toEqual([
      {
        key: `${UNAVAILABLE}/demo.json`,
        reason: 'Invalid',
        message: `${UNAVAILABLE}/demo.json: 1 entries cannot be true`,
      },
    ]);
  });

  it('stay below what a file may hold, the newest of them', async () => {
    const { memory, conditions } = bucket.process();
    for (let at = 0; at < 2_010; at += 1) {
      await memory.markUnavailable({ ...c7g, instanceType: `x${at}.large` }, 'ICE');
    }
    await memory.flush();
    const read = await bucket.process().memory.unavailable();
    expect(read).toHaveLength(2_000);
    expect(read.some(({ instanceType }) => instanceType === 'x2009.large')).toBe(true);
    expect(conditions).toEqual([]);
  });

  it('overwrite a file of ours that is broken', async () => {
    bucket.put(`${UNAVAILABLE}/demo.json`, 'broken');
    const { memory, conditions } = bucket.process();
    await memory.markUnavailable(c7g, 'ICE');
    await memory.flush();
    expect(await bucket.process().memory.unavailable()).toMatchObject([c7g]);
    expect(conditions.map(({ reason }) => reason)).toEqual(['Invalid', 'Usable']);
  });
});

describe('two writers of one object', () => {
  it('both are kept when one comes between reading and writing', async () => {
    const other = bucket.process();
    let interruptions = 0;
    const { memory, conditions } = bucket.process({
      before: async (command) => {
        if (command !== 'PutObjectCommand' || interruptions === 3) return;
        interruptions += 1;
        await other.memory.recordRegistration(`pool-${interruptions}`, false);
        await other.memory.flush();
      },
    });
    await memory.recordRegistration('own', false);
    await memory.flush();
    const failed = await bucket.process().memory.failedRegistrations();
    expect([...failed.keys()].sort()).toEqual(['own', 'pool-1', 'pool-2', 'pool-3']);
    expect(conditions).toEqual([]);
  });

  it('one that never gets through says so, and goes on', async () => {
    let others = 0;
    const { memory, conditions } = bucket.process({
      before: (command) => {
        if (command !== 'PutObjectCommand') return;
        others += 1;
        bucket.put(REGISTRATIONS, `{"version": 1, "pools": {}, "others": ${others}}`);
      },
    });
    await memory.recordRegistration('own', false);
    await memory.flush();
    expect(conditions.at(-1)).toMatchObject({ key: REGISTRATIONS, reason: 'Contended' });
    expect(bucket.calls('PutObject')).toBe(5);
  });

  it('four processes at once lose nothing', async () => {
    const processes = Array.from({ length: 4 }, () => bucket.process());
    await Promise.all(
      processes.map(async ({ memory }, at) => {
        await memory.recordRegistration(`pool-${at}`, false);
        await memory.flush();
      }),
    );
    expect((await bucket.process().memory.failedRegistrations()).size).toBe(4);
  });
});

describe('registrations', () => {
  it('count failures in a row by pool', async () => {
    const { memory } = bucket.process();
    for (const at of [1, 2, 3]) {
      bucket.nowMs += at;
      await memory.recordRegistration('spot', false);
    }
    await memory.recordRegistration('gpu', false);
    await memory.recordRegistration('gpu', true);
    await memory.flush();
    const expected = [['spot', { count: 3, lastAtMs: bucket.nowMs }]];
    expect([...(await memory.failedRegistrations())]).toEqual(expected);
    expect([...(await bucket.process().memory.failedRegistrations())]).toEqual(expected);
  });

  it('that succeed as always write nothing', async () => {
    const { memory } = bucket.process();
    await memory.recordRegistration('spot', true);
    await memory.flush();
    expect(bucket.calls('PutObject')).toBe(0);
    expect(bucket.keys()).toEqual([]);
  });
});

describe('allocatable memory', () => {
  const image = 'ami-00000001';

  it('is the lowest that any cluster saw on that type and image', async () => {
    const other = bucket.process({ cluster: 'other' });
    await other.memory.learnAllocatable('c7g.large', image, 950);
    await other.memory.flush();
    const { memory } = bucket.process();
    for (const bytes of [980, 960, 990]) await memory.learnAllocatable('c7g.large', image, bytes);
    const allocatable = await memory.allocatable();
    expect(allocatable('c7g.large', image, 1_000)).toBe(950);
    expect(allocatable('c7g.large', 'ami-00000002', 1_000)).toBe(1_000);
    expect(allocatable('c8g.large', image, 1_000)).toBe(1_000);
    await memory.flush();
    expect(bucket.text(`${ALLOCATABLE}/demo.json`)).toContain('960');
  });

  it.each([
    [1_200, 1_200],
    [1_201, 1_000],
    [800, 800],
    [799, 1_000],
  ])('learnt as %d bytes where 1,000 were computed is %d', async (learnt, believed) => {
    const { memory } = bucket.process();
    await memory.learnAllocatable('c7g.large', image, learnt);
    expect((await memory.allocatable())('c7g.large', image, 1_000)).toBe(believed);
    await memory.flush();
  });

  it('is forgotten after sixty days', async () => {
    const { memory } = bucket.process();
    await memory.learnAllocatable('c7g.large', image, 900);
    await memory.flush();
    bucket.nowMs += 60 * 24 * HOUR_MS;
    expect((await memory.allocatable())('c7g.large', image, 1_000)).toBe(1_000);
  });
});

describe('decisions', () => {
  const key = 'clusters/demo/decisions/2026-01-02/03-04-05.678-provision-plan-1.ndjson';

  it('of an invocation are one object, each told once', async () => {
    const { objects, conditions } = bucket.process();
    const log = new DecisionLog(objects, 'demo');
    for (const each of [record, { ...record, id: 'plan/2' }, record]) log.add(each);
    await log.flush();
    await log.flush();
    expect(bucket.keys()).toEqual([key]);
    const lines = bucket.text(key).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([record, { ...record, id: 'plan/2' }]);
    expect(bucket.calls('PutObject')).toBe(1);
    const again = new DecisionLog(objects, 'demo');
    again.add(record);
    await again.flush();
    expect(conditions).toEqual([]);
  });
});

describe('without S3', () => {
  it.each([
    ['refused', new WireFault('AccessDenied', 'not allowed to s3:GetObject', 403)],
    ['failing', new WireFault('InternalError', 'try again', 500)],
    ['slow', new WireFault('SlowDown', 'reduce your rate', 503)],
    ['without the bucket', new WireFault('NoSuchBucket', 'gone', 404)],
    ['unreachable', 'disconnect'],
  ] as const)('%s: answers are empty, this process still knows what it saw', async (_, fault) => {
    for (const operation of ['GetObject', 'PutObject', 'ListObjectsV2']) {
      bucket.cloud.server.fail('s3', operation, fault);
    }
    const { objects, memory, conditions } = bucket.process();
    const log = new DecisionLog(objects, 'demo');
    expect(await memory.unavailable()).toEqual([]);
    expect([...(await memory.failedRegistrations())]).toEqual([]);
    await memory.markUnavailable(c7g, 'ICE');
    await memory.recordRegistration('spot', false);
    await memory.learnAllocatable('c7g.large', 'ami-00000001', 1);
    log.add(record);
    await log.flush();
    await memory.flush();
    expect(await memory.unavailable()).toMatchObject([c7g]);
    expect((await memory.failedRegistrations()).get('spot')).toMatchObject({ count: 1 });
    expect(conditions.map(({ reason }) => reason)).toContain('Unreachable');
    expect(conditions.every(({ message }) => message.startsWith('s3:'))).toBe(true);

    bucket.cloud.server.heal();
    bucket.nowMs += 30_000;
    await memory.markUnavailable(c8g, 'ICE');
    await memory.flush();
    expect(bucket.text(`${UNAVAILABLE}/demo.json`)).toContain('c8g.large');
    log.add(record);
    await log.flush();
    const reasons = Map.groupBy(conditions, ({ key }) => key);
    for (const key of [`${UNAVAILABLE}/demo.json`, 'clusters/demo/decisions/']) {
      const last = reasons.get(key)?.at(-1)?.reason ?? 'Usable';
      expect([key, last]).toEqual([key, 'Usable']);
    }
  });

  it('one that never answers is waited for once, then left alone for half a minute', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    let calls = 0;
    const { memory, conditions } = bucket.process({
      endpoint: `http://127.0.0.1:${port}`,
      timeoutMs: 100,
      before: () => {
        calls += 1;
      },
    });
    const startMs = performance.now();
    expect(await memory.unavailable()).toEqual([]);
    await memory.markUnavailable(c7g, 'ICE');
    await memory.flush();
    expect(await memory.unavailable()).toMatchObject([c7g]);
    expect(performance.now() - startMs).toBeLessThan(1_000);
    expect(conditions.map(({ reason }) => reason)).toEqual(['Unreachable', 'Unreachable']);
    const before = calls;
    await memory.failedRegistrations();
    expect(calls).toBe(before);
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });
});
