/**
 * A function in a process of its own, as Lambda runs it, that kills itself at one of its calls:
 * `node doomed.ts <function> <event> <offset of the clock, ms> <call> <before|after>`. A call is a
 * request to the API server or to AWS. Without a kill it prints how many calls there were.
 */
import { subscribe } from 'node:diagnostics_channel';
import { contextOf, type Handler, type LoopFunction, ONE_PASS_MS } from './functions.ts';

const [name = '', event = '{}', offset = '0', call = '0', when = 'before'] = process.argv.slice(2);
const machine = Date.now;
Date.now = () => machine() + Number(offset);

let calls = 0;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

subscribe('http.client.request.start', () => {
  calls += 1;
  if (when === 'before' && calls === Number(call)) die();
});
subscribe('http.client.response.finish', () => {
  if (when === 'after' && calls >= Number(call) && Number(call) > 0) die();
});

const { handler } = (await import(`../../../functions/${name}/handler.ts`)) as { handler: Handler };
await handler(JSON.parse(event), contextOf(name as LoopFunction, ONE_PASS_MS));
process.stdout.write(`\ncalls: ${calls}\n`);
process.exit(0);
