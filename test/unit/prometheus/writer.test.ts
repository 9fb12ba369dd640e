import { describe, expect, it } from 'vitest';
import type { TotalsStore } from '../../../functions/metrics/totals-store.ts';
import { RemoteWriter } from '../../../functions/metrics/writer.ts';
import type { ClusterView } from '../../../shared/ports/metrics.ts';
import { EMPTY_VIEW } from '../../builders/cluster-view.ts';
import { podOf } from '../../builders/scheduling.ts';
import { deliveryOf, measurementLine, reportLine } from '../../support/prometheus/deliveries.ts';
import {
  lastValues,
  type ReadSeries,
  readWriteRequest,
} from '../../support/prometheus/read-request.ts';

const OWN = 'cluster="demo",instance="joiner",job="karpenter"';
const QUEUED = `workqueue_depth{cluster="demo",instance="joiner",job="karpenter",name="interrupt"}`;
const CREATED = 'karpenter_nodes_created_total';

/** A bucket with one object, in which another writer is first as often as `rivals` says. */
function bucketOf(rivals = 0): TotalsStore & { rivals: number; fails: boolean } {
  let stored: { body: Uint8Array; etag: string } | undefined;
  let version = 0;
  const bucket = {
    rivals,
    fails: false,
    key: 'clusters/demo/metrics/totals.json',
    sleep: async () => undefined,
    objects: {
      read: async () => (bucket.fails ? undefined : (stored ?? ('absent' as const))),
      write: async (_: string, body: Uint8Array, etag: string | undefined) => {
        if (bucket.rivals > 0) {
          bucket.rivals -= 1;
          return 'conflict' as const;
        }
        if (etag !== stored?.etag) return 'conflict' as const;
        version += 1;
        stored = { body, etag: `v${version}` };
        return { etag: stored.etag };
      },
    },
  };
  return bucket;
}

function writerOf(store = bucketOf()) {
  const world = {
    nowMs: 60_000,
    view: EMPTY_VIEW as ClusterView | Error,
    queued: 0 as number | Error,
    status: 200,
  };
  const requests: (readonly ReadSeries[])[] = [];
  const parts = {
    cluster: 'demo',
    version: '1.2.3',
    perPod: true,
    store,
    sender: {
      endpoint: new URL('http://127.0.0.1:9090/api/v1/write'),
      authorize: async (_: URL, headers: Readonly<Record<string, string>>) => headers,
      version: '1.2.3',
      post: async (_: URL, __: object, body: Uint8Array) => {
        if (world.status === 200) requests.push(readWriteRequest(body));
        return { status: world.status, retryAfter: undefined, text: '' };
      },
      sleep: async () => undefined,
    },
    view: async () => {
      if (world.view instanceof Error) throw world.view;
      return world.view;
    },
    queueDepth: async () => {
      if (world.queued instanceof Error) throw world.queued;
      return world.queued;
    },
    functionOf: (group: string) => /joiner-demo-(\w+)$/.exec(group)?.[1],
    nowMs: () => world.nowMs,
  };
  const last = (): ReadonlyMap<string, number> => lastValues(requests.at(-1) ?? []);
  return { world, requests, last, store, writer: new RemoteWriter(parts), parts };
}

const created = (id: string, by = 1) => measurementLine(id, 60_000, [[CREATED, {}, by]]);

describe('what is counted', () => {
  it('is one series of all functions, sandboxes and deliveries', async () => {
    const { writer, parts, last } = writerOf();
    await writer.count(deliveryOf('demo', 'lifecycle', [created('1'), created('2', 2)]));
    // Another sandbox of the function, at the same time.
    await new RemoteWriter(parts).count(deliveryOf('demo', 'disrupt', [created('3')]));
    await new RemoteWriter(parts).count(deliveryOf('demo', 'disrupt', [created('3')]));
    await writer.count(deliveryOf('demo', 'disrupt', [reportLine('4', 60_000, 70)]));
    await writer.write();
    expect(last().get(`${CREATED}{${OWN}}`)).toBe(4);
    const run = `cluster="demo",controller="disrupt",instance="joiner",job="karpenter"`;
    expect(last().get(`controller_runtime_reconcile_time_seconds_count{${run}}`)).toBe(1);
  });

  it('goes on where the sandbox ends, and never falls', async () => {
    const { writer, parts, world, requests } = writerOf();
    await writer.count(deliveryOf('demo', 'lifecycle', [created('1', 5)]));
    await writer.write();
    world.nowMs += 60_000;
    const next = new RemoteWriter(parts);
    await next.count(deliveryOf('demo', 'lifecycle', [created('2')]));
    await next.write();
    expect(requests.map((each) => lastValues(each).get(`${CREATED}{${OWN}}`))).toEqual([5, 6]);
    const times = requests.flat().flatMap(({ samples }) => samples.map(({ atMs }) => atMs));
    expect([...new Set(times)]).toEqual([60_000, 120_000]);
  });

  it('meets other writers of the bucket, up to a bound', async () => {
    const met = writerOf(bucketOf(7));
    await met.writer.count(deliveryOf('demo', 'lifecycle', [created('1')]));
    await met.writer.write();
    expect(met.last().get(`${CREATED}{${OWN}}`)).toBe(1);
    const lost = writerOf(bucketOf(8));
    await expect(
      lost.writer.count(deliveryOf('demo', 'lifecycle', [created('1')])),
    ).rejects.toThrow('was changed by others 8 times');
  });

  it('comes again where the bucket does not answer', async () => {
    const store = bucketOf();
    store.fails = true;
    await expect(
      writerOf(store).writer.count(deliveryOf('demo', 'lifecycle', [created('1')])),
    ).rejects.toThrow('clusters/demo/metrics/totals.json cannot be read from the bucket');
  });
});

