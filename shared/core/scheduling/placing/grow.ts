import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import { hostAllows } from '../search/host.ts';
import {
  type ExistingNode,
  type ResolvedClass,
  type SearchState,
  zeros,
} from '../search/search-state.ts';

/** Of a resource that no pod asks for (−1) nothing. */
function requestOf({ podClass }: ResolvedClass, resource: number): number {
  return resource < 0 ? 0 : (podClass.requests[resource] ?? missing(resource));
}

/** Whether a node takes only one pod of the class. */
function keepsApart({ host: { ports, avoids }, podClass: { matching } }: ResolvedClass): boolean {
  return ports.length > 0 || avoids.some((selector) => matching.includes(selector));
}

/**
 * The order in which a greedy pass takes classes: those that only existing nodes can take, those
 * that need others on their node, those that ask for devices, since fewer nodes have room for them,
 * then greater requests first. Of equals, pods that keep apart are before others, which can share
 * the new nodes that those need; ids make it total.
 */
export function byRequests(resources: readonly string[]) {
  const [cpu, memory] = [resources.indexOf('cpu'), resources.indexOf('memory')];
  const devices = resources.flatMap((name, at) => (name.includes('/') ? [at] : []));
  const asksForDevice = (each: ResolvedClass): boolean =>
    devices.some((device) => requestOf(each, device) > 0);
  return (a: ResolvedClass, b: ResolvedClass): number =>
    Number(a.groups.length > 0) - Number(b.groups.length > 0) ||
    Number(b.host.needs.length > 0) - Number(a.host.needs.length > 0) ||
    Number(asksForDevice(b)) - Number(asksForDevice(a)) ||
    requestOf(b, cpu) - requestOf(a, cpu) ||
    requestOf(b, memory) - requestOf(a, memory) ||
    Number(keepsApart(b)) - Number(keepsApart(a)) ||
    a.podClass.id - b.podClass.id;
}

/**
 * Existing nodes whose labels and taints suit the class and that had room for a pod of it before
 * anything was placed, in the order in which room is used.
 */
export function suitableNodes(
  state: SearchState,
  resolved: ResolvedClass,
): readonly ExistingNode[] {
  const { fitting } = state.context.nodesFor(resolved);
  return fitting.map((index) => state.existingNodes[index] ?? missing(index));
}

/** How many more pods of the class fit by resources alone. */
function holds(
  { requests }: PodClass,
  free: Float64Array,
  used: Float64Array = zeros(free.length),
): number {
  let most = Number.POSITIVE_INFINITY;
  for (let r = 0; r < requests.length; r++) {
    const each = requests[r] ?? missing(r);
    if (each > 0)
      most = Math.min(most, Math.floor(((free[r] ?? missing(r)) - (used[r] ?? missing(r))) / each));
  }
  return most;
}

/** Pods that must all be on one node, none of which is placed yet. */
function startsGroup(state: SearchState, { host }: ResolvedClass): boolean {
  return host.needs.some(
    ({ selector, isSelf }) => isSelf && (state.totals.get(selector) ?? 0) === 0,
  );
}

/** Pods that are to be on one node with the first of the class's group, its own first. */
function groupOf(state: SearchState, resolved: ResolvedClass): readonly ResolvedClass[] {
  const { resolvedClasses, problem } = state.context;
  const selectors = new Set(resolved.host.needs.map(({ selector }) => selector));
  const others = resolvedClasses.filter(
    (each) =>
      each !== resolved &&
      state.leftOf(each.podClass) > 0 &&
      each.host.needs.some(({ selector }) => selectors.has(selector)),
  );
  return [resolved, ...others.toSorted(byRequests(problem.resources))];
}

/** How many pods of these classes fit by resources alone, one class after the other. */
function holdsOf(
  state: SearchState,
  group: readonly ResolvedClass[],
  free: Float64Array,
  used: Float64Array = zeros(free.length),
): number {
  const taken = used.slice();
  let sum = 0;
  for (const { podClass } of group) {
    const count = Math.max(0, Math.min(state.leftOf(podClass), holds(podClass, free, taken)));
    for (let r = 0; r < podClass.requests.length; r++) {
      taken[r] = (taken[r] ?? missing(r)) + count * (podClass.requests[r] ?? missing(r));
    }
    sum += count;
  }
  return sum;
}

