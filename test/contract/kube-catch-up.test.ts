import { afterAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { POD } from '../../shared/kube/fields.ts';
import { Informer, type MustSee } from '../../shared/kube/informer.ts';
import { property, type Selection, text, versionOf } from '../../shared/kube/list.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { fixedToken } from '../../shared/kube/token.ts';
import {
  type HttpRequest,
  type HttpResponse,
  httpTransport,
  type Transport,
} from '../../shared/kube/transport.ts';
import { describeWithControlPlane } from '../support/control-plane/suite.ts';
import { answer, FakeTiming, frozenTiming, memoryClient, streaming } from './kube-memory.ts';
import { aPlainPod, aReadyNode, ensureNamespace } from './kube-objects.ts';

const PODS: Selection = { resource: RESOURCES.pods, shape: POD, protobuf: true };

/** A pod as far as these tests look at it: its node, if it has one. */
type Place = string;

const WAITING: MustSee<Place> = { fieldSelector: 'spec.nodeName=', holds: (node) => node === '' };

function placesOf(
  client: KubeClient,
  { invalid = '', probe = WAITING }: { invalid?: string; probe?: MustSee<Place> | 'all' } = {},
): Informer<Place> {
  return new Informer<Place>({
    client,
    selection: PODS,
    warm: true,
    probe,
    onInvalid: () => undefined,
    decode: (object) => {
      const name = text(property(property(object, 'metadata'), 'name'));
      if (name === invalid) return { ok: false, issues: [{ path: 'spec', message: 'is wrong' }] };
      return { ok: true, value: text(property(property(object, 'spec'), 'nodeName')) };
    },
  });
}

async function read(mirror: Informer<Place>): Promise<Readonly<Record<string, Place>>> {
  const entries = await mirror.read();
  return Object.fromEntries(
    [...entries].map(([key, { value }]) => [key.slice(key.indexOf('/') + 1), value]),
  );
}

const LATE_MS = 400;

/** Watches whose events come late, as from a server that has too much to do. */
function lateWatches(transport: Transport): Transport {
  async function* late(response: HttpResponse): AsyncGenerator<Uint8Array> {
    await systemTiming.sleep(LATE_MS);
    yield* response.body;
  }
  return {
    close: () => transport.close(),
    send: async (request) => {
      const response = await transport.send(request);
      return request.path.includes('watch=1') ? { ...response, body: late(response) } : response;
    },
  };
}

await describeWithControlPlane('a catch-up with a busy API server', ({ admin, plane }) => {
  const clients: KubeClient[] = [];
  afterAll(async () => {
    for (const each of clients) await each.close();
  });
  const lateClient = (): KubeClient => {
    const { url, caPem, adminToken } = plane();
    const made = new KubeClient({
      transport: lateWatches(httpTransport({ url, caPem })),
      tokens: fixedToken(adminToken),
      timing: systemTiming,
      name: 'joiner-test',
      version: 'test',
    });
    clients.push(made);
    return made;
  };
  const namespace = 'default';
  const unscheduled = { schedulerName: 'nobody' };

  it('has every pod that waits, and none that does not any more', async () => {
    await ensureNamespace(admin(), namespace);
    await admin().create(RESOURCES.nodes, aReadyNode('node-1'));
    const create = (name: string) =>
      admin().create(RESOURCES.pods, aPlainPod(name, unscheduled), namespace);
    const mirror = placesOf(lateClient());
    for (const name of ['stays', 'bound', 'deleted']) await create(name);
    expect(await read(mirror)).toEqual({ stays: '', bound: '', deleted: '' });
    await create('new');
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target };
    await admin().createBelow(RESOURCES.pods, { namespace, name: 'bound' }, 'binding', binding);
    const options = { gracePeriodSeconds: 0 };
    await admin().delete(RESOURCES.pods, { namespace, name: 'deleted' }, options);
    expect(await read(mirror)).toEqual({ stays: '', bound: 'node-1', new: '' });
  });

  it('has every pod as it is, of a kind of which none may be missed', async () => {
    const create = (name: string) =>
      admin().create(RESOURCES.pods, aPlainPod(name, { nodeName: 'node-1' }), namespace);
    for (const name of ['all-stays', 'all-labelled', 'all-deleted']) await create(name);
    const versions = async (): Promise<ReadonlyMap<string, string>> => {
      const entries = [...(await mirror.read())].filter(([key]) => key.startsWith('default/all-'));
      return new Map(entries.map(([key, each]) => [key, each.resourceVersion]));
    };
    const mirror = placesOf(lateClient(), { probe: 'all' });
    expect([...(await versions()).keys()].sort()).toEqual([
      'default/all-deleted',
      'default/all-labelled',
      'default/all-stays',
    ]);
    const labels = { changed: 'yes' };
    const patch = { kind: 'merge', value: { metadata: { labels } } } as const;
    await admin().patch(RESOURCES.pods, { namespace, name: 'all-labelled' }, patch);
    await admin().delete(
      RESOURCES.pods,
      { namespace, name: 'all-deleted' },
      { gracePeriodSeconds: 0 },
    );
    await create('all-new');
    const after = await versions();
    expect([...after.keys()].sort()).toEqual([
      'default/all-labelled',
      'default/all-new',
      'default/all-stays',
    ]);
    expect(after).toEqual(await versions());
    const labelled = await admin().get(RESOURCES.pods, { namespace, name: 'all-labelled' });
    expect(after.get('default/all-labelled')).toBe(versionOf(labelled));
  });

  it('has all of 600 pods that are created while it reads, page by page', async () => {
    const mirror = placesOf(lateClient());
    await read(mirror);
    const names = Array.from({ length: 600 }, (_, at) => `many-${at}`);
    const left = [...names];
    const create = async (): Promise<void> => {
      for (let name = left.pop(); name !== undefined; name = left.pop()) {
        await admin().create(RESOURCES.pods, aPlainPod(name, unscheduled), namespace);
      }
    };
    await Promise.all(Array.from({ length: 8 }, create));
    const seen = await read(mirror);
    expect(names.filter((name) => seen[name] !== '')).toEqual([]);
  });
});

