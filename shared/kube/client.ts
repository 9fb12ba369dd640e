import { apiVersion, type Resource } from '../api/resources.ts';
import { type Asked, classify, isKubeFault, KubeError, unreachable } from './errors.ts';
import { refusalText } from './refusal.ts';
import { type Address, resourceName, resourcePath } from './resource-paths.ts';
import { backoffMs, type Timing } from './time.ts';
import type { TokenSource } from './token.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

export interface ClientOptions {
  readonly transport: Transport;
  /** Undefined: a client certificate speaks for us. */
  readonly tokens: TokenSource | undefined;
  readonly timing: Timing;
  /** Field manager and user agent, e.g. `joiner-provision`. */
  readonly name: string;
  /** Joiner's version, for the user agent. */
  readonly version: string;
  /** Tries of one request that is throttled or meets an unavailable server. @default 5 */
  readonly attemptsMax?: number;
  /** Gives up calls that still wait. @default nothing does */
  readonly deadline?: () => AbortSignal | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Call {
  readonly asked: Asked;
  readonly method: HttpRequest['method'];
  readonly path: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly contentType?: string;
  /** @default 'application/json' */
  readonly accept?: string;
  /** Longest silence inside the answer; 0 for watches. @default 30 s */
  readonly silenceMsMax?: number;
  /** How long the answer may take to begin. @default 30 s */
  readonly timeoutMs?: number;
  /** @default that of the client */
  readonly attemptsMax?: number;
  /** Nobody waits for the answer any more: the call fails at once. */
  readonly signal?: AbortSignal | undefined;
}

/** The field managers' patch kinds that we use. */
export type Patch =
  | { readonly kind: 'merge'; readonly value: object }
  | { readonly kind: 'json'; readonly value: readonly JsonPatchOperation[] };

export type JsonPatchOperation =
  | { readonly op: 'test' | 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
} as const;

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly gracePeriodSeconds?: number;
}

const ATTEMPTS_MAX = 5;
const TIMEOUT_MS = 30_000;

/**
 * The Kubernetes API as far as Joiner speaks it. Answers are unknown data for the decoders; every
 * failure is a {@link KubeError}. Throttled and unavailable calls are repeated with back-off: each
 * of our writes may be repeated, see the ports.
 */