/** Where the first of a group goes, and how many of the group could follow. */
interface Start {
  readonly count: number;
  readonly penalty: number;
  readonly place: () => void;
}

/** Puts the first pod of a group where the most of the group fit, for all others have to follow. */
function startGroup(
  state: SearchState,
  resolved: ResolvedClass,
  existingNodes: readonly ExistingNode[],
): boolean {
  const group = groupOf(state, resolved);
  const roomiest = (options: readonly LaunchOption[], used?: Float64Array) => {
    const counts = options.map((option) => {
      const allowed = group.filter((each) => each.allowed[option.group.id] === 1);
      return holdsOf(state, allowed, option.free, used);
    });
    const count = Math.max(...counts);
    return { count, options: options.filter((_, at) => counts[at] === count) };
  };
  const starts: Start[] = [];
  for (const existing of existingNodes) {
    if (!state.canPutOnNode(resolved, existing)) continue;
    const suited = group.filter((each) => state.suits(each, existing));
    const count = holdsOf(state, suited, existing.free);
    const penalty = state.penaltyOnNode(resolved, existing);
    starts.push({ count, penalty, place: () => state.putOnNode(resolved, existing) });
  }
  for (const bin of state.bins) {
    const choice = state.choiceInBin(resolved, bin);
    if (choice === undefined) continue;
    const { count } = roomiest(choice.options, bin.used);
    const { penalty } = choice;
    starts.push({ count, penalty, place: () => state.putInBin(resolved, bin, choice) });
  }
  const choice = state.choiceOfNew(resolved);
  if (choice !== undefined) {
    const { count, options } = roomiest(choice.options);
    const { penalty } = choice;
    const narrowed = { penalty, options };
    const place = () => state.putInBin(resolved, state.open(narrowed), narrowed);
    starts.push({ count, penalty, place });
  }
  // Stable: of equals an existing node goes before an open bin, and that before a new one.
  const [best] = starts.toSorted((a, b) => b.count - a.count || a.penalty - b.penalty);
  if (best === undefined) return false;
  best.place();
  for (const each of group) placeFollowers(state, each);
  return true;
}

/** At once: other groups would take the room that was counted for them. */
function placeFollowers(state: SearchState, resolved: ResolvedClass): void {
  const existingNodes = suitableNodes(state, resolved);
  while (state.leftOf(resolved.podClass) > 0 && !startsGroup(state, resolved)) {
    if (!placeOne(state, resolved, existingNodes)) return;
  }
}

function placeOne(
  state: SearchState,
  resolved: ResolvedClass,
  existingNodes: readonly ExistingNode[],
): boolean {
  if (startsGroup(state, resolved)) return startGroup(state, resolved, existingNodes);
  const existing = state.bestNode(resolved);
  if (existing?.penalty === 0) {
    state.putOnNode(resolved, existing.existing);
    return true;
  }
  let place: (() => void) | undefined;
  let penalty = Number.POSITIVE_INFINITY;
  if (existing !== undefined) {
    place = () => state.putOnNode(resolved, existing.existing);
    penalty = existing.penalty;
  }
  const fresh = state.context.weights.length > 1 ? state.choiceOfNew(resolved) : undefined;
  const heaviest = fresh?.options[0]?.pool.pool.weight ?? Number.NEGATIVE_INFINITY;
  for (const bin of state.bins) {
    if (penalty === 0) break;
    // A lighter pool's node is no place for a pod that a heavier pool can still take.
    if (bin.chosen.pool.pool.weight < heaviest) continue;
    const choice = state.choiceInBin(resolved, bin);
    if (choice === undefined || choice.penalty >= penalty) continue;
    place = () => state.putInBin(resolved, bin, choice);
    penalty = choice.penalty;
  }
  if (penalty > 0) {
    const choice = fresh ?? state.choiceOfNew(resolved);
    if (choice !== undefined && choice.penalty < penalty) {
      place = () => state.putInBin(resolved, state.open(choice), choice);
    }
  }
  place?.();
  return place !== undefined;
}

