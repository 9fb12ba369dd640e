/**
 * Bundles of the functions as they are deployed, and what importing them costs in a cold process:
 * `npm run bench -- functions`. CPU is compared with that of an empty ESM module in the same run.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleFunction } from '../infra/bundle.ts';
import { ENV, FUNCTION_NAMES } from '../shared/contract.ts';

const RUNS = 9;

/** Environment with which a handler can be imported; nothing is called. */
const ENVIRONMENT = {
  [ENV.cluster]: 'demo',
  [ENV.function]: 'provision',
  [ENV.version]: 'bench',
  [ENV.account]: '111122223333',
  [ENV.bucket]: 'joiner-demo',
  [ENV.eventBus]: 'joiner-demo',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
};

/** Median CPU milliseconds of a process that imports the module and ends. */
function importCpuMs(module: string): number {
  const script = `await import(${JSON.stringify(module)}); const { user, system } = process.cpuUsage(); process.stdout.write(String((user + system) / 1000)); process.exit(0);`;
  const times = Array.from({ length: RUNS }, () => {
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script],
      { env: { ...process.env, ...ENVIRONMENT }, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(stderr);
    return Number(stdout);
  });
  return times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-bundles-'));
  const empty = join(folder, 'empty.mjs');
  writeFileSync(empty, 'export const handler = async () => {};\n');
  const base = importCpuMs(empty);
  console.log(`empty handler: ${base.toFixed(0)} ms CPU`);
  console.log('function      KB    gz KB   import CPU ms   ratio to empty');
  for (const name of FUNCTION_NAMES) {
    const bundle = await bundleFunction(name, folder);
    const file = join(bundle.folder, 'index.mjs');
    const kb = statSync(file).size / 1000;
    const gz = gzipSync(readFileSync(file)).length / 1000;
    const cpu = importCpuMs(file);
    const cells = [kb.toFixed(0), gz.toFixed(0), cpu.toFixed(0), (cpu / base).toFixed(2)];
    console.log(`${name.padEnd(10)} ${cells.map((each) => each.padStart(8)).join('  ')}`);
  }
}
