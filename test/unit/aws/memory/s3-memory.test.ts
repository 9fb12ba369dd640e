import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DecisionLog } from '../../../../shared/aws/memory/decision-log.ts';
import type { DecisionRecord, OfferingKey } from '../../../../shared/ports.ts';
import { WireFault } from '../../../support/aws/wire/response.ts';
import { TestBucket } from './bucket.ts';

const FAILED = { launchedAtMs: 0, tried: [] };
const HOUR_MS = 3_600_000;
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
  reasons: [],
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

describe('two writers of one object', () => {
  it('both are kept when one comes between reading and writing', async () => {
    const other = bucket.process();
    let interruptions = 0;
    const { memory, conditions } = bucket.process({
      before: async (command) => {
        if (command !== 'PutObjectCommand' || interruptions === 3) return;
        interruptions += 1;
        await other.memory.recordRegistration(`pool-${interruptions}`, FAILED);
        await other.memory.flush();
      },
    });
    await memory.recordRegistration('own', FAILED);
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
    await memory.recordRegistration('own', FAILED);
    await memory.flush();
    expect(conditions.at(-1)).toMatchObject({ key: REGISTRATIONS, reason: 'Contended' });
    expect(bucket.calls('PutObject')).toBe(5);
  });

  it('four processes at once lose nothing', async () => {
    const processes = Array.from({ length: 4 }, () => bucket.process());
    await Promise.all(
      processes.map(async ({ memory }, at) => {
        await memory.recordRegistration(`pool-${at}`, FAILED);
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
      await memory.recordRegistration('spot', FAILED);
    }
    await memory.recordRegistration('gpu', FAILED);
    await memory.recordRegistration('gpu', undefined);
    await memory.flush();
    const expected = [['spot', { count: 3, lastAtMs: bucket.nowMs }]];
    expect([...(await memory.failedRegistrations())]).toEqual(expected);
    expect([...(await bucket.process().memory.failedRegistrations())]).toEqual(expected);
  });

  it('keep what instances were to try that ended while they booted', async () => {
    const { memory } = bucket.process();
    await memory.recordRegistration('spot', { launchedAtMs: 0, tried: ['image a'] });
    await memory.recordRegistration('spot', FAILED);
    await memory.flush();
    const expected = {
      count: 2,
      lastAtMs: bucket.nowMs,
      tried: new Map([['image a', bucket.nowMs]]),
    };
    expect((await memory.failedRegistrations()).get('spot')).toEqual(expected);
    expect((await bucket.process().memory.failedRegistrations()).get('spot')).toEqual(expected);
  });

  it('keep that what was launched has changed since', async () => {
    const { memory } = bucket.process();
    await memory.recordRegistration('spot', FAILED);
    await memory.recordLaunchWay('spot', 'a');
    bucket.nowMs += 1000;
    await memory.recordLaunchWay('spot', 'b');
    await memory.recordLaunchWay('gpu', 'b');
    await memory.flush();
    const changed = {
      count: 1,
      lastAtMs: bucket.nowMs - 1000,
      way: 'b',
      changedAtMs: bucket.nowMs,
    };
    expect([...(await bucket.process().memory.failedRegistrations())]).toEqual([['spot', changed]]);
  });

  it('that succeed as always write nothing', async () => {
    const { memory } = bucket.process();
    await memory.recordRegistration('spot', undefined);
    await memory.flush();
    expect(bucket.calls('PutObject')).toBe(0);
    expect(bucket.keys()).toEqual([]);
  });
});

describe('allocatable memory', () => {
  const image = 'ami-00000001';

  it('is the lowest that any cluster saw on that type and image', async () => {
    const other = bucket.process({ cluster: 'other' });
    await other.memory.recordAllocatable('c7g.large', image, 950);
    await other.memory.flush();
    const { memory } = bucket.process();
    for (const bytes of [980, 960, 990]) await memory.recordAllocatable('c7g.large', image, bytes);
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
    await memory.recordAllocatable('c7g.large', image, learnt);
    expect((await memory.allocatable())('c7g.large', image, 1_000)).toBe(believed);
    await memory.flush();
  });

  it('is kept apart by what an image is started with', async () => {
    const { memory } = bucket.process();
    const started = `${image}/0123456789ab`;
    await memory.recordAllocatable('c7g.large', started, 900);
    await memory.flush();
    const allocatable = await bucket.process({ cluster: 'other' }).memory.allocatable();
    expect(allocatable('c7g.large', started, 1_000)).toBe(900);
    expect(allocatable('c7g.large', image, 1_000)).toBe(1_000);
  });

  it('is forgotten after sixty days', async () => {
    const { memory } = bucket.process();
    await memory.recordAllocatable('c7g.large', image, 900);
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
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    await memory.recordRegistration('spot', FAILED);
    await memory.recordAllocatable('c7g.large', 'ami-00000001', 1);
    log.add(record);
    await log.flush();
    await memory.flush();
    expect(await memory.unavailable()).toMatchObject([c7g]);
    expect((await memory.failedRegistrations()).get('spot')).toMatchObject({ count: 1 });
    expect(conditions.map(({ reason }) => reason)).toContain('Unreachable');
    expect(conditions.every(({ message }) => message.startsWith('s3:'))).toBe(true);

    bucket.cloud.server.heal();
    bucket.nowMs += 30_000;
    await memory.markUnavailable(c8g, 'ICE', 'shortage');
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
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
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
