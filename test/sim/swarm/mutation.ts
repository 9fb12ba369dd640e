/**
 * What the simulator does not see: `npm run sim:mutants -- [--only TEXT] [--seeds N]`. Each mutant
 * is put into a copy of the sources, and seeds are run until one fails. A mutant that no seed fails
 * with is a check or a fault that is missing.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTANTS, type Mutant } from './mutants.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = ['package.json', 'shared', 'functions', 'test'] as const;

/** The sources with the mutant in them. */
function copyWith({ name, file, from, to }: Mutant): string {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-mutant-'));
  for (const each of COPIED) cpSync(join(ROOT, each), join(folder, each), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, file);
  const [before, after, more] = readFileSync(path, 'utf8').split(from);
  if (before === undefined || after === undefined || more !== undefined) {
    throw new Error(`mutant "${name}": its text is not once in ${file}`);
  }
  writeFileSync(path, before + to + after);
  return folder;
}

/** What the first seed that fails says; undefined: none does. */
async function seenIn(folder: string, seeds: number): Promise<string | undefined> {
  const main = join(folder, 'test/sim/swarm/main.ts');
  const args = [main, '--seeds', String(seeds), '--until-failure'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      output += text;
    });
  }
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code === 0) return undefined;
  const said = output.split('\n').find((line) => line.startsWith('seed '));
  if (said === undefined) throw new Error(output);
  return said;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string', default: '' }, seeds: { type: 'string', default: '200' } },
  });
  const chosen = MUTANTS.filter(({ name }) => name.includes(values.only));
  let missed = 0;
  for (const mutant of chosen) {
    const folder = copyWith(mutant);
    const said = await seenIn(folder, Number(values.seeds)).finally(() =>
      rmSync(folder, { recursive: true }),
    );
    missed += said === undefined ? 1 : 0;
    process.stdout.write(`${said === undefined ? 'MISSED' : 'seen  '}  ${mutant.name}\n`);
    if (said !== undefined) process.stdout.write(`        ${said.slice(0, 160)}\n`);
  }
  process.stdout.write(`${chosen.length - missed} of ${chosen.length} mutants seen\n`);
  process.exitCode = missed === 0 ? 0 : 1;
}

await main();
