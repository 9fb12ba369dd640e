import type { Stranded } from '../../model/plan.ts';
import { isBufferPod } from '../../model/pod.ts';
import type { PodClass } from '../problem/problem.ts';
import { numbers, shuffled } from '../pseudo-random.ts';
import type { SearchState } from '../search/search-state.ts';
import { holds } from '../search/type-options.ts';
import { type JoinOrder, Playback } from './playback.ts';

/** In how many batches the nodes join, for each order that is played back. */
const BATCHES = [1, 10, 1, 3, 10] as const;

/** Nodes looked at, of all pods in one order: larger plans are not played back. */
const LOOKS_MAX = 1_000_000;

/** A shuffle of the plan's bins for each of BATCHES. */
function joinOrders(count: number): readonly JoinOrder[] {
  const bins = Array.from({ length: count }, (_, index) => index);
  return BATCHES.map((batches, seed) => ({ bins: shuffled(bins, numbers(seed)), batches }));
}

/**
 * Plays the plan back as kube-scheduler would bind its pods. It only tells: more room would not
 * help those left over, and they get nodes in the next pass.
 */
export function strandedPods(state: SearchState): Stranded {
  const orders = joinOrders(state.bins.length);
  const playback = new Playback(state);
  if (playback.isCertain) return { orders: orders.length, pods: 0 };
  const nodes = Math.min(64, state.bins.length + state.existingNodes.length);
  if (playback.size * nodes > LOOKS_MAX) return { orders: 0, pods: 0 };
  return { orders: orders.length, pods: orders.reduce((sum, each) => sum + playback.run(each), 0) };
}

/** Shuffles of evicted pods that are played, beside the order of their age and its reverse. */
const SHUFFLES = 4;

/** Those that stand for the room of a CapacityBuffer take what the others leave. */
function withBuffersLast(pods: readonly PodClass[]): readonly PodClass[] {
  const isBuffer = (podClass: PodClass) => podClass.pods.slice(0, 1).some(isBufferPod);
  return [...pods.filter((each) => !isBuffer(each)), ...pods.filter(isBuffer)];
}

/** The least that a node of its own for a pod of the class costs an hour. */
function priceAlone({ context }: SearchState, { id, requests }: PodClass): number {
  const groups = context.resolvedClasses[id]?.groups ?? [];
  let least = Number.POSITIVE_INFINITY;
  for (const { paretoFront } of groups) {
    const option = paretoFront.find(({ free }) => holds(free, requests));
    if (option !== undefined) least = Math.min(least, option.price);
  }
  return least;
}

/**
 * USD an hour that nodes for the pods would cost which kube-scheduler may leave over at the worst,
 * where they are evicted elsewhere: nobody nominates what comes back, and it goes wherever it
 * scores best. 0: all find a place in every order that is played. Infinity: for one of them nothing
 * could be launched.
 */
export function strandedPrice(state: SearchState): number {
  const playback = new Playback(state);
  const orders: ((pods: readonly PodClass[]) => readonly PodClass[])[] = [
    (pods) => pods,
    (pods) => pods.toReversed(),
    ...Array.from(
      { length: SHUFFLES },
      (_, seed) => (pods: readonly PodClass[]) => shuffled(pods, numbers(seed)),
    ),
  ];
  let worst = 0;
  for (const order of orders) {
    const left = playback.runFree((pods) => withBuffersLast(order(pods)));
    const price = [...left].reduce(
      (sum, [podClass, amount]) => sum + amount * priceAlone(state, podClass),
      0,
    );
    worst = Math.max(worst, price);
  }
  return worst;
}
