import type { HttpRequest, HttpResponse, Transport } from '../../../shared/kube/transport.ts';
import { isJson, type Json, objectAt, textAt } from '../../../shared/sim/json.ts';

/** What an API server does with Leases: read, create, merge patch, JSON patch with tests. */
export class LeaseServer {
  private readonly leases = new Map<string, Json>();
  private version = 0;

  /** One request after its way to the server. */
  answer({ method, path, body }: HttpRequest): HttpResponse {
    const name = path.split('?')[0]?.split('/leases/')[1] ?? '';
    const sent: unknown = body === undefined ? undefined : JSON.parse(body);
    if (method === 'POST') return this.create(sent);
    const lease = this.leases.get(name);
    if (lease === undefined) return refused(404, 'NotFound');
    if (method === 'GET') return response(200, lease);
    return Array.isArray(sent) ? this.jsonPatch(name, lease, sent) : this.merge(name, lease, sent);
  }

  private create(sent: unknown): HttpResponse {
    if (!isJson(sent)) return refused(400, 'BadRequest');
    const name = textAt(sent, 'metadata', 'name') ?? '';
    if (this.leases.has(name)) return refused(409, 'AlreadyExists');
    return this.store(name, sent);
  }

  private merge(name: string, lease: Json, patch: unknown): HttpResponse {
    if (!isJson(patch)) return refused(400, 'BadRequest');
    const expected = textAt(patch, 'metadata', 'resourceVersion');
    if (expected !== undefined && expected !== textAt(lease, 'metadata', 'resourceVersion')) {
      return refused(409, 'Conflict');
    }
    return this.store(name, merged(lease, patch));
  }

  private jsonPatch(name: string, lease: Json, operations: readonly unknown[]): HttpResponse {
    const spec = { ...objectAt(lease, 'spec') };
    for (const operation of operations) {
      if (!isJson(operation)) return refused(400, 'BadRequest');
      const field = (textAt(operation, 'path') ?? '').replace('/spec/', '');
      if (operation['op'] === 'replace') spec[field] = operation['value'];
      else if (spec[field] !== operation['value']) return refused(422, 'Invalid');
    }
    return this.store(name, { ...lease, spec });
  }

  private store(name: string, lease: Json): HttpResponse {
    this.version += 1;
    const metadata = { ...objectAt(lease, 'metadata'), resourceVersion: `${this.version}` };
    const stored = { ...lease, metadata };
    this.leases.set(name, stored);
    return response(200, stored);
  }
}

/** Requests of one invocation; `exchange` takes the time that they need, and may fail. */
export function leaseTransport(
  server: LeaseServer,
  exchange: (ask: () => HttpResponse) => Promise<HttpResponse>,
): Transport {
  return {
    send: async (request) => await exchange(() => server.answer(request)),
    close: async () => undefined,
  };
}

/** RFC 7386: null removes. */
function merged(target: Json, patch: Json): Json {
  const result: Record<string, unknown> = { ...target };
  for (const [key, value] of Object.entries(patch)) {
    const old = result[key];
    if (value === null) delete result[key];
    else result[key] = isJson(value) ? merged(isJson(old) ? old : {}, value) : value;
  }
  return result;
}

/** A Status, as the API server answers failures with. */
export function refused(code: number, reason: string): HttpResponse {
  return response(code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason });
}

function response(status: number, body: Json): HttpResponse {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return {
    status,
    header: () => undefined,
    body: (async function* () {
      yield bytes;
    })(),
    cancel: () => undefined,
  };
}
