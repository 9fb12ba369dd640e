import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault, KubeError, type KubeFault } from '../../shared/kube/errors.ts';
import { eventSink } from '../../shared/kube/events.ts';
import { POD } from '../../shared/kube/fields.ts';
import { listEach } from '../../shared/kube/list.ts';
import { decodeList, ProtobufError } from '../../shared/kube/protobuf.ts';
import { backoffMs } from '../../shared/kube/time.ts';
import { renewingToken } from '../../shared/kube/token.ts';
import type { HttpRequest, HttpResponse } from '../../shared/kube/transport.ts';
import { answer, FakeTiming, frozenTiming, memoryClient } from './kube-memory.ts';

const NODE = { name: 'node-1' };

/** The error of one get that is answered like this each time. */
async function errorOf(response: () => HttpResponse): Promise<KubeError> {
  const client = memoryClient(response, new FakeTiming());
  const error: unknown = await client.get(RESOURCES.nodes, NODE).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KubeError)) throw new Error(`not classified: ${error}`);
  return error;
}

const cause = { reason: 'FieldValueInvalid', field: 'spec.taints', message: 'is wrong' };
const budget = { reason: 'DisruptionBudget', message: 'needs 1 healthy pod' };

const FAULTS: readonly (readonly [description: string, () => HttpResponse, KubeFault])[] = [
  ['401', () => answer(401, {}), { kind: 'unauthorised' }],
  [
    '403',
    () => answer(403, { reason: 'Forbidden' }),
    { kind: 'forbidden', verb: 'get', resource: 'nodes/node-1' },
  ],
  ['404', () => answer(404, { reason: 'NotFound' }), { kind: 'notFound' }],
  [
    '409 of a create',
    () => answer(409, { reason: 'AlreadyExists' }),
    { kind: 'conflict', what: 'exists' },
  ],
  [
    '409 of a precondition',
    () => answer(409, { reason: 'Conflict' }),
    { kind: 'conflict', what: 'changed' },
  ],
  ['410', () => answer(410, { reason: 'Expired' }), { kind: 'gone' }],
  [
    '422 with its causes',
    () => answer(422, { details: { causes: [cause] } }),
    { kind: 'invalid', causes: [{ path: 'spec.taints', message: 'is wrong' }] },
  ],
  [
    '429 of a budget',
    () => answer(429, { details: { causes: [budget], retryAfterSeconds: 10 } }),
    { kind: 'blocked' },
  ],
  [
    '500 of two budgets',
    () => answer(500, { message: 'This pod has more than one PodDisruptionBudget, which…' }),
    { kind: 'blocked' },
  ],
  [
    '429 with Retry-After',
    () => answer(429, 'slow down', { 'retry-after': '2' }),
    { kind: 'throttled', retryAfterMs: 2_000 },
  ],
  [
    '502 of a load balancer',
    () => answer(502, '<html>Bad Gateway</html>'),
    { kind: 'unavailable', retryAfterMs: undefined },
  ],
  [
    'an answer that is not JSON',
    () => answer(200, '{"kind":'),
    { kind: 'unavailable', retryAfterMs: undefined },
  ],
];

describe('answers that are no success', () => {
  it.each(FAULTS)('%s is classified', async (_, response, fault) => {
    expect((await errorOf(response)).fault).toEqual(fault);
  });

  /** 401: EKS says so too while it cannot ask STS who it is. */
  it.each([
    [401, true],
    [403, false],
    [404, false],
    [409, true],
    [410, true],
    [422, false],
    [429, true],
    [503, true],
  ])('%i may pass by itself: %s', async (status, isTransient) => {
    expect((await errorOf(() => answer(status, {}))).isTransient).toBe(isTransient);
  });

  it('name what was asked and what the server said', async () => {
    const error = await errorOf(() => answer(403, { message: 'no role binding' }));
    expect(error.message).toBe('get nodes/node-1: no role binding');
  });
});

/** A field of a message in protobuf whose content is text or other fields. */
function field(tag: number, content: string): string {
  return String.fromCharCode(tag * 8 + 2, content.length) + content;
}

