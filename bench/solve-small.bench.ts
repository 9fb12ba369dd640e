import { DEFAULT_SCHEDULING_SETTINGS } from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { nodeOf, snapshotOf } from '../test/builders/scheduling.ts';
import { mixedPods, priceList } from './workload.ts';

const TYPES = 800;
const NODES = 1000;
/** Pods on each node, which fill it to a half. */
const PODS_PER_NODE = 10;
const REPEATS = 50;
const BOUND = NODES * PODS_PER_NODE;

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** CPU time of one solve after another of a few new pods in a cluster of 1,000 nodes, as a warm function does. */
export function run(args: readonly string[]): void {
  const counts = args.length > 0 ? args.map(Number) : [1, 10, 50, 100];
  // As a function keeps them from one pass to the next while no price and no bar changes.
  const { instanceTypes } = snapshotOf({ types: priceList(TYPES) });
  const nodes = Array.from({ length: NODES }, (_, index) => nodeOf(`node-${index}`, 16, 64));
  const bound = mixedPods(BOUND, BOUND).map((pod, index) => ({
    ...pod,
    nodeName: `node-${index % NODES}`,
  }));
  for (const isEmpty of [true, false]) {
    for (const count of counts) {
      const times = Array.from({ length: REPEATS + 1 }, (_, round) => {
        const pods = mixedPods(count + round).slice(round);
        const cluster = isEmpty ? { pods } : { pods: [...bound, ...pods], nodes };
        const snapshot = { ...snapshotOf(cluster), instanceTypes };
        const before = process.cpuUsage();
        solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      });
      const [first = 0, ...warm] = times;
      const where = isEmpty ? 'no nodes' : `${NODES} nodes, ${BOUND} pods`;
      process.stdout.write(
        `${count} pods, ${where}: ${median(warm).toFixed(1)} CPU ms (first ${first.toFixed(0)})\n`,
      );
    }
  }
}
