/**
 * Days of a cluster whose pods come and end, by Joiner and by Karpenter's published rules in the
 * same world: `npm run bench -- online month [DAYS [SCALE]]` (made, seeded; a scale below 1 is a
 * smaller cluster), and with `cpu FILE [DAYS]` or `gpu FILE [DAYS]` the last days of openb's pod
 * list (`online/arrivals.ts`). Each way runs in a process of its own, both at once.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eksCluster } from '../cli/simulate/eks-cluster.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import { catalogPort } from '../shared/catalog/port.ts';
import { isPending } from '../shared/core/nomination/planned-pods.ts';
import { readState } from '../shared/sim/decode.ts';
import { type Json, textAt } from '../shared/sim/json.ts';
import type { ScenarioStep } from '../shared/sim/scenario.ts';
import { Script } from '../shared/sim/script.ts';
import { WORLD_START_MS, World } from '../shared/sim/world.ts';
import { NODE_CLASS } from './manifests.ts';
import { madeMonth, traceOf } from './online/arrivals.ts';
import { floorOf } from './online/floor.ts';
import { KarpentersWorld } from './online/karpenters-world.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
/** By then the EC2NodeClass has its AMIs and subnets. */
const SETTLED_MS = 120_000;
const SEED = 7;
const OUTPUT_MAX = 1 << 26;

const WAYS = { joiner: World, karpenter: KarpentersWorld } as const;

type Way = keyof typeof WAYS;

/** What one way comes to. */
interface Figures {
  readonly cost: number;
  readonly evictions: number;
  readonly launches: number;
  readonly pods: number;
  readonly pendingMean: number;
  readonly pending95: number;
  readonly left: number;
  readonly cpuSeconds: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const [first = '', ...rest] = args;
  if (first in WAYS) {
    process.stdout.write(JSON.stringify(await played(first as Way, rest)));
    return;
  }
  const playing = promisify(execFile);
  const main = join(import.meta.dirname, 'main.ts');
  const ways = await Promise.all(
    Object.keys(WAYS).map(async (way) => {
      const own = [...process.execArgv, main, 'online', way, ...args];
      const { stdout } = await playing(process.execPath, own, { maxBuffer: OUTPUT_MAX });
      return [way, JSON.parse(stdout) as Figures] as const;
    }),
  );
  console.log('| way | $ | evictions | launches | pods | s pending, mean | p95 | left | CPU s |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const [way, each] of ways) {
    const { cost, evictions, launches, pods, pendingMean, pending95, left, cpuSeconds } = each;
    const seconds = [pendingMean.toFixed(1), pending95.toFixed(0)];
    const cells = [cost.toFixed(2), evictions, launches, pods, ...seconds, left];
    console.log(`| ${[way, ...cells, cpuSeconds.toFixed(0)].join(' | ')} |`);
  }
  const { steps, days } = arrivalsOf(args);
  const world = await worldOf('joiner');
  await world.run(WORLD_START_MS + SETTLED_MS);
  console.log(`no way costs less than $${(await floorOf(world, steps, days * DAY_MS)).toFixed(2)}`);
}

function arrivalsOf([kind, ...rest]: readonly string[]): {
  readonly steps: readonly ScenarioStep[];
  readonly days: number;
} {
  if (kind === 'month') {
    const [days = DAYS, scale = 1] = rest.map(Number);
    return { days, steps: madeMonth(days, scale, SEED) };
  }
  const [file, days = DAYS] = rest;
  if ((kind !== 'cpu' && kind !== 'gpu') || file === undefined) {
    throw new Error('usage: online month [DAYS [SCALE]] | online cpu|gpu FILE [DAYS]');
  }
  return { days: Number(days), steps: traceOf(file, Number(days), kind === 'gpu') };
}

/** The cluster that both ways begin with: a NodePool, and no pods but its own. */
async function worldOf(way: Way): Promise<World> {
  const catalog = await loadCatalog('us-east-1');
  const Ways = WAYS[way];
  const world = new Ways({
    cluster: 'demo',
    seed: SEED,
    zones: catalog.zones,
    catalog: catalogPort(catalog.region, () => catalog),
  });
  const manifests = [nodePool(), NODE_CLASS];
  scriptOf(world).apply([...eksCluster(manifests).objects, ...manifests]);
  return world;
}

function scriptOf(world: World): Script {
  return new Script(world, { manifests: () => [], reprice: () => undefined });
}

/** The way to the end of the days. */
async function played(way: Way, args: readonly string[]): Promise<Figures> {
  const { steps, days } = arrivalsOf(args);
  const start = process.cpuUsage();
  const world = await worldOf(way);
  const waited = pendingSeconds(world);
  scriptOf(world).plan({ steps: [...steps] });
  await world.run(WORLD_START_MS + days * DAY_MS);
  const { user, system } = process.cpuUsage(start);
  const times = [...waited.values()].sort((a, b) => a - b);
  return {
    cost: world.cost,
    evictions: world.evictions,
    launches: world.launched,
    pods: times.length,
    pendingMean: times.reduce((sum, each) => sum + each, 0) / times.length,
    pending95: times[Math.floor(times.length * 0.95)] ?? 0,
    left: readState(world.store).objects.pods.filter(isPending).length,
    cpuSeconds: (user + system) / 1e6,
  };
}

/** By pod of the workload that was bound: how long it waited. */
function pendingSeconds({ store, timeline }: World): ReadonlyMap<string, number> {
  const waited = new Map<string, number>();
  store.onChange(({ kind, object }) => {
    if (object.kind !== 'Pod' || kind !== 'updated') return;
    if (object.metadata.namespace !== 'default') return;
    const uid = object.metadata.uid ?? '';
    if (textAt(object, 'spec', 'nodeName') === undefined || waited.has(uid)) return;
    const createdAtMs = Date.parse(object.metadata.creationTimestamp ?? '');
    waited.set(uid, (timeline.nowMs() - createdAtMs) / 1000);
  });
  return waited;
}

/** A NodePool as Karpenter's guide begins with it, on demand. */
function nodePool(): Json {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const requirements = [
    { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r', 'g'] },
    { key: 'karpenter.k8s.aws/instance-generation', operator: 'Gt', values: ['2'] },
    { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
    { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  ];
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: { spec: { nodeClassRef, requirements } },
      disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '1m' },
    },
  };
}