describe('a refusal of a list that was asked for in protobuf', () => {
  const said = 'pods is forbidden';
  const cause = field(4, field(1, 'FieldValueInvalid') + field(2, 'is wrong') + field(3, 'spec'));
  const status = field(3, said) + field(4, 'Forbidden') + field(5, cause);
  const packed = `k8s\0${field(1, field(1, 'v1') + field(2, 'Status'))}${field(2, status)}`;
  const headers = { 'content-type': 'application/vnd.kubernetes.protobuf' };

  const errorOfList = async (code: number, body: string): Promise<unknown> => {
    const client = memoryClient(() => answer(code, body, headers), new FakeTiming());
    const visit = { start: () => undefined, object: () => undefined };
    const selection = { resource: RESOURCES.pods, shape: POD, protobuf: true };
    return await listEach(client, selection, visit).catch((error: unknown) => error);
  };

  it('says what the server said', async () => {
    expect(await errorOfList(403, packed)).toMatchObject({ message: `list pods: ${said}` });
  });

  it('names the causes', async () => {
    const causes = [{ path: 'spec', message: 'is wrong' }];
    expect(await errorOfList(400, packed)).toMatchObject({ fault: { kind: 'invalid', causes } });
  });

  it('is classified by its code where it cannot be read', async () => {
    const error = await errorOfList(403, packed.slice(0, -3));
    expect(error).toMatchObject({ fault: { kind: 'forbidden' }, message: 'list pods: HTTP 403' });
  });
});

describe('repeated requests', () => {
  it('wait longer each time, at least as long as the server asks, and end', async () => {
    const timing = new FakeTiming();
    const client = memoryClient(() => answer(429, {}, { 'retry-after': '1' }), timing);
    const reading = client.get(RESOURCES.nodes, NODE);
    await expect(reading).rejects.toSatisfy((error) => isKubeFault(error, 'throttled'));
    expect(timing.slept).toEqual([1_000, 1_000, 1_000, 1_000]);
  });

  it('succeed when the server comes back', async () => {
    const answers = [answer(503, {}), answer(500, {}), answer(200, { found: true })];
    const client = memoryClient(() => answers.shift() ?? answer(500, {}), new FakeTiming());
    expect(await client.get(RESOURCES.nodes, NODE)).toEqual({ found: true });
  });

  it('are not made for an answer that nobody waits for any more', async () => {
    const over = new AbortController();
    let requests = 0;
    const refuse = (at: number) => () => {
      requests += 1;
      if (requests === at) over.abort();
      return answer(503, {});
    };
    const visit = { start: () => undefined, object: () => undefined };
    const listed = (client: KubeClient) =>
      listEach(client, { resource: RESOURCES.nodes }, visit, over.signal);
    await expect(listed(memoryClient(refuse(2), new FakeTiming()))).rejects.toThrow(KubeError);
    expect(requests).toBe(2);
  });

  it('that would come after a pause are not made either', async () => {
    const over = new AbortController();
    let requests = 0;
    const refuse = () => {
      requests += 1;
      setImmediate(() => over.abort());
      return answer(503, {});
    };
    const client = memoryClient(refuse, frozenTiming);
    const asked = { verb: 'list', resource: 'nodes' };
    const call = { asked, method: 'GET', path: '/', signal: over.signal } as const;
    await expect(client.json(call)).rejects.toThrow(KubeError);
    expect(requests).toBe(1);
  });

  it('have a new token where an old one is refused, whatever failed before', async () => {
    const statuses = [503, 401, 200];
    const asked: string[] = [];
    const made = ['old', 'new'];
    const client = new KubeClient({
      transport: {
        send: async ({ headers }) => {
          asked.push(headers['authorization'] ?? '');
          return answer(statuses.shift() ?? 500, {});
        },
        close: async () => undefined,
      },
      tokens: renewingToken(
        async () => ({ value: made.shift() ?? '', expiresAtMs: undefined }),
        () => 0,
      ),
      timing: new FakeTiming(),
      name: 'joiner-test',
      version: '1',
    });
    expect(await client.get(RESOURCES.nodes, NODE)).toEqual({});
    expect(asked).toEqual(['Bearer old', 'Bearer old', 'Bearer new']);
  });

  it('are not made for what another try cannot change', async () => {
    let requests = 0;
    const client = memoryClient(() => {
      requests += 1;
      return answer(403, {});
    }, new FakeTiming());
    await expect(client.get(RESOURCES.nodes, NODE)).rejects.toThrow();
    expect(requests).toBe(1);
  });

  it('back off within half to all of a doubling ceiling of at most 10 s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, random) => {
          const ms = backoffMs(failures, random, undefined);
          const ceiling = Math.min(10_000, 100 * 2 ** Math.min(failures - 1, 20));
          expect(ms).toBeGreaterThanOrEqual(ceiling / 2);
          expect(ms).toBeLessThanOrEqual(ceiling);
        },
      ),
    );
  });

  it('name the function as field manager and user agent', async () => {
    const requests: HttpRequest[] = [];
    const client = memoryClient((request) => {
      requests.push(request);
      return answer(200, {});
    }, new FakeTiming());
    await client.patch(RESOURCES.nodes, NODE, { kind: 'merge', value: {} });
    await client.apply(RESOURCES.nodes, NODE, {});
    expect(requests.map(({ path }) => path)).toEqual([
      '/api/v1/nodes/node-1?fieldManager=joiner-test',
      '/api/v1/nodes/node-1?fieldManager=joiner-test&force=true',
    ]);
    expect(requests[0]?.headers['user-agent']).toBe('joiner-test/1');
  });
});

