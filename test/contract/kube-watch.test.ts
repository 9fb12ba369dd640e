import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { Informer } from '../../shared/kube/informer.ts';
import { property, text } from '../../shared/kube/list.ts';
import { systemTiming, type Timing } from '../../shared/kube/time.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { watchWakeUps } from '../../shared/kube/wake-ups.ts';
import { watchOnce } from '../../shared/kube/watch.ts';
import { answer, FakeTiming, frozenTiming, memoryClient, streaming } from './kube-memory.ts';

const SELECTION = { resource: RESOURCES.nodes };

const node = (name: string, version: number): object => ({
  metadata: { name, resourceVersion: String(version) },
});
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;
const never = (): Promise<void> => new Promise(() => undefined);
const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

async function watched(response: HttpResponse): Promise<readonly string[]> {
  const client = memoryClient(() => response, new FakeTiming());
  const seen: string[] = [];
  for await (const event of watchOnce(client, SELECTION, { resourceVersion: '1' })) {
    seen.push(`${event.kind} ${event.resourceVersion}`);
  }
  return seen;
}

describe('a watch', () => {
  it('yields changes and bookmarks whatever pieces the lines come in', async () => {
    const stream =
      line('ADDED', node('ä', 2)) + line('BOOKMARK', node('', 5)) + line('DELETED', node('ä', 6));
    const bytes = Buffer.from(stream);
    for (const size of [1, 7, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
        bytes.subarray(index * size, (index + 1) * size),
      );
      const response = answer(200, '');
      const body = (async function* () {
        yield* pieces;
      })();
      expect(await watched({ ...response, body })).toEqual(['added 2', 'bookmark 5', 'deleted 6']);
    }
  });

  it.each([
    ['inside the stream', streaming(200, [line('ERROR', gone)])],
    ['as the answer', answer(410, gone)],
  ])('that is too old says gone, %s', async (_, response) => {
    await expect(watched(response)).rejects.toSatisfy((error) => isKubeFault(error, 'gone'));
  });

  it('that is silent for 90 s is unavailable, although the connection stands', async () => {
    const silent = streaming(200, [line('ADDED', node('a', 2)), never]);
    await expect(watched(silent)).rejects.toThrow('the watch was silent for 90 s');
  });

  it('that breaks inside a line is not believed that line', async () => {
    const cut = streaming(200, [line('ADDED', node('a', 2)), '{"type":"DELETED","object":{"m']);
    expect(await watched(cut)).toEqual(['added 2']);
  });
});

