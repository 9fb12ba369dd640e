import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** AWS says what it is asked for in a header or in the body. */
function callOf(request: ClientRequest, body: unknown): string {
  const target = request.getHeader('x-amz-target');
  if (typeof target === 'string') return target.split('.').at(-1) ?? target;
  const action = /(?:^|&)Action=(\w+)/.exec(String(body));
  return action?.[1] ?? `${request.method} ${request.path}`;
}

/**
 * Has this process kill itself at one of its calls: a request to the API server
 * (`PATCH /api/v1/nodes/a`) or to AWS (`CreateFleet`), the first that matches the pattern. An empty
 * pattern means none. Returns all calls that are made.
 */
export function dieAt(pattern: string, when: string): readonly string[] {
  const calls: string[] = [];
  const meant = pattern === '' ? undefined : new RegExp(pattern);
  let fatal: ClientRequest | undefined;
  const end = ClientRequest.prototype.end as (this: ClientRequest, ...args: unknown[]) => unknown;
  ClientRequest.prototype.end = function (this: ClientRequest, ...args: unknown[]) {
    const call = callOf(this, args[0]);
    calls.push(call);
    if (fatal === undefined && meant?.test(call) === true) {
      fatal = this;
      if (when === 'before') die();
    }
    return end.apply(this, args);
  } as typeof ClientRequest.prototype.end;
  subscribe('http.client.response.finish', (message) => {
    const { request } = message as { readonly request: ClientRequest };
    if (fatal !== undefined && request === fatal) die();
  });
  return calls;
}
