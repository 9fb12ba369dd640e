import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { nodeOf, poolOf, snapshotOf } from '../test/builders/scheduling.ts';
import { mixedPods, priceList } from './workload.ts';

const TYPES = 1300;

const CASES: Readonly<Record<string, () => ClusterSnapshot>> = {
  '100,000 pods of 400 shapes, 1,300 types, 20 pools': () =>
    snapshotOf({
      pods: mixedPods(100_000),
      nodePools: Array.from({ length: 20 }, (_, index) => poolOf(`pool-${index}`)),
      types: priceList(TYPES),
    }),
  '300,000 pods on 10,000 nodes, 5,000 of them pending': () =>
    snapshotOf({
      pods: mixedPods(300_000, 295_000),
      nodes: Array.from({ length: 10_000 }, (_, index) => nodeOf(`node-${index}`, 64, 256)),
      types: priceList(TYPES),
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
