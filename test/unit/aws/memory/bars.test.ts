import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OfferingKey } from '../../../../shared/ports.ts';
import { TestBucket } from './bucket.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const UNAVAILABLE = 'shared/us-east-1/unavailable';

const c7g: OfferingKey = { instanceType: 'c7g.large', zone: 'us-east-1a', capacityType: 'spot' };
const c8g: OfferingKey = { ...c7g, instanceType: 'c8g.large' };

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
    await first.memory.markUnavailable(c7g, 'InsufficientInstanceCapacity', 'shortage');
    await first.memory.flush();
    const expected = [
      {
        ...c7g,
        kind: 'shortage',
        reason: 'InsufficientInstanceCapacity',
        markedAtMs: bucket.nowMs,
        untilMs: bucket.nowMs + 3 * MINUTE_MS,
      },
    ];
    expect(await bucket.process().memory.unavailable()).toEqual(expected);
    const foreign = expected.map((each) => ({ ...each, isForeign: true }));
    expect(await bucket.process({ cluster: 'other' }).memory.unavailable()).toEqual(foreign);
    expect(bucket.keys()).toEqual([`${UNAVAILABLE}/demo.json`]);
  });

  it('count at once, before they are written', async () => {
    const { memory } = bucket.process();
    bucket.put(`${UNAVAILABLE}/demo.json`, file(shortage(c8g, bucket.nowMs + MINUTE_MS)));
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    expect(await memory.unavailable()).toHaveLength(2);
  });

  it('are barred twice as long each time, up to six hours', async () => {
    const lengths: number[] = [];
    for (let times = 0; times < 10; times += 1) {
      const { memory } = bucket.process();
      await memory.markUnavailable(c7g, 'ICE', 'shortage');
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
    for (const each of [c7g, reserved, ofClass])
      await memory.markUnavailable(each, 'ICE', 'shortage');
    await memory.flush();
    const barred = await bucket.process({ cluster: 'other' }).memory.unavailable();
    const untilMs = bucket.nowMs + 3 * MINUTE_MS;
    const markedAtMs = bucket.nowMs;
    const since = { kind: 'shortage', reason: 'ICE', markedAtMs, untilMs, isForeign: true };
    const expected = [reserved, c7g, ofClass].map((each) => ({ ...each, ...since }));
    expect(barred).toEqual(expected);
  });

  it('for one class are barred no longer each time: it may be mended by then', async () => {
    const { memory } = bucket.process();
    for (let times = 0; times < 3; times += 1) {
      await memory.markUnavailable(
        { ...c7g, nodeClass: 'uid/3' },
        'InvalidSnapshot.NotFound',
        'class',
      );
      const untilMs = bucket.nowMs + 3 * MINUTE_MS;
      expect(await memory.unavailable()).toMatchObject([{ untilMs }]);
      bucket.nowMs = untilMs;
    }
    await memory.flush();
  });

  it('of a used-up quota are barred no longer each time, and free when an instance ends', async () => {
    const { memory } = bucket.process();
    for (let times = 0; times < 3; times += 1) {
      await memory.markUnavailable(c7g, 'VcpuLimitExceeded', 'quota');
      const untilMs = bucket.nowMs + 3 * MINUTE_MS;
      expect(await memory.unavailable()).toMatchObject([{ kind: 'quota', untilMs }]);
      bucket.nowMs = untilMs;
    }
    await memory.markUnavailable(c7g, 'VcpuLimitExceeded', 'quota');
    await memory.markUnavailable(c8g, 'ICE', 'shortage');
    await memory.forgetBars('quota');
    expect(await memory.unavailable()).toMatchObject([c8g]);
    await memory.flush();
    expect(await bucket.process().memory.unavailable()).toMatchObject([c8g]);
  });

  it('of a quota are forgotten by a process that has looked before they were there', async () => {
    const [launching, ending] = [bucket.process().memory, bucket.process().memory];
    expect(await ending.unavailable()).toEqual([]);
    await launching.markUnavailable(c7g, 'VcpuLimitExceeded', 'quota');
    await launching.flush();
    bucket.nowMs += MINUTE_MS;
    await ending.forgetBars('quota');
    await ending.flush();
    expect(await launching.unavailable()).toEqual([]);
  });

  it('do not hold subnets, which are known by themselves', async () => {
    const { memory } = bucket.process();
    const subnetId = 'subnet-0123456789abcdef0';
    await memory.markUnavailable({ subnetId }, 'InsufficientFreeAddressesInSubnet', 'subnet');
    await memory.flush();
    const other = bucket.process({ cluster: 'other' }).memory;
    expect(await other.unavailable()).toEqual([]);
    expect(await other.unavailableSubnets()).toEqual(new Set([subnetId]));
    bucket.nowMs += 3 * MINUTE_MS;
    expect(await other.unavailableSubnets()).toEqual(new Set());
  });

  it('begin anew after as long without a shortage', async () => {
    const { memory } = bucket.process();
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    bucket.nowMs += 3 * MINUTE_MS;
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    bucket.nowMs += 12 * MINUTE_MS;
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    expect(await memory.unavailable()).toMatchObject([{ untilMs: bucket.nowMs + 3 * MINUTE_MS }]);
    await memory.flush();
  });

  it('met by many fleets at once are one shortage, written once', async () => {
    const { memory } = bucket.process();
    for (let times = 0; times < 60; times += 1)
      await memory.markUnavailable(c7g, 'ICE', 'shortage');
    await memory.markUnavailable(c8g, 'ICE', 'shortage');
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
      await memory.markUnavailable({ ...c7g, instanceType: `x${at}.large` }, 'ICE', 'shortage');
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
    await memory.markUnavailable(c7g, 'ICE', 'shortage');
    await memory.flush();
    expect(await bucket.process().memory.unavailable()).toMatchObject([c7g]);
    expect(conditions.map(({ reason }) => reason)).toEqual(['Invalid', 'Usable']);
  });
});