describe('a mirror of a kind', () => {
  const list = (version: number, ...names: readonly string[]): HttpResponse => {
    const items = names.map((name) => node(name, version));
    return answer(200, { metadata: { resourceVersion: String(version) }, items });
  };

  /** Answers in turn; the paths that were asked. */
  const mirrorOf = (
    ...answers: readonly HttpResponse[]
  ): { readonly read: () => Promise<readonly string[]>; readonly asked: string[] } => {
    const asked: string[] = [];
    const left = [...answers];
    const client = memoryClient((request) => {
      asked.push(request.path.includes('watch=1') ? 'watch' : 'list');
      return left.shift() ?? answer(404, {});
    }, systemTiming);
    const mirror = new Informer({
      client,
      selection: SELECTION,
      warm: true,
      decode: (object) => ({ ok: true, value: text(property(object, 'metadata')) }),
      onInvalid: () => undefined,
    });
    return { asked, read: async () => [...(await mirror.read()).keys()] };
  };

  it('lists once and then catches up by a watch', async () => {
    const changes = line('ADDED', node('c', 12)) + line('DELETED', node('a', 13));
    const { read, asked } = mirrorOf(list(10, 'a', 'b'), streaming(200, [changes, never]));
    expect(await read()).toEqual(['a', 'b']);
    expect(await read()).toEqual(['b', 'c']);
    expect(asked).toEqual(['list', 'watch']);
  });

  it('has caught up in a busy cluster once events are newer than the question', async () => {
    let version = 10;
    let isOver = false;
    const cancel = (): void => {
      isOver = true;
    };
    const busy = async function* () {
      while (!isOver) {
        version += 1;
        yield Buffer.from(line('MODIFIED', node('a', version)));
        await systemTiming.sleep(10);
      }
    };
    const stream = { ...answer(200, ''), body: busy(), cancel };
    const { read, asked } = mirrorOf(list(10, 'a', 'b'), stream, list(30, 'not listed'));
    await read();
    expect(await read()).toEqual(['a', 'b']);
    expect(asked).toEqual(['list', 'watch', 'list']);
    expect(version).toBeGreaterThanOrEqual(30);
    expect(version).toBeLessThan(200);
  });

  it.each([
    ['its resourceVersion is too old', streaming(200, [line('ERROR', gone)])],
    ['the watch breaks', streaming(200, [() => Promise.reject(new Error('reset'))])],
    ['the watch is refused', answer(410, gone)],
  ])('lists again when %s', async (_, broken) => {
    const { read, asked } = mirrorOf(list(10, 'a'), broken, list(20, 'x', 'y'));
    await read();
    expect(await read()).toEqual(['x', 'y']);
    expect(asked).toEqual(['list', 'watch', 'list']);
  });

  it('starts a list over when its continue token has expired', async () => {
    const items = [node('old', 1)];
    const first = answer(200, { metadata: { resourceVersion: '1', continue: 'c' }, items });
    const { read } = mirrorOf(first, answer(410, gone), list(2, 'new'));
    expect(await read()).toEqual(['new']);
  });

  it.each([
    ['leaves out', 'left out', ['good']],
    ['keeps what could be read of', 'kept', ['good', 'bad']],
  ] as const)('%s what cannot be decoded and says so', async (_, faulty, known) => {
    const told: string[] = [];
    const mirror = new Informer({
      client: memoryClient(() => list(1, 'good', 'bad'), new FakeTiming()),
      selection: SELECTION,
      decode: (object) => {
        const name = text(property(property(object, 'metadata'), 'name'));
        const issues = [{ path: 'spec', message: 'is missing' }];
        return name === 'bad' ? { ok: false, issues, partial: name } : { ok: true, value: name };
      },
      onInvalid: (object, issues) => told.push(`${object}: ${issues[0]?.message}`),
      faulty,
    });
    expect([...(await mirror.read()).keys()]).toEqual(known);
    expect(told).toEqual(['Node/bad: is missing']);
  });
});

it('wake-ups wait before they watch again where the server ends each watch at once', async () => {
  const over = new AbortController();
  let watches = 0;
  let pauses = 0;
  const respond = async ({ path }: HttpRequest): Promise<HttpResponse> => {
    await new Promise((resolve) => setImmediate(resolve));
    if (!path.includes('watch=1'))
      return answer(200, { metadata: { resourceVersion: '7' }, items: [] });
    watches += 1;
    if (watches === 500) over.abort();
    return streaming(200, []);
  };
  const sleep: Timing['sleep'] = async (ms, signal) => {
    // Those that wait for something else.
    if (ms >= 10_000) return await frozenTiming.sleep(ms, signal);
    pauses += 1;
    if (pauses === 100) over.abort();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const client = memoryClient(respond, { ...frozenTiming, sleep });
  await watchWakeUps({ client, wake: () => undefined, signal: over.signal });
  // As many kinds are watched, each of which begins at once.
  expect(watches).toBeLessThanOrEqual(pauses + 7);
});

it('wake-ups list again where the server fails each watch of one resourceVersion', async () => {
  const over = new AbortController();
  const fault = { kind: 'Status', code: 500, reason: 'InternalError', message: 'cannot decode' };
  let lists = 0;
  const versions: string[] = [];
  const respond = async ({ path }: HttpRequest): Promise<HttpResponse> => {
    await new Promise((resolve) => setImmediate(resolve));
    const isOfNodes = path.startsWith('/api/v1/nodes?');
    const asked = new URL(path, 'http://server').searchParams;
    if (asked.get('watch') === null) {
      if (isOfNodes) lists += 1;
      return answer(200, { metadata: { resourceVersion: `${6 + lists}` }, items: [] });
    }
    if (!isOfNodes) return streaming(200, [never]);
    versions.push(asked.get('resourceVersion') ?? '');
    if (versions.at(-1) === '7' && versions.length < 50) {
      return streaming(200, [line('ERROR', fault)]);
    }
    over.abort();
    return streaming(200, []);
  };
  const sleep: Timing['sleep'] = async (ms, signal) => {
    if (ms >= 10_000) return await frozenTiming.sleep(ms, signal);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const client = memoryClient(respond, { ...frozenTiming, sleep });
  await watchWakeUps({ client, wake: () => undefined, signal: over.signal });
  expect(versions).toEqual(['7', '7', '7', '7', '7', '8']);
});
