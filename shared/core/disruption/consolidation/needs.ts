import { missing } from '../../missing.ts';
import { type Pod, podKey } from '../../model/pod.ts';
import type { PodClass } from '../../scheduling/problem/problem.ts';
import type { SearchState } from '../../scheduling/search/search-state.ts';
import { isReschedulable } from '../candidates.ts';

/** How many pods of each class. */
type Amounts = Map<PodClass, number>;

/** What a node has that goes. */
interface Leaving {
  readonly pods: readonly Pod[];
}

function add(amounts: Amounts, podClass: PodClass, amount: number): void {
  amounts.set(podClass, (amounts.get(podClass) ?? 0) + amount);
}

/** Takes what it can of the wanted pods out of the places. */
function take(wanted: Amounts, places: Amounts): void {
  for (const [podClass, amount] of wanted) {
    const found = Math.min(amount, places.get(podClass) ?? 0);
    add(places, podClass, -found);
    add(wanted, podClass, -found);
  }
}

function overlap(wanted: Amounts, places: Amounts): number {
  let sum = 0;
  for (const [podClass, amount] of wanted) sum += Math.min(amount, places.get(podClass) ?? 0);
  return sum;
}

/** The new node that has places for most of the pods; undefined: none has any. */
function largest(wanted: Amounts, bins: readonly Amounts[]): number | undefined {
  let [best, most]: [number | undefined, number] = [undefined, 0];
  for (const [at, places] of bins.entries()) {
    const found = overlap(wanted, places);
    if (found > most) [best, most] = [at, found];
  }
  return best;
}

function wantedBy({ pods }: Leaving, classOf: ReadonlyMap<string, PodClass>): Amounts {
  const wanted: Amounts = new Map();
  for (const pod of pods) {
    const podClass = isReschedulable(pod) ? classOf.get(podKey(pod)) : undefined;
    if (podClass !== undefined) add(wanted, podClass, 1);
  }
  return wanted;
}

/**
 * For each node that goes, the indexes of the plan's new nodes that its pods need. Pods alike may
 * take each other's places: they are dealt so that a node waits for few new ones, and what becomes
 * of one of these concerns few. A node whose pods fit on nodes that are there goes with the first.
 * A new node that no pod of theirs goes to, as it is room of a CapacityBuffer, is needed by all.
 */
export function needsOf(
  world: SearchState,
  nodes: readonly Leaving[],
): readonly ReadonlySet<number>[] {
  const classOf = new Map(
    world.context.problem.classes.flatMap((each) =>
      each.pods.map((pod) => [podKey(pod), each] as const),
    ),
  );
  const bins = world.bins.map(({ content }): Amounts => new Map(content));
  const rooms: Amounts = new Map();
  for (const { content } of world.existingNodes) {
    for (const [podClass, amount] of content) add(rooms, podClass, amount);
  }
  const needs = nodes.map((node) => {
    const wanted = wantedBy(node, classOf);
    const own = new Set<number>();
    take(wanted, rooms);
    for (;;) {
      const at = largest(wanted, bins);
      if (at === undefined) break;
      take(wanted, bins[at] ?? missing(at));
      own.add(at);
    }
    return own;
  });
  const needed = new Set(needs.flatMap((own) => [...own]));
  const shared = bins.map((_, at) => at).filter((at) => !needed.has(at));
  return needs.map((own) => {
    const all = new Set([...own, ...shared]);
    return all.size > 0 || bins.length === 0 ? all : new Set([0]);
  });
}