/**
 * A pod that must share a node with pods of another class, none of which runs where it could go:
 * puts one of those on a node where the pod can follow, an existing one or a new one.
 */
function placeWithPeer(
  state: SearchState,
  resolved: ResolvedClass,
  order: readonly ResolvedClass[],
  existingNodes: readonly ExistingNode[],
): boolean {
  const wanted = new Set(resolved.host.needs.map((each) => each.selector));
  for (const peer of order) {
    const { podClass } = peer;
    if (peer === resolved || state.leftOf(podClass) === 0 || peer.host.needs.length > 0) continue;
    if (!podClass.matching.some((id) => wanted.has(id))) continue;
    state.steps += existingNodes.length;
    const existing = existingNodes.find((each) => fitsBoth(state, peer, resolved, each));
    if (existing !== undefined) {
      state.putOnNode(peer, existing);
      if (state.canPutOnNode(resolved, existing)) state.putOnNode(resolved, existing);
      return true;
    }
    const choice = state.choiceOfNew(peer, resolved);
    if (choice === undefined) continue;
    // kube-scheduler does not wait for a new node with a pod that an existing one can take.
    const taker = state.bestNode(peer);
    if (taker !== undefined) {
      state.putOnNode(peer, taker.existing);
      return true;
    }
    const bin = state.open(choice);
    state.putInBin(peer, bin, choice);
    const follow = state.choiceInBin(resolved, bin);
    if (follow !== undefined) {
      state.putInBin(resolved, bin, follow);
      return true;
    }
    state.close(peer, bin);
  }
  return false;
}

function fitsBoth(
  state: SearchState,
  peer: ResolvedClass,
  resolved: ResolvedClass,
  existing: ExistingNode,
): boolean {
  if (!state.suits(peer, existing) || !state.canPutOnNode(peer, existing)) return false;
  const { podClass, host } = resolved;
  if (!state.topology.allows(podClass, existing.place)) return false;
  // The company is what it needs; everything else must suit already.
  if (!hostAllows({ ...host, needs: [] }, existing.host, state.totals)) return false;
  const { requests } = podClass;
  return existing.free.every((free, r) => {
    const wanted = requests[r] ?? missing(r);
    return wanted === 0 || wanted + (peer.podClass.requests[r] ?? missing(r)) <= free;
  });
}

/** What all pods take is projected once a share of the steps is spent: 1 / this. */
const PROJECTED = 8;

/**
 * Places pods one at a time: on existing nodes, in bins that are open, in a new bin. Classes that
 * cannot be placed yet are tried again until a whole round places nothing, which resolves affinity
 * between classes and alternating spread. Ends where that takes more than `most` steps, or would by
 * what it took so far; false: it did.
 */
export function grow(
  state: SearchState,
  order: readonly ResolvedClass[],
  peer: readonly ResolvedClass[] = order,
  most = Number.POSITIVE_INFINITY,
): boolean {
  const { stepsMax } = state.context.problem.settings;
  const all = order.reduce((sum, { podClass }) => sum + state.leftOf(podClass), 0);
  let placed = 0;
  const together = order.filter(({ host }) => host.needs.length > 0);
  const existingNodes = new Map(together.map((each) => [each, suitableNodes(state, each)]));
  for (let progress = true; progress; ) {
    progress = false;
    for (const resolved of order) {
      while (state.leftOf(resolved.podClass) > 0) {
        const isPlaced =
          placeOne(state, resolved, existingNodes.get(resolved) ?? []) ||
          (resolved.host.needs.length > 0 &&
            placeWithPeer(state, resolved, peer, existingNodes.get(resolved) ?? []));
        if (!isPlaced) break;
        progress = true;
        placed++;
        if (state.steps > stepsMax) return true;
        if (state.steps * PROJECTED > most && state.steps * all > most * placed) return false;
      }
    }
  }
  return true;
}
