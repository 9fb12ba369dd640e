/**
 * What reading a large cluster takes, next to @kubernetes/client-node on the same API server:
 * `npm run bench -- list-memory [PODS=10000] [NODES=1000] [VARIABLES=60]`. Each list in a process of
 * its own, all in turn; the process's peak by the kernel, above what it had before the list.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RESOURCES } from '../shared/kube/resources.ts';
import {
  boundPod,
  createNode,
  each,
  furnish,
  nodeName,
  startWorld,
  type World,
} from './large-cluster.ts';

const RUNS = 5;
/** client-node's list of more pods than this is not for a machine of 24 GB. */
const COMPARED_MAX = 20_000;
const MIB = 2 ** 20;
const SCRIPT = join(import.meta.dirname, 'list-once.ts');

interface Listing {
  readonly pods: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly idle: number;
  readonly peak: number;
}

export async function run(args: readonly string[] = []): Promise<void> {
  const [pods = 10_000, nodes = 1_000, variables = 60] = args.map(Number);
  const world = await startWorld({ controllers: false });
  const folder = mkdtempSync(join(tmpdir(), 'joiner-list-'));
  try {
    await furnish(world);
    await each(nodes, (at) => createNode(world.admin, at));
    const create = async (at: number): Promise<void> => {
      const pod = boundPod(at, nodeName(at % nodes), variables);
      await world.admin.create(RESOURCES.pods, pod, 'default');
    };
    await each(pods, create);
    const bytes = await podBytes(world);
    console.log(`${pods} pods of ${(bytes / 1000).toFixed(1)} kB of JSON, ${nodes} nodes\n`);
    const caFile = join(folder, 'ca.crt');
    writeFileSync(caFile, world.plane.caPem);
    await compare(world, caFile, pods);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await world.stop();
  }
}

async function podBytes({ admin }: World): Promise<number> {
  const pod = await admin.get(RESOURCES.pods, { namespace: 'default', name: 'pod-1' });
  return JSON.stringify(pod).length;
}

async function compare(world: World, caFile: string, pods: number): Promise<void> {
  const modes = ['joiner', 'joiner-protobuf', 'joiner-json'];
  if (pods <= COMPARED_MAX) modes.push('client-node');
  const found = new Map<string, Listing[]>(modes.map((mode) => [mode, []]));
  // The first of all fills the API server's caches for the others.
  await listOnce(world, caFile, 'joiner');
  for (let round = 0; round < RUNS; round += 1) {
    for (const mode of modes) found.get(mode)?.push(await listOnce(world, caFile, mode));
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

async function listOnce(world: World, caFile: string, mode: string): Promise<Listing> {
  const { url, adminToken } = world.plane;
  const child = spawn(process.execPath, [SCRIPT, mode], {
    env: { BENCH_URL: url, BENCH_CA: caFile, BENCH_TOKEN: adminToken },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(text) as Listing;
}
