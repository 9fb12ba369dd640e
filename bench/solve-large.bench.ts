import type { InstanceType } from '../shared/core/model/instance-type.ts';
import type { Pod } from '../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { GI, nodeOf, podOf, poolOf, snapshotOf, typeOf } from '../test/builders/scheduling.ts';

const SHAPES = 400;
const TYPES = 1300;

/** Sizes by vCPU and families by memory per vCPU, each a little dearer than the one before. */
function types(): readonly InstanceType[] {
  const sizes = [2, 4, 8, 16, 32, 48, 64, 96];
  return Array.from({ length: TYPES }, (_, index) => {
    const cpu = sizes[index % sizes.length] ?? 2;
    const family = Math.floor(index / sizes.length);
    const perCpu = [2, 4, 8][family % 3] ?? 4;
    const price = cpu * (0.02 + 0.006 * perCpu) * (1 + 0.004 * family);
    return typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, price, { spot: true });
  });
}

/** Pods that share the specs of SHAPES, in the order in which a cluster's deployments mix. */
function pods(count: number, nodes: number): readonly Pod[] {
  const shapes = Array.from({ length: SHAPES }, (_, index) =>
    podOf('shape', { cpu: 100 + 50 * (index % 40), memory: ((2 + (index % 37)) * GI) / 16 }),
  );
  return Array.from({ length: count }, (_, index) => {
    const shape = shapes[(index * 7) % SHAPES] as Pod;
    const nodeName = index < nodes ? `node-${index % 10_000}` : undefined;
    const isBound = nodeName !== undefined;
    return {
      ...shape,
      name: `pod-${index}`,
      uid: `uid-${String(index).padStart(7, '0')}`,
      createdAtMs: index,
      nodeName,
      phase: isBound ? ('Running' as const) : ('Pending' as const),
      unschedulable: !isBound,
    };
  });
}

const CASES: Readonly<Record<string, () => ClusterSnapshot>> = {
  '100,000 pods of 400 shapes, 1,300 types, 20 pools': () =>
    snapshotOf({
      pods: pods(100_000, 0),
      nodePools: Array.from({ length: 20 }, (_, index) => poolOf(`pool-${index}`)),
      types: types(),
    }),
  '300,000 pods on 10,000 nodes, 5,000 of them pending': () =>
    snapshotOf({
      pods: pods(300_000, 295_000),
      nodes: Array.from({ length: 10_000 }, (_, index) => nodeOf(`node-${index}`, 64, 256)),
      types: types(),
    }),
};

/** One solve of each case in this process, cold; with a number only that case. */
export function run(args: readonly string[]): void {
  for (const [index, [name, snapshotFor]] of Object.entries(CASES).entries()) {
    if (args.length > 0 && !args.includes(String(index + 1))) continue;
    const snapshot = snapshotFor();
    const cpu = process.cpuUsage();
    const start = performance.now();
    const plan = solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const rss = process.resourceUsage().maxRSS / 1024;
    process.stdout.write(
      `${name}: ${ms.toFixed(0)} ms, ${((user + system) / 1000).toFixed(0)} CPU ms, ` +
        `${rss.toFixed(0)} MiB, ${plan.newNodeClaims.length} new nodes, ` +
        `${plan.unplaced.size} left over\n`,
    );
  }
}
