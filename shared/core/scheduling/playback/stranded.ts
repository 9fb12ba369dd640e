import { drainFault, isRolledOut } from '../../lifecycle/drain.ts';
import { type EvictionOrder, ownerOf } from '../../lifecycle/eviction-order.ts';
import type { Stranded } from '../../model/plan.ts';
import { isBufferPod } from '../../model/pod.ts';
import { CPU, MEMORY } from '../../model/resources.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import { numbers, shuffled } from '../pseudo-random.ts';
import type { SearchState } from '../search/search-state.ts';
import { holds } from '../search/type-options.ts';
import type { Scoring } from './node-scores.ts';
import { type JoinOrder, type LeftOver, Playback } from './playback.ts';

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
/** So many owners' pods are played as if they came first: those of one owner come together. */
const FIRST_MAX = 8;

/** Those that stand for the room of a CapacityBuffer take what the others leave. */
function withBuffersLast(pods: readonly PodClass[]): readonly PodClass[] {
  const isBuffer = (podClass: PodClass) => podClass.pods.slice(0, 1).some(isBufferPod);
  return [...pods.filter((each) => !isBuffer(each)), ...pods.filter(isBuffer)];
}

/** The least that a node of its own for a pod of the class costs an hour. */
function priceAlone({ context }: SearchState, { id, requests }: PodClass): number {
  return leastPrice(context.resolvedClasses[id]?.groups ?? [], requests);
}

function leastPrice(groups: readonly LaunchGroup[], requests: Float64Array): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { paretoFront } of groups) {
    const option = paretoFront.find(({ free }) => holds(free, requests));
    if (option !== undefined) least = Math.min(least, option.price);
  }
  return least;
}

/** What becomes of pods for which kube-scheduler finds no place. */
export interface Stranding {
  /** USD an hour that nodes for them would cost at the worst; 0: all find a place. */
  readonly price: number;
  /** The order in which they have to be evicted for that; undefined: it holds for any order. */
  readonly order: EvictionOrder | undefined;
}

function priceOf(state: SearchState, { pods, inbound }: LeftOver): number {
  const ofPods = [...pods].map(([podClass, amount]) => amount * priceAlone(state, podClass));
  const { groups } = state.context.problem;
  const ofInbound = inbound.map((requests) => leastPrice(groups, requests));
  return [...ofPods, ...ofInbound].reduce((sum, price) => sum + price, 0);
}

/** The pods of a plan, each as its class, in which they come to kube-scheduler. */
type Order = (pods: readonly PodClass[]) => readonly PodClass[];

const SCORINGS: readonly Scoring[] = ['balanced', 'least-allocated'];

/** How many of the plan's nodes, old and new, the class may go to by what it asks of nodes. */
function sitesOf({ context, bins }: SearchState, { rule }: PodClass): number {
  const old = context.allowedNodes(rule).positions;
  const made = bins.filter(({ reserved }) => reserved.group.allowed[rule.id] === 1);
  return old.length + made.length;
}

/** Classes that may go to few nodes come first, and of those the ones with large pods. */
function choosiestFirst(state: SearchState, classes: readonly PodClass[]): readonly PodClass[] {
  const { resources } = state.context.problem;
  const main = [CPU, MEMORY].map((name) => resources.indexOf(name)).filter((at) => at >= 0);
  const most = main.map((at) => Math.max(1, ...classes.map(({ requests }) => requests[at] ?? 0)));
  const size = ({ requests }: PodClass): number =>
    Math.max(...main.map((at, n) => (requests[at] ?? 0) / (most[n] ?? 1)));
  const sites = new Map(classes.map((each) => [each, sitesOf(state, each)]));
  return classes.toSorted(
    (a, b) => (sites.get(a) ?? 0) - (sites.get(b) ?? 0) || size(b) - size(a) || a.id - b.id,
  );
}