describe('tokens', () => {
  it('are kept until shortly before they expire, and made once for many callers', async () => {
    let nowMs = 0;
    let made = 0;
    const source = renewingToken(
      async () => {
        made += 1;
        return { value: `token-${made}`, expiresAtMs: nowMs + 900_000 };
      },
      () => nowMs,
    );
    expect(await Promise.all([source.token(), source.token()])).toEqual(['token-1', 'token-1']);
    nowMs = 779_000;
    expect(await source.token()).toBe('token-1');
    nowMs = 781_000;
    expect(await Promise.all([source.token(), source.token()])).toEqual(['token-2', 'token-2']);
    source.invalidate();
    expect(await source.token()).toBe('token-3');
  });

  it('are tried again after a failure', async () => {
    const results = [() => Promise.reject(new Error('no credentials')), async () => once];
    const once = { value: 'token', expiresAtMs: undefined };
    const source = renewingToken(
      () => (results.shift() ?? (async () => once))(),
      () => 0,
    );
    await expect(source.token()).rejects.toThrow('no credentials');
    expect(await source.token()).toBe('token');
  });
});

describe('protobuf', () => {
  it('of any bytes is decoded or refused, never worse', () => {
    const header = Buffer.from([0x6b, 0x38, 0x73, 0x00, 0x12]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        const body = Buffer.concat([header, Buffer.from([bytes.length]), bytes]);
        try {
          Array.from(decodeList(body, POD).items);
        } catch (error) {
          expect(error).toBeInstanceOf(ProtobufError);
        }
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});

describe('events', () => {
  const event = {
    regarding: { kind: 'Pod', namespace: 'a', name: 'p', uid: 'u' },
    type: 'Warning',
    reason: 'FailedScheduling',
    message: 'no pool fits',
  } as const;

  const recorder = () => {
    const requests: HttpRequest[] = [];
    const timing = new FakeTiming();
    const client = memoryClient((request) => {
      requests.push(request);
      if (request.method === 'POST') return answer(requests.length === 1 ? 201 : 409, taken);
      return answer(200, { count: 1 });
    }, timing);
    return { requests, timing, sink: eventSink(client) };
  };
  const taken = { reason: 'AlreadyExists' };

  it('that repeat at once are one request; later ones raise its count by all of them', async () => {
    const { requests, timing, sink } = recorder();
    for (let count = 0; count < 5; count += 1) await sink.record(event);
    expect(requests).toHaveLength(1);
    timing.atMs += 10_000;
    await sink.record(event);
    const patch: unknown = JSON.parse(requests.at(-1)?.body ?? '');
    expect(requests.at(-1)?.method).toBe('PATCH');
    expect(patch).toMatchObject({ count: 6 });
  });

  it.each(['-', '.', '-.-'])(
    'of an object whose long name is cut at %j have a legal name',
    async (at) => {
      const { requests, sink } = recorder();
      const name = `${'p'.repeat(236 - at.length)}${at}${'q'.repeat(10)}`;
      await sink.record({ ...event, regarding: { ...event.regarding, name } });
      const { metadata }: { metadata: { name: string } } = JSON.parse(requests[0]?.body ?? '');
      expect(metadata.name).toMatch(/^p+\.[0-9a-f]{16}$/);
    },
  );

  it('are limited to a burst of 200 and 10 a second', async () => {
    const { requests, timing, sink } = recorder();
    const many = async (): Promise<number> => {
      const before = requests.filter(({ method }) => method === 'POST').length;
      const messages = Array.from({ length: 500 }, (_, index) => `${timing.atMs} ${index}`);
      for (const message of messages) await sink.record({ ...event, message });
      return requests.filter(({ method }) => method === 'POST').length - before;
    };
    expect(await many()).toBe(200);
    timing.atMs += 3_000;
    expect(await many()).toBe(30);
  });

  it('never fail their caller', async () => {
    const client = memoryClient(() => answer(403, {}), new FakeTiming());
    await eventSink(client).record(event);
  });
});
