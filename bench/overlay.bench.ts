/**
 * How long overlays take: `npm run bench -- overlay`. Karpenter's controller took 49 s for the first
 * size (v1.14.1, the same shape of input, one core).
 */
import { performance } from 'node:perf_hooks';
import type { InstanceType, Offering } from '../shared/core/model/instance-type.ts';
import type { NodeOverlay, NodePool } from '../shared/core/model/provisioning.ts';
import { resolveOverlays } from '../shared/core/overlay/resolve.ts';
import { instanceType, nodeOverlay, nodePool, offering } from '../test/builders/overlays.ts';

interface Size {
  readonly overlays: number;
  readonly pools: number;
  readonly types: number;
  readonly offerings: number;
}

const SIZES: readonly Size[] = [
  { overlays: 200, pools: 20, types: 800, offerings: 6 },
  { overlays: 1000, pools: 50, types: 1300, offerings: 6 },
];

const RUNS = 9;

export function run(): void {
  console.log('overlays  pools  types  offerings  cold ms  median ms  heap MiB');
  for (const size of SIZES) report(size);
}

function report(size: Size): void {
  const types = typesOf(size);
  const pools = Array.from({ length: size.pools }, (_, at) =>
    nodePool(`pool-${at}`, { team: `team-${at % 5}` }),
  );
  const lists = new Map(pools.map((pool) => [pool.name, types]));
  const overlays = overlaysOf(size);
  const times: number[] = [];
  let heap = 0;
  for (let each = 0; each < RUNS; each++) {
    const { ms, mib } = measure(pools, lists, overlays);
    times.push(ms);
    heap = Math.max(heap, mib);
  }
  const cold = times[0] ?? 0;
  const median = times.toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
  const cells = [size.overlays, size.pools, size.types, size.offerings];
  const figures = [cold.toFixed(1), median.toFixed(1), heap.toFixed(1)];
  console.log([...cells, ...figures].map((cell) => String(cell).padStart(8)).join(' '));
}

function measure(
  pools: readonly NodePool[],
  lists: ReadonlyMap<string, readonly InstanceType[]>,
  overlays: readonly NodeOverlay[],
): { readonly ms: number; readonly mib: number } {
  globalThis.gc?.();
  const heapBefore = process.memoryUsage().heapUsed;
  const before = performance.now();
  const { overlays: reports } = resolveOverlays(pools, lists, overlays);
  const ms = performance.now() - before;
  const mib = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;
  if (reports.length !== overlays.length) throw new Error('an overlay was lost');
  return { ms, mib };
}

function typesOf(size: Size): readonly InstanceType[] {
  return Array.from({ length: size.types }, (_, at) => {
    const offerings: Offering[] = Array.from({ length: size.offerings }, (_unused, index) =>
      offering(`zone-${index >> 1}`, index % 2 === 0 ? 'on-demand' : 'spot', 0.01 * (at + 1)),
    );
    return instanceType(`type-${at}.large`, offerings, {
      'karpenter.k8s.aws/instance-family': [`type-${at % 120}`],
      'karpenter.k8s.aws/instance-cpu': [String(2 ** (at % 7))],
      'kubernetes.io/arch': [at % 2 === 0 ? 'amd64' : 'arm64'],
    });
  });
}

/** A mix of prices and capacities, some for one team, some that cover each other. */
function overlaysOf(size: Size): readonly NodeOverlay[] {
  return Array.from({ length: size.overlays }, (_, at) => {
    const family = { key: 'karpenter.k8s.aws/instance-family', operator: 'In' };
    const requirements: object[] = [{ ...family, values: [`type-${at % 120}`, `type-${at % 97}`] }];
    if (at % 3 === 0) {
      requirements.push({ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] });
    }
    if (at % 5 === 0)
      requirements.push({ key: 'team', operator: 'In', values: [`team-${at % 4}`] });
    if (at % 7 === 0) requirements.push({ key: 'kubernetes.io/arch', operator: 'Exists' });
    const change =
      at % 4 === 0 ? { capacity: { 'example.com/slots': '8' } } : { priceAdjustment: '-5%' };
    return nodeOverlay(`overlay-${at}`, { requirements, weight: at + 1, ...change });
  });
}
