import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { S3GroupUsages } from '../../../../shared/aws/memory/group-usages.ts';
import type { ClusterUsage } from '../../../../shared/core/limit-groups/group-usage.ts';
import { REGION, TestBucket } from './bucket.ts';

const KEY = 'limit-groups/us-east-1/batch.json';
const ROW: ClusterUsage = {
  used: { nodes: 2, cpu: 8000, memory: 2 ** 30, 'joiner.dev/price': 250_000 },
  pending: [{ name: 'a-1', takes: { nodes: 1, cpu: 4000 }, untilMs: 7 }],
  caps: 'nodes=9 shared',
};

let bucket: TestBucket;

beforeEach(async () => {
  bucket = new TestBucket();
  await bucket.cloud.start();
});

afterEach(async () => {
  await bucket.cloud.stop();
});

/** The version that was written. */
function versionOf(written: Awaited<ReturnType<S3GroupUsages['write']>>): string {
  if (typeof written === 'string') throw new Error(`not written: ${written}`);
  return written.version;
}

function opened(changes: Parameters<TestBucket['process']>[0] = {}) {
  const process = bucket.process(changes);
  return { usages: new S3GroupUsages(process.objects, REGION), conditions: process.conditions };
}

describe('what clusters hold, in the bucket', () => {
  it('is read as it was written', async () => {
    const { usages } = opened();
    expect(await usages.read('batch')).toEqual({ usage: new Map(), version: undefined });
    const usage = new Map([['blue', ROW]]);
    const written = await usages.write('batch', usage, undefined);
    expect(await usages.read('batch')).toEqual({ usage, version: versionOf(written) });
    expect(bucket.keys()).toEqual([KEY]);
    expect(JSON.parse(bucket.text(KEY))).toEqual({
      version: 1,
      clusters: {
        blue: {
          used: { nodes: 2, cpuMilli: 8000, memoryBytes: 2 ** 30, priceMillionths: 250_000 },
          pending: [{ name: 'a-1', takes: { nodes: 1, cpuMilli: 4000 }, untilMs: 7 }],
          caps: 'nodes=9 shared',
        },
      },
    });
  });

  it('is written only by who has seen it as it is', async () => {
    const [one, other] = [opened().usages, opened().usages];
    const usage = new Map([['blue', ROW]]);
    const first = await one.write('batch', usage, undefined);
    expect(await other.write('batch', usage, undefined)).toBe('conflict');
    expect(await other.write('batch', usage, 'another')).toBe('conflict');
    const changed = new Map([['blue', { ...ROW, used: { nodes: 3 } }]]);
    expect(await other.write('batch', changed, versionOf(first))).toMatchObject({
      version: expect.any(String),
    });
    expect(await one.write('batch', usage, versionOf(first))).toBe('conflict');
  });

  it.each([
    ['no JSON', '{'],
    ['another document', '{"version":1,"offerings":[]}'],
    ['an amount below zero', JSON.stringify(documentOf({ nodes: -1 }))],
    ['a resource that nobody knows', JSON.stringify(documentOf({ pods: 1 }))],
  ])('is not known where the object is %s', async (_, text) => {
    bucket.put(KEY, text);
    const { usages, conditions } = opened();
    expect(await usages.read('batch')).toBeUndefined();
    expect(conditions).toMatchObject([{ key: KEY, reason: 'Invalid' }]);
  });

  it('is not known where S3 does not answer', async () => {
    const { usages } = opened({ endpoint: 'http://127.0.0.1:1', timeoutMs: 200 });
    expect(await usages.read('batch')).toBeUndefined();
    expect(await usages.write('batch', new Map(), undefined)).toBe('failed');
  });
});

function documentOf(used: object) {
  return { version: 1, clusters: { blue: { used, pending: [], caps: '' } } };
}
