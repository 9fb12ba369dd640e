import { KubeClient } from '../../shared/kube/client.ts';
import type { Timing } from '../../shared/kube/time.ts';
import type { HttpRequest, HttpResponse, Transport } from '../../shared/kube/transport.ts';

/** What stands in for the API server where a test decides every answer and its moment. */

export function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return streaming(status, [text], headers);
}

/** A body that comes in the given pieces; a function is called to fail or to wait. */
export function streaming(
  status: number,
  pieces: readonly (string | (() => Promise<void>))[],
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  let stop: (() => void) | undefined;
  const cancelled = new Promise<'cancelled'>((resolve) => {
    stop = () => resolve('cancelled');
  });
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      if (typeof piece === 'string') yield Buffer.from(piece);
      else if ((await Promise.race([piece(), cancelled])) === 'cancelled') {
        throw new Error('the connection was cancelled');
      }
    }
  }
  return { status, header: (name) => headers[name], body: body(), cancel: () => stop?.() };
}

/** Time that passes only when somebody sleeps. */
export class FakeTiming implements Timing {
  atMs = Date.UTC(2026, 0, 1);
  readonly slept: number[] = [];

  nowMs(): number {
    return this.atMs;
  }

  random(): number {
    return 0.5;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    this.slept.push(ms);
    this.atMs += ms;
    // Whoever else is ready runs first, as it would in real time.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Time that stands still: who sleeps is only woken by the signal. */
export const frozenTiming: Timing = {
  nowMs: () => Date.UTC(2026, 0, 1),
  random: () => 0.5,
  sleep: (_ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) resolve();
      else signal?.addEventListener('abort', () => resolve(), { once: true });
    }),
};

export function memoryClient(
  respond: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  timing: Timing,
): KubeClient {
  const transport: Transport = {
    send: async (request) => await respond(request),
    close: async () => undefined,
  };
  return new KubeClient({
    transport,
    tokens: undefined,
    timing,
    name: 'joiner-test',
    version: '1',
  });
}

interface Stored {
  version: number;
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
}

/** One object of the API server with its resourceVersion rules: create, merge and JSON patch. */
export class MemoryObject {
  #stored: Stored | undefined;
  #version = 0;

  handle(request: HttpRequest): HttpResponse {
    if (request.method === 'POST') {
      if (this.#stored !== undefined) return answer(409, { reason: 'AlreadyExists' });
      return this.#store(record(JSON.parse(request.body ?? '{}')), {}, {});
    }
    const stored = this.#stored;
    if (stored === undefined) return answer(404, { reason: 'NotFound' });
    if (request.method === 'GET') return answer(200, this.#wire(stored));
    const patch: unknown = JSON.parse(request.body ?? '{}');
    return Array.isArray(patch) ? this.#jsonPatch(stored, patch) : this.#mergePatch(stored, patch);
  }

  #mergePatch(stored: Stored, patch: unknown): HttpResponse {
    const expected = record(record(patch)['metadata'])['resourceVersion'];
    if (expected !== undefined && expected !== String(stored.version)) {
      return answer(409, { reason: 'Conflict' });
    }
    return this.#store(record(patch), stored.metadata, stored.spec);
  }

  #jsonPatch(stored: Stored, operations: readonly unknown[]): HttpResponse {
    const spec = { ...stored.spec };
    for (const each of operations) {
      const { op, path, value } = record(each);
      const name = String(path).replace('/spec/', '');
      if (op === 'replace') spec[name] = value;
      else if (spec[name] !== value) return answer(422, { reason: 'Invalid' });
    }
    return this.#store({ spec }, stored.metadata, {});
  }

  #store(
    change: Record<string, unknown>,
    metadata: Record<string, unknown>,
    spec: Record<string, unknown>,
  ): HttpResponse {
    const changed = record(change['metadata']);
    const annotations = merge(record(metadata['annotations']), record(changed['annotations']));
    this.#version += 1;
    this.#stored = {
      version: this.#version,
      metadata: { ...metadata, annotations },
      spec: merge(spec, record(change['spec'])),
    };
    return answer(200, this.#wire(this.#stored));
  }

  #wire({ version, metadata, spec }: Stored): object {
    return { metadata: { ...metadata, resourceVersion: String(version) }, spec };
  }
}

function merge(
  base: Record<string, unknown>,
  change: Record<string, unknown>,
): Record<string, unknown> {
  const all = Object.entries({ ...base, ...change });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
