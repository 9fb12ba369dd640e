/**
 * A function in a process of its own, as Lambda runs it, that kills itself at one of its calls:
 * `node doomed.ts <function> <event> <offset of the clock, ms> <call> <before|after>`. Without a kill
 * it prints the calls.
 */
import { dieAt } from './dying.ts';
import { contextOf, type Handler, type LoopFunction, ONE_PASS_MS } from './functions.ts';

const [name = '', event = '{}', offset = '0', pattern = '', when = 'before'] =
  process.argv.slice(2);
const machine = Date.now;
Date.now = () => machine() + Number(offset);
const calls = dieAt(pattern, when);

const { handler } = (await import(`../../../functions/${name}/handler.ts`)) as { handler: Handler };
await handler(JSON.parse(event), contextOf(name as LoopFunction, ONE_PASS_MS));
process.stdout.write(`\ncalls:\n${calls.join('\n')}\n`);
process.exit(0);
