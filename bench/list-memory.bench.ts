/**
 * What reading a large cluster takes, next to @kubernetes/client-node on the same API server:
 * `npm run bench -- list-memory [PODS=10000] [NODES=1000]`, and for sizes that take too long to
 * make, reading and deciding from pages on loopback: `npm run bench -- list-memory paged
 * [PODS=100000] [NODES=10000]`. Each in a process of its own, all in turn; the peak is the kernel's.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESOURCES } from '../shared/api/resources.ts';
import { each, upTo } from './at-once.ts';
import {
  boundPod,
  createNode,
  furnish,
  nodeName,
  startWorld,
  type World,
} from './large-cluster.ts';

const RUNS = 5;
const MIB = 2 ** 20;
const SCRIPT = join(import.meta.dirname, 'list-once.ts');
const PAGED = join(import.meta.dirname, 'paged-cluster.ts');
const MODES = ['joiner', 'joiner-protobuf', 'joiner-json', 'client-node'];

interface Listing {
  readonly pods: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly idle: number;
  readonly peak: number;
}

export async function run(args: readonly string[] = []): Promise<void> {
  const [first = '', ...rest] = args;
  await (first === 'paged' ? runPaged(rest.map(Number)) : runReal(args.map(Number)));
}

async function runReal([pods = 10_000, nodes = 1_000]: readonly number[]): Promise<void> {
  const world = await startWorld({ controllers: false });
  const folder = mkdtempSync(join(tmpdir(), 'joiner-list-'));
  try {
    await furnish(world);
    await each(upTo(nodes), (at) => createNode(world.admin, at));
    await each(upTo(pods), async (at) => {
      await world.admin.create(RESOURCES.pods, boundPod(at, nodeName(at % nodes)), 'default');
    });
    const bytes = await podBytes(world);
    console.log(`${pods} pods of ${(bytes / 1000).toFixed(1)} kB of JSON, ${nodes} nodes\n`);
    const caFile = join(folder, 'ca.crt');
    writeFileSync(caFile, world.plane.caPem);
    const { url, adminToken } = world.plane;
    await compare({ BENCH_URL: url, BENCH_CA: caFile, BENCH_TOKEN: adminToken }, MODES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await world.stop();
  }
}

async function runPaged([pods = 100_000, nodes = 10_000]: readonly number[]): Promise<void> {
  const server = spawn(process.execPath, [PAGED, `${pods}`, `${nodes}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    server.stdout.setEncoding('utf8');
    const [url] = (await once(server.stdout, 'data')) as [string];
    console.log(`${pods} pods, one in a hundred pending, ${nodes} nodes, from pages on loopback\n`);
    await compare({ BENCH_URL: url.trim(), BENCH_TOKEN: 'none' }, ['joiner', 'joiner-decide']);
  } finally {
    server.kill();
  }
}

async function podBytes({ admin }: World): Promise<number> {
  const pod = await admin.get(RESOURCES.pods, { namespace: 'default', name: 'pod-1' });
  return JSON.stringify(pod).length;
}

type Environment = Readonly<Record<string, string>>;

async function compare(environment: Environment, modes: readonly string[]): Promise<void> {
  const found = new Map<string, Listing[]>(modes.map((mode) => [mode, []]));
  // The first of all fills the API server's caches for the others.
  await listOnce(environment, 'joiner');
  for (let round = 0; round < RUNS; round += 1) {
    for (const mode of modes) found.get(mode)?.push(await listOnce(environment, mode));
  }
  console.log('| read by | ms | CPU ms | idle MiB | peak MiB | above idle MiB, all runs |');
  console.log('|---|---|---|---|---|---|');
  for (const [mode, listings] of found) {
    const above = listings.map(({ idle, peak }) => Math.round((peak - idle) / MIB));
    const cells = [
      mode,
      median(listings.map(({ ms }) => ms)).toFixed(0),
      median(listings.map(({ cpuMs }) => cpuMs)).toFixed(0),
      median(listings.map(({ idle }) => idle / MIB)).toFixed(0),
      Math.max(...listings.map(({ peak }) => peak / MIB)).toFixed(0),
      above.join(', '),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function listOnce(environment: Environment, mode: string): Promise<Listing> {
  const child = spawn(process.execPath, [SCRIPT, mode], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(text) as Listing;
}