function byClass(classes: readonly PodClass[]): Order {
  const ranks = new Map([...new Set(classes)].map((each, rank) => [each, rank]));
  return (pods) => pods.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

/** So many orders are tried: whatever is left over in one comes first in the next. */
const ORDERS_TRIED = 6;
/** An order with more entries than these is not written: pods are evicted at once. */
const ORDER_MAX = 100;

/** A drain restarts Deployments before it evicts anything: these pods come before all others. */
function restartedFirst(classes: readonly PodClass[]): readonly PodClass[] {
  const isRestarted = ({ pods }: PodClass): boolean =>
    pods.some((pod) => isRolledOut(pod) && drainFault(pod) === undefined);
  return [...classes.filter(isRestarted), ...classes.filter((each) => !isRestarted(each))];
}

/** The order of classes in which the least is left over, and what that would cost. */
function bestOrder(
  state: SearchState,
  placed: readonly PodClass[],
  leftIn: (order: Order) => LeftOver,
): { readonly price: number; readonly classes: readonly PodClass[] } {
  let classes = restartedFirst(choosiestFirst(state, placed));
  let best = { price: Number.POSITIVE_INFINITY, classes };
  for (let tried = 0; tried < ORDERS_TRIED && best.price > 0; tried += 1) {
    const left = leftIn(byClass(classes));
    const price = priceOf(state, left);
    if (price < best.price) best = { price, classes };
    classes = restartedFirst([
      ...classes.filter((each) => left.pods.has(each)),
      ...classes.filter((each) => !left.pods.has(each)),
    ]);
  }
  return best;
}

/** Owners of the pods, and in the place of one that has pods of several classes each of its pods. */
function evictionOrderOf(classes: readonly PodClass[]): EvictionOrder {
  const owners = classes.map(({ pods }) => new Set(pods.map(ownerOf)));
  const counts = Map.groupBy(
    owners.flatMap((each) => [...each]),
    (owner) => owner,
  );
  const isMixed = (owner: string) => (counts.get(owner)?.length ?? 0) > 1;
  const pods = classes.flatMap((each) => each.pods);
  const own = pods.map((pod) => (isMixed(ownerOf(pod)) ? pod.uid : ownerOf(pod)));
  return [...new Set([...own, ...[...counts.keys()].filter(isMixed)])];
}

/**
 * What nodes for pods would cost that kube-scheduler leaves over where they are evicted elsewhere:
 * nobody nominates what comes back, and it goes wherever it scores best. Where some could be left
 * over if all come at once, they may come one after the other. Infinity: for one of them nothing
 * could be launched.
 */
export function strandingOf(state: SearchState): Stranding {
  const playback = new Playback(state);
  const leftIn = (order: Order, scoring?: Scoring): LeftOver =>
    playback.runFree((pods) => withBuffersLast(order(pods)), scoring);
  const { classes } = state.context.problem;
  const placed = classes.filter((each) => state.leftOf(each) < each.pods.length);
  const atOnce: readonly Order[] = [
    (pods) => pods,
    (pods) => pods.toReversed(),
    ...Array.from(
      { length: SHUFFLES },
      (_, seed): Order =>
        (pods) =>
          shuffled(pods, numbers(seed)),
    ),
    ...placed.slice(0, FIRST_MAX).map((each) => byClass([each, ...placed])),
  ];
  const price = Math.max(
    ...atOnce.flatMap((order) => SCORINGS.map((each) => priceOf(state, leftIn(order, each)))),
  );
  if (price === 0 || evictionOrderOf(placed).length > ORDER_MAX) {
    return { price, order: undefined };
  }
  // Which of its profiles kube-scheduler has nobody knows: the order has to do for either.
  const inAny = (order: Order): LeftOver => {
    const [one, other] = SCORINGS.map((scoring) => leftIn(order, scoring));
    return {
      pods: new Map([...(one?.pods ?? []), ...(other?.pods ?? [])]),
      inbound: [...(one?.inbound ?? []), ...(other?.inbound ?? [])],
    };
  };
  const best = bestOrder(state, placed, inAny);
  if (best.price >= price) return { price, order: undefined };
  return { price: best.price, order: evictionOrderOf(best.classes) };
}