/** An answer, or what makes one for the request. */
type Answering = HttpResponse | ((request: HttpRequest) => Promise<HttpResponse>);

/** No answer, until nobody waits for it any more. */
function unanswered(cancelled: string[], name: string): Answering {
  return ({ signal }) =>
    new Promise((_, reject) => {
      signal?.addEventListener('abort', () => {
        cancelled.push(name);
        reject(new Error('cancelled'));
      });
    });
}

/** Who looks sees more time pass each time; what guards against a dead watch never wakes. */
class Hasty extends FakeTiming {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms > 60_000) await frozenTiming.sleep(ms, signal);
    else await super.sleep(ms * 10, signal);
  }
}

describe('a catch-up', () => {
  const pod = (name: string, version: number, nodeName?: string): object => ({
    metadata: { namespace: 'a', name, resourceVersion: String(version) },
    spec: nodeName === undefined ? {} : { nodeName },
  });
  const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
  const list = (version: number, ...items: readonly object[]): HttpResponse =>
    answer(200, { metadata: { resourceVersion: String(version) }, items });
  const never = (): Promise<void> => new Promise(() => undefined);

  const world = (
    first: () => HttpResponse,
    { probe, watch }: { readonly probe: Answering; readonly watch: Answering },
    timing = systemTiming,
  ) => {
    const asked: string[] = [];
    const client = memoryClient((request) => {
      const isProbe = request.headers['accept']?.includes('PartialObjectMetadataList') === true;
      asked.push(isProbe ? 'probe' : request.path.includes('watch=1') ? 'watch' : 'list');
      if (!isProbe && asked.at(-1) === 'list') return first();
      const answering = isProbe ? probe : watch;
      return typeof answering === 'function' ? answering(request) : answering;
    }, timing);
    return { client, asked };
  };

  it('does not wait for a pod that cannot be read, nor for one that went since', async () => {
    const probe = list(12, pod('broken', 11), pod('gone', 12));
    const events = line('ADDED', pod('broken', 11)) + line('DELETED', pod('gone', 13));
    const watch = streaming(200, [events, never]);
    const { client, asked } = world(() => list(10, pod('gone', 9)), { probe, watch });
    const mirror = placesOf(client, { invalid: 'broken' });
    await read(mirror);
    expect(await read(mirror)).toEqual({});
    expect(asked.toSorted()).toEqual(['list', 'probe', 'watch']);
  });

  it('goes by the quiet of its stream where the server does not answer the question', async () => {
    const watch = streaming(200, [line('ADDED', pod('new', 12)), never]);
    const { client } = world(() => list(10), {
      probe: answer(403, { reason: 'Forbidden' }),
      watch,
    });
    const mirror = placesOf(client);
    await read(mirror);
    expect(await read(mirror)).toEqual({ new: '' });
  });

  it('lists everything where the stream never tells of a pod that waits', async () => {
    const probe = list(12, pod('new', 11));
    const watch = streaming(200, [never]);
    const { client, asked } = world(() => list(10), { probe, watch }, new Hasty());
    const mirror = placesOf(client);
    await read(mirror);
    expect(await read(mirror)).toEqual({});
    expect(asked.filter((each) => each === 'list')).toHaveLength(2);
  });

  it('goes by the quiet of its stream where the answer is late, and does not wait for it', async () => {
    const cancelled: string[] = [];
    const probe = unanswered(cancelled, 'probe');
    const watch = streaming(200, [line('ADDED', pod('new', 12)), never]);
    const timing = new Hasty();
    const { client, asked } = world(() => list(10), { probe, watch }, timing);
    const mirror = placesOf(client);
    await read(mirror);
    const startedAtMs = timing.nowMs();
    expect(await read(mirror)).toEqual({ new: '' });
    expect(timing.nowMs() - startedAtMs).toBeGreaterThan(5_000);
    expect(asked.toSorted()).toEqual(['list', 'probe', 'watch']);
    expect(cancelled).toEqual(['probe']);
  });

  it('lists everything where not even the stream opens in time, and waits for neither', async () => {
    const cancelled: string[] = [];
    const [probe, watch] = [unanswered(cancelled, 'probe'), unanswered(cancelled, 'watch')];
    const { client, asked } = world(() => list(10), { probe, watch }, new Hasty());
    const mirror = placesOf(client);
    await read(mirror);
    expect(await read(mirror)).toEqual({});
    expect(asked.toSorted()).toEqual(['list', 'list', 'probe', 'watch']);
    expect(cancelled.toSorted()).toEqual(['probe', 'watch']);
  });

  it('of which nothing may be missed is over at once where the stream has told of everything', async () => {
    const probe = list(12, pod('old', 9), pod('new', 11));
    const watch = streaming(200, [line('ADDED', pod('new', 11)), never]);
    const timing = new Hasty();
    const { client, asked } = world(() => list(10, pod('old', 9)), { probe, watch }, timing);
    const mirror = placesOf(client, { probe: 'all' });
    await read(mirror);
    const startedAtMs = timing.nowMs();
    expect(await read(mirror)).toEqual({ old: '', new: '' });
    // Silence would be three looks of 200 ms.
    expect(timing.nowMs() - startedAtMs).toBeLessThanOrEqual(400);
    expect(asked.toSorted()).toEqual(['list', 'probe', 'watch']);
  });

  it.each<[string, HttpResponse]>([
    ['the question is refused', answer(403, { reason: 'Forbidden' })],
    ['the stream does not tell of a change', list(12, pod('old', 11))],
    ['the stream does not tell of a deletion', list(12)],
  ])('of which nothing may be missed lists everything where %s', async (_, probe) => {
    const watch = streaming(200, [never]);
    const { client, asked } = world(() => list(10, pod('old', 9)), { probe, watch }, new Hasty());
    const mirror = placesOf(client, { probe: 'all' });
    await read(mirror);
    await read(mirror);
    expect(asked.filter((each) => each === 'list')).toHaveLength(2);
  });

  it('is not over because its process was not given the processor', async () => {
    /** Each time somebody sleeps, a second has passed before anything else is looked at. */
    class Starved extends FakeTiming {
      override async sleep(_: number, signal?: AbortSignal): Promise<void> {
        await super.sleep(1000, signal);
      }
    }
    const soon = (): Promise<void> =>
      new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    const watch = streaming(200, [soon, line('ADDED', pod('new', 12, 'node-1')), never]);
    const { client } = world(() => list(10), { probe: list(12), watch }, new Starved());
    const mirror = placesOf(client);
    await read(mirror);
    expect(await read(mirror)).toEqual({ new: 'node-1' });
  });
});