describe('what is written', () => {
  it('has the end of series that are gone, once', async () => {
    const { writer, world, requests } = writerOf();
    world.view = { ...EMPTY_VIEW, pods: [podOf('web', {}, { nodeName: 'n1' })] };
    await writer.write();
    const of = (at: number) =>
      (requests[at] ?? []).filter(({ labels }) =>
        labels.some(([, value]) => value === 'karpenter_pods_state'),
      );
    world.view = EMPTY_VIEW;
    world.nowMs = 120_000;
    expect(await writer.write()).toMatchObject({ ended: 1 });
    world.nowMs = 180_000;
    expect(await writer.write()).toMatchObject({ ended: 0 });
    expect(of(0).map(({ samples }) => samples)).toMatchObject([[{ atMs: 60_000, value: 1 }]]);
    expect(of(1).map(({ samples }) => samples)).toMatchObject([
      [{ atMs: 120_000, bits: 0x7ff0000000000002n }],
    ]);
    expect(of(2)).toEqual([]);
  });

  it('has no gauges of a cluster that does not answer, and all that was counted', async () => {
    const { writer, world, last } = writerOf();
    await writer.count(deliveryOf('demo', 'lifecycle', [created('1')]));
    world.view = new Error('connect ECONNREFUSED');
    expect(await writer.write()).toMatchObject({ unread: ['connect ECONNREFUSED'], failed: 0 });
    expect([...last()]).toEqual([
      [`karpenter_cluster_state_synced{${OWN}}`, 0],
      [QUEUED, 0],
      [`${CREATED}{${OWN}}`, 1],
    ]);
  });

  it('has how many messages wait for interrupt, where SQS says so', async () => {
    const { writer, world, last } = writerOf();
    world.queued = 7;
    expect(await writer.write()).toMatchObject({ unread: [] });
    expect(last().get(QUEUED)).toBe(7);
    world.nowMs += 60_000;
    world.queued = new Error('sqs:GetQueueAttributes: timed out');
    expect(await writer.write()).toMatchObject({
      unread: ['sqs:GetQueueAttributes: timed out'],
      ended: 1,
    });
  });

  it('knows what was not written, once it can be', async () => {
    const { writer, world, last } = writerOf();
    world.status = 400;
    const { failed, faults } = await writer.write();
    expect({ failed, faults }).toEqual({ failed: 4, faults: ['status 400'] });
    world.status = 200;
    world.nowMs += 60_000;
    await writer.write();
    expect(last().get(`joiner_remote_write_failed_samples_total{${OWN}}`)).toBe(4);
  });

  it('has no start of a pod that is not ready for a while, however long ago it was made', async () => {
    const { writer, world, last } = writerOf();
    const old = podOf('old', {}, { nodeName: 'n1', createdAtMs: 0 });
    const quick = podOf('quick', {}, { nodeName: 'n1', createdAtMs: 150_000, ready: false });
    const at = async (nowMs: number, pods: ClusterView['pods'], readyAtMs: number) => {
      const podTimes = new Map(
        pods.filter(({ ready }) => ready).map(({ uid }) => [uid, { boundAtMs: 1_000, readyAtMs }]),
      );
      world.view = { ...EMPTY_VIEW, pods, podTimes };
      world.nowMs = nowMs;
      await writer.write();
    };
    await at(60_000, [old], 10_000);
    await at(120_000, [{ ...old, ready: false }], 10_000);
    // The second pod was made since, and has left the phase Pending already.
    await at(180_000, [old, quick], 170_000);
    const waits = [...last().keys()].filter((key) => key.includes('unstarted_time'));
    expect(waits).toEqual([expect.stringContaining('name="quick"')]);
    await at(240_000, [old, { ...quick, ready: true }], 200_000);
    expect(last().get(`karpenter_pods_startup_duration_seconds_sum{${OWN}}`)).toBe(50);
    expect(last().get(`karpenter_pods_startup_duration_seconds_count{${OWN}}`)).toBe(1);
  });

  it('begins a new counter with 0 also where its first writing failed', async () => {
    const { writer, world, requests } = writerOf();
    await writer.write();
    await writer.count(deliveryOf('demo', 'lifecycle', [created('1', 7)]));
    world.nowMs = 120_000;
    world.status = 503;
    await writer.write();
    world.status = 200;
    world.nowMs = 180_000;
    await writer.write();
    const series = (requests.at(-1) ?? []).find(({ labels }) =>
      labels.some(([, value]) => value === CREATED),
    );
    expect(series?.samples).toMatchObject([
      { atMs: 120_000, value: 0 },
      { atMs: 180_000, value: 7 },
    ]);
  });

  it('has how long pods took that were starting when it was written last', async () => {
    const { writer, world, last } = writerOf();
    const waiting = podOf('web', {}, { ready: false });
    world.view = { ...EMPTY_VIEW, pods: [waiting] };
    await writer.write();
    const ready = { ...waiting, ready: true, nodeName: 'n1' };
    const podTimes = new Map([[ready.uid, { boundAtMs: 70_000, readyAtMs: 90_000 }]]);
    world.view = { ...EMPTY_VIEW, pods: [ready], podTimes };
    for (const nowMs of [120_000, 180_000]) {
      world.nowMs = nowMs;
      await writer.write();
      expect(last().get(`karpenter_pods_startup_duration_seconds_sum{${OWN}}`)).toBe(90);
      expect(last().get(`karpenter_pods_startup_duration_seconds_count{${OWN}}`)).toBe(1);
      expect(last().get(`karpenter_pods_bound_duration_seconds_sum{${OWN}}`)).toBe(70);
    }
  });
});
