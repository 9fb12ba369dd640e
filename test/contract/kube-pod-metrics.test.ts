import { expect, it } from 'vitest';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { clusterReader } from '../../shared/kube/cluster-reader.ts';
import { meteredUsage } from '../../shared/kube/pod-metrics.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { answer, FakeTiming, memoryClient } from './kube-memory.ts';

function sample(name: string, timestamp: string, ...usages: readonly object[]): object {
  const containers = usages.map((usage, at) => ({ name: `c-${at}`, usage }));
  return { metadata: { namespace: 'team', name }, timestamp, window: '15s', containers };
}

const EARLY = '2026-01-01T00:00:00Z';
const LATE = '2026-01-01T00:00:15Z';

/** An API server with these pages of PodMetrics, or that answers so. */
function serverWith(respond: (page: number) => HttpResponse) {
  const asked: string[] = [];
  const timing = new FakeTiming();
  const client = memoryClient(({ path }: HttpRequest): HttpResponse => {
    asked.push(path);
    return respond(asked.length - 1);
  }, timing);
  return { client, asked, timing };
}

function pagesOf(...pages: readonly (readonly object[])[]) {
  return serverWith((page) =>
    answer(200, {
      kind: 'PodMetricsList',
      metadata: page < pages.length - 1 ? { continue: `page-${page + 1}` } : {},
      items: pages[page],
    }),
  );
}

it('the containers of a pod are added up, page by page', async () => {
  const { client, asked } = pagesOf(
    [sample('a', EARLY, { cpu: '250m', memory: '1Gi' }, { cpu: '1500000n', memory: '1Ki' })],
    [sample('b', LATE, { cpu: '1', memory: '5' })],
  );
  const GI = 2 ** 30;
  expect(await meteredUsage(client)).toEqual({
    pods: new Map([
      ['team/a', { cpu: 252, memory: GI + 1024 }],
      ['team/b', { cpu: 1000, memory: 5 }],
    ]),
    at: LATE,
    window: '15s',
  });
  expect(asked).toEqual([
    '/apis/metrics.k8s.io/v1beta1/pods?limit=500',
    '/apis/metrics.k8s.io/v1beta1/pods?limit=500&continue=page-1',
  ]);
});

it('of two samples of a pod the newest counts, and what is not metered is absent', async () => {
  const [old, recent] = [{ cpu: '1' }, { cpu: '2' }];
  const { client } = pagesOf([
    sample('a', LATE, recent),
    sample('a', EARLY, old),
    sample('starting', LATE),
    { metadata: { namespace: 'team', name: 'bare' }, containers: null },
  ]);
  const pods = new Map([['team/a', { cpu: 2000, memory: 0 }]]);
  expect(await meteredUsage(client)).toMatchObject({ pods });
});

it('nothing is metered in an empty cluster', async () => {
  const { client } = pagesOf([]);
  expect(await meteredUsage(client)).toEqual({ pods: new Map(), at: '', window: '' });
});

const READER = { decoders: kindDecoders('server'), onInvalid: () => undefined };

it.each<[string, number, unknown, unknown]>([
  ['not served', 404, { message: 'page not found' }, 'metrics.k8s.io is not served'],
  ['forbidden', 403, { message: 'no rights' }, 'list pods.metrics.k8s.io: no rights'],
  ['failing', 503, { message: 'service unavailable' }, expect.stringContaining('unavailable')],
  [
    'something else',
    200,
    { items: [{ metadata: {} }] },
    'metrics.k8s.io gives no list of PodMetrics',
  ],
])('where it is %s, that is said after one try', async (_, status, body, why) => {
  const { client, asked, timing } = serverWith(() => answer(status, body));
  const reader = clusterReader({ client, ...READER });
  expect(await reader.podUsage()).toEqual({ kind: 'missing', why });
  expect(asked).toHaveLength(1);
  expect(timing.slept).toEqual([]);
});

it('the reader of the cluster passes on what is metered', async () => {
  const { client } = pagesOf([sample('a', EARLY, { cpu: '3m', memory: '7' })]);
  const pods = new Map([['team/a', { cpu: 3, memory: 7 }]]);
  expect(await clusterReader({ client, ...READER }).podUsage()).toEqual({ kind: 'metered', pods });
});
