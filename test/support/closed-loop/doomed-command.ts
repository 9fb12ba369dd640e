/**
 * A command line in a process of its own that kills itself at one of its calls:
 * `node doomed-command.ts <arguments as JSON> <offset of the clock, ms> <call> <before|after>`.
 */
import { main } from '../../../cli/main.ts';
import { dieAt } from './dying.ts';

const [args = '[]', offset = '0', pattern = '', when = 'before'] = process.argv.slice(2);
const machine = Date.now;
Date.now = () => machine() + Number(offset);
dieAt(pattern, when);
await main(['node', 'joiner', ...(JSON.parse(args) as readonly string[])]);
