/**
 * A function in a process of its own, as Lambda runs it, that kills itself at one of its calls:
 * `node doomed.ts <function> <event> <offset of the clock, ms> <call> <before|after>`. A call is a
 * request to the API server (`PATCH /api/v1/nodes/a`) or to AWS (`CreateFleet`), and the first that
 * matches the pattern is meant; an empty pattern means none. Without a kill it prints the calls.
 */
import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { contextOf, type Handler, type LoopFunction, ONE_PASS_MS } from './functions.ts';

const [name = '', event = '{}', offset = '0', pattern = '', when = 'before'] =
  process.argv.slice(2);
const machine = Date.now;
Date.now = () => machine() + Number(offset);

const calls: string[] = [];
const meant = pattern === '' ? undefined : new RegExp(pattern);
let fatal: ClientRequest | undefined;

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

const { handler } = (await import(`../../../functions/${name}/handler.ts`)) as { handler: Handler };
await handler(JSON.parse(event), contextOf(name as LoopFunction, ONE_PASS_MS));
process.stdout.write(`\ncalls:\n${calls.join('\n')}\n`);
process.exit(0);
