/** Writes the plugin for Headlamp into dist/headlamp: `npm run release:headlamp`. */
import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { buildHeadlampPlugin } from './headlamp/build.ts';

const root = join(import.meta.dirname, '..');
const main = await buildHeadlampPlugin(join(root, 'dist/headlamp'));
const kilobytes = Math.ceil(statSync(main).size / 1000);
process.stdout.write(`${relative(root, main)}  ${kilobytes} kB\n`);