export class KubeClient {
  readonly timing: Timing;
  readonly name: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.timing = options.timing;
    this.name = options.name;
  }

  async get(resource: Resource, address: Address): Promise<unknown> {
    return await this.json({
      asked: { verb: 'get', resource: resourceName(resource, address) },
      method: 'GET',
      path: resourcePath(resource, address),
    });
  }

  async create(resource: Resource, object: object, namespace?: string): Promise<unknown> {
    return await this.json({
      asked: { verb: 'create', resource: resourceName(resource, { namespace }) },
      method: 'POST',
      path: resourcePath(resource, { namespace }),
      query: { fieldManager: this.name },
      body: { apiVersion: apiVersion(resource), kind: resource.kind, ...object },
    });
  }

  /**
   * With a resourceVersion or uid in the patch's metadata, those are preconditions. `patience`: for
   * a write that others wait for, less than the defaults of {@link Call}.
   */
  async patch(
    resource: Resource,
    address: Address,
    patch: Patch,
    subresource?: 'status' | 'scale',
    patience: Pick<Call, 'attemptsMax' | 'silenceMsMax' | 'timeoutMs'> = {},
  ): Promise<unknown> {
    return await this.json({
      ...patience,
      asked: { verb: 'patch', resource: subresourceName(resource, address, subresource) },
      method: 'PATCH',
      path: resourcePath(resource, address, subresource),
      query: { fieldManager: this.name },
      contentType: PATCH_TYPES[patch.kind],
      body: patch.value,
    });
  }

  /** Server-side apply; fields that another manager owns are taken over. */
  async apply(resource: Resource, address: Address, object: object): Promise<unknown> {
    return await this.json({
      asked: { verb: 'patch', resource: resourceName(resource, address) },
      method: 'PATCH',
      path: resourcePath(resource, address),
      query: { fieldManager: this.name, force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: apiVersion(resource), kind: resource.kind, ...object },
    });
  }

  async delete(resource: Resource, address: Address, options: DeleteOptions): Promise<unknown> {
    const { uid, resourceVersion, gracePeriodSeconds } = options;
    return await this.json({
      asked: { verb: 'delete', resource: resourceName(resource, address) },
      method: 'DELETE',
      path: resourcePath(resource, address),
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid, resourceVersion },
        gracePeriodSeconds,
      },
    });
  }

  /** Creates an object below another one: an eviction, a binding. */
  async createBelow(
    resource: Resource,
    address: Address,
    subresource: string,
    object: object,
  ): Promise<unknown> {
    return await this.json({
      asked: { verb: 'create', resource: subresourceName(resource, address, subresource) },
      method: 'POST',
      path: resourcePath(resource, address, subresource),
      query: { fieldManager: this.name },
      body: object,
    });
  }

  async json(call: Call): Promise<unknown> {
    const response = await this.open(call);
    const text = (await this.bytes(call, response)).toString('utf8');
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw unreachable(call.asked, cause);
    }
  }

  /** The whole body; a connection that breaks inside it is an `unavailable` fault. */
  async bytes(call: Call, response: HttpResponse): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of response.body) chunks.push(chunk);
    } catch (cause) {
      throw unreachable(call.asked, cause);
    }
    const [only] = chunks;
    if (chunks.length === 1 && only !== undefined) {
      return Buffer.from(only.buffer, only.byteOffset, only.byteLength);
    }
    return Buffer.concat(chunks);
  }

  /** A successful answer whose body has not been read. */
  async open(asked: Call): Promise<HttpResponse> {
    const call = { ...asked, signal: firstOf(asked.signal, this.#options.deadline?.()) };
    const attemptsMax = call.attemptsMax ?? this.#options.attemptsMax ?? ATTEMPTS_MAX;
    let hasNewToken = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#once(call);
      } catch (error) {
        if (!(error instanceof KubeError) || call.signal?.aborted) throw error;
        if (isKubeFault(error, 'unauthorised')) {
          // The token may have been revoked or the clock been off: one new token, once.
          if (hasNewToken || this.#options.tokens === undefined) throw error;
          this.#options.tokens.invalidate();
          hasNewToken = true;
          continue;
        }
        if (attempt >= attemptsMax) throw error;
        if (!isKubeFault(error, 'throttled') && !isKubeFault(error, 'unavailable')) throw error;
        const { timing } = this;
        const waitMs = backoffMs(attempt, timing.random(), error.fault.retryAfterMs);
        await timing.sleep(waitMs, call.signal);
        if (call.signal?.aborted) throw error;
      }
    }
  }

  /** The same connection, whose calls are given up at the deadline; closing one closes both. */
  withDeadline(deadline: () => AbortSignal | undefined): KubeClient {
    return new KubeClient({ ...this.#options, deadline });
  }

  /** The same connection by another clock; closing one of them closes both. */
  withTiming(timing: Timing): KubeClient {
    return new KubeClient({ ...this.#options, timing });
  }

  async close(): Promise<void> {
    await this.#options.transport.close();
  }

  async #once(call: Call): Promise<HttpResponse> {
    const { transport, tokens, name, version } = this.#options;
    const headers: Record<string, string> = {
      accept: call.accept ?? 'application/json',
      'user-agent': `${name}/${version}`,
    };
    if (tokens !== undefined) headers['authorization'] = `Bearer ${await tokens.token()}`;
    if (call.body !== undefined) headers['content-type'] = call.contentType ?? 'application/json';
    const request: HttpRequest = {
      method: call.method,
      path: call.path + queryString(call.query),
      headers,
      body: call.body === undefined ? undefined : JSON.stringify(call.body),
      timeoutMs: call.timeoutMs ?? TIMEOUT_MS,
      silenceMsMax: call.silenceMsMax ?? TIMEOUT_MS,
      signal: call.signal,
    };
    const response = await transport.send(request).catch((cause: unknown) => {
      throw unreachable(call.asked, cause);
    });
    if (response.status < 300) return response;
    const bytes = await this.bytes(call, response);
    const body = refusalText(bytes, response.header('content-type'));
    throw classify(call.asked, response.status, body, response.header('retry-after'));
  }
}

/** Aborts with whichever is first. */
function firstOf(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return AbortSignal.any([a, b]);
}

function subresourceName(resource: Resource, address: Address, subresource?: string): string {
  const name = resourceName(resource, address);
  return subresource === undefined ? name : `${name}/${subresource}`;
}

function queryString(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return '';
  const pairs = given.map(([name, value]): [string, string] => [name, String(value)]);
  return `?${new URLSearchParams(pairs).toString()}`;
}
