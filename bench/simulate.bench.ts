/**
 * What `joiner simulate` takes by the number of pods: `npm run bench -- simulate [PODS …]`.
 * Deployments of 20 pods each in a new EKS cluster, 30 simulated minutes; each size in a process
 * of its own, whose peak memory is the kernel's. The digest is of the final state: it tells whether
 * two versions come to the same end.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { eksCluster } from '../cli/simulate/eks-cluster.ts';
import { prepareSimulation, runUntil } from '../cli/simulate/run.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import type { Json } from '../shared/sim/json.ts';
import { deployment, NODE_CLASS } from './manifests.ts';

const SIZES = [1_000, 5_000, 20_000];
const REPLICAS = 20;
const MINUTES = 30;
const ONCE = 'once';
const KIB_PER_MIB = 1024;

export async function run(args: readonly string[] = []): Promise<void> {
  const [first, size] = args;
  if (first === ONCE) await once(Number(size));
  else compare(args.length === 0 ? SIZES : args.map(Number));
}

/** What a run of one size prints. */
interface Figures {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMib: number;
  readonly nodes: number;
  readonly pending: number;
  readonly pricePerHour: number;
  readonly digest: string;
}

function compare(sizes: readonly number[]): void {
  console.log('| pods | seconds | CPU s | per pod | peak MiB | nodes | pending | $/h | digest |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  let first: number | undefined;
  for (const pods of sizes) {
    const args = [join(import.meta.dirname, 'main.ts'), 'simulate', ONCE, String(pods)];
    const text = execFileSync(process.execPath, args, { encoding: 'utf8' });
    const figures = JSON.parse(text) as Figures;
    const perPod = figures.cpuSeconds / pods;
    first ??= perPod;
    const cells = [
      pods.toLocaleString('en'),
      figures.seconds.toFixed(1),
      figures.cpuSeconds.toFixed(1),
      `${(perPod / first).toFixed(2)} ×`,
      figures.peakMib.toFixed(0),
      figures.nodes,
      figures.pending,
      figures.pricePerHour.toFixed(2),
      figures.digest,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

async function once(pods: number): Promise<void> {
  const manifests = workload(pods);
  const objects = [...eksCluster(manifests).objects, ...manifests];
  const startMs = performance.now();
  const start = process.cpuUsage();
  const catalog = await loadCatalog('us-east-1');
  const simulation = await prepareSimulation({ catalog, seed: 1, manifests: objects });
  const state = await runUntil(simulation, MINUTES * 60_000);
  const { user, system } = process.cpuUsage(start);
  const figures: Figures = {
    seconds: (performance.now() - startMs) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peakMib: process.resourceUsage().maxRSS / KIB_PER_MIB,
    nodes: state.totals.nodes,
    pending: state.pods.pending.length,
    pricePerHour: state.totals.pricePerHour,
    digest: createHash('sha256').update(JSON.stringify(state)).digest('hex').slice(0, 8),
  };
  console.log(JSON.stringify(figures));
}

function workload(pods: number): readonly Json[] {
  const count = Math.ceil(pods / REPLICAS);
  return [NODE_CLASS, nodePool(), ...Array.from({ length: count }, (_, at) => workloadOf(at))];
}

/** Requests from 100m and 128 MiB up to 2 CPUs and 4 GiB, in no order of size. */
function workloadOf(at: number): Json {
  const cpu = `${100 + 50 * ((at * 37) % 39)}m`;
  const memory = `${128 * (1 + ((at * 23) % 32))}Mi`;
  return deployment(`app-${at}`, REPLICAS, { requests: { cpu, memory } });
}

function nodePool(): Json {
  const isIn = (key: string, values: readonly string[]) => ({ key, operator: 'In', values });
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
    spec: {
      template: {
        spec: {
          nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
          requirements: [
            isIn('karpenter.k8s.aws/instance-category', ['c', 'm', 'r']),
            isIn('kubernetes.io/arch', ['amd64']),
            isIn('karpenter.sh/capacity-type', ['on-demand']),
          ],
        },
      },
    },
  };
}
