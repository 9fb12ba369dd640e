import type { Column } from '../problem/columns.ts';
import type { PodClass } from '../problem/problem.ts';
import { hostAllows } from '../world/host.ts';
import type { ClassView, NodeRoom, World } from '../world/world.ts';

/**
 * The order in which a greedy pass takes classes: those that only existing nodes can take, those
 * that need others on their node, then greater requests first; ids make it total.
 */
export function byRequests(cpu: number, memory: number) {
  return (a: ClassView, b: ClassView): number =>
    Number(a.groups.length > 0) - Number(b.groups.length > 0) ||
    Number(b.host.needs.length > 0) - Number(a.host.needs.length > 0) ||
    (b.podClass.requests[cpu] ?? 0) - (a.podClass.requests[cpu] ?? 0) ||
    (b.podClass.requests[memory] ?? 0) - (a.podClass.requests[memory] ?? 0) ||
    a.podClass.id - b.podClass.id;
}

/**
 * Existing nodes whose labels and taints suit the class and that had room for a pod of it before
 * anything was placed, in the order in which room is used.
 */
export function suitableRooms(world: World, view: ClassView): readonly NodeRoom[] {
  const { fitting } = world.ground.roomsFor(view);
  return fitting.map((index) => world.rooms[index] as NodeRoom);
}

/**
 * The suitable existing node that takes one more pod with the least regret. Full nodes count as
 * steps, too: what a plan may take does not depend on how it looks.
 */
export function bestRoom(
  world: World,
  view: ClassView,
): { readonly room: NodeRoom; readonly penalty: number } | undefined {
  const { count, fitting, looks } = world.ground.roomsFor(view);
  let best: { readonly room: NodeRoom; readonly penalty: number } | undefined;
  for (const [at, index] of fitting.entries()) {
    const room = world.rooms[index] as NodeRoom;
    if (!world.canPutOnNode(view, room)) continue;
    const penalty = world.penaltyOnNode(view, room);
    if (best === undefined || penalty < best.penalty) best = { room, penalty };
    if (penalty === 0) {
      world.steps += looks[at] ?? 0;
      return best;
    }
  }
  world.steps += count;
  return best;
}

/** How many more pods of the class fit by resources alone. */
function holds({ requests }: PodClass, room: Float64Array, used?: Float64Array): number {
  let most = Number.POSITIVE_INFINITY;
  for (let r = 0; r < requests.length; r++) {
    const each = requests[r] ?? 0;
    if (each > 0) most = Math.min(most, Math.floor(((room[r] ?? 0) - (used?.[r] ?? 0)) / each));
  }
  return most;
}

/** Pods that must all be on one node, none of which is placed yet. */
function startsGroup(world: World, { host }: ClassView): boolean {
  return host.needs.some(
    ({ selector, isSelf }) => isSelf && (world.totals.get(selector) ?? 0) === 0,
  );
}

/** Where the first of a group goes, and how many of the group could follow. */
interface Start {
  readonly count: number;
  readonly penalty: number;
  readonly place: () => void;
}

/** Puts the first pod of a group where the most of the group fit, for all others have to follow. */
function startGroup(world: World, view: ClassView, rooms: readonly NodeRoom[]): boolean {
  const { podClass } = view;
  const left = world.leftOf(podClass);
  const roomy = (columns: readonly Column[], used?: Float64Array) => {
    const counts = columns.map(({ room }) => Math.min(left, holds(podClass, room, used)));
    const count = Math.max(...counts);
    return { count, columns: columns.filter((_, at) => counts[at] === count) };
  };
  const starts: Start[] = [];
  for (const room of rooms) {
    if (!world.canPutOnNode(view, room)) continue;
    const count = Math.min(left, holds(podClass, room.free));
    const penalty = world.penaltyOnNode(view, room);
    starts.push({ count, penalty, place: () => world.putOnNode(view, room) });
  }
  for (const bin of world.bins) {
    const choice = world.choiceInBin(view, bin);
    if (choice === undefined) continue;
    const { count } = roomy(choice.columns, bin.used);
    const { penalty } = choice;
    starts.push({ count, penalty, place: () => world.putInBin(view, bin, choice) });
  }
  const choice = world.choiceOfNew(view);
  if (choice !== undefined) {
    const { count, columns } = roomy(choice.columns);
    const { penalty } = choice;
    const narrowed = { penalty, columns };
    const place = () => world.putInBin(view, world.open(narrowed), narrowed);
    starts.push({ count, penalty, place });
  }
  // Stable: of equals an existing node goes before an open bin, and that before a new one.
  const [best] = starts.toSorted((a, b) => b.count - a.count || a.penalty - b.penalty);
  best?.place();
  return best !== undefined;
}

function placeOne(world: World, view: ClassView, rooms: readonly NodeRoom[]): boolean {
  if (startsGroup(world, view)) return startGroup(world, view, rooms);
  const existing = bestRoom(world, view);
  if (existing?.penalty === 0) {
    world.putOnNode(view, existing.room);
    return true;
  }
  let place: (() => void) | undefined;
  let penalty = Number.POSITIVE_INFINITY;
  if (existing !== undefined) {
    place = () => world.putOnNode(view, existing.room);
    penalty = existing.penalty;
  }
  const fresh = world.ground.weights.length > 1 ? world.choiceOfNew(view) : undefined;
  const heaviest = fresh?.columns[0]?.pool.pool.weight ?? Number.NEGATIVE_INFINITY;
  for (const bin of world.bins) {
    if (penalty === 0) break;
    // A lighter pool's node is no place for a pod that a heavier pool can still take.
    if (bin.held.pool.pool.weight < heaviest) continue;
    const choice = world.choiceInBin(view, bin);
    if (choice === undefined || choice.penalty >= penalty) continue;
    place = () => world.putInBin(view, bin, choice);
    penalty = choice.penalty;
  }
  if (penalty > 0) {
    const choice = fresh ?? world.choiceOfNew(view);
    if (choice !== undefined && choice.penalty < penalty) {
      place = () => world.putInBin(view, world.open(choice), choice);
    }
  }
  place?.();
  return place !== undefined;
}

/**
 * A pod that must share a node with pods of another class, none of which runs where it could go:
 * puts one of those on a node where the pod can follow, an existing one or a new one.
 */
function bringCompany(
  world: World,
  view: ClassView,
  order: readonly ClassView[],
  rooms: readonly NodeRoom[],
): boolean {
  const wanted = new Set(view.host.needs.map((each) => each.selector));
  for (const company of order) {
    const { podClass } = company;
    if (company === view || world.leftOf(podClass) === 0 || company.host.needs.length > 0) continue;
    if (!podClass.matching.some((id) => wanted.has(id))) continue;
    const room = rooms.find((each) => takesBoth(world, company, view, each));
    if (room !== undefined) {
      world.putOnNode(company, room);
      if (world.canPutOnNode(view, room)) world.putOnNode(view, room);
      return true;
    }
    const choice = world.choiceOfNew(company, view);
    if (choice === undefined) continue;
    // kube-scheduler does not wait for a new node with a pod that an existing one can take.
    const taker = suitableRooms(world, company).find((each) => world.canPutOnNode(company, each));
    if (taker !== undefined) {
      world.putOnNode(company, taker);
      return true;
    }
    const bin = world.open(choice);
    world.putInBin(company, bin, choice);
    const follow = world.choiceInBin(view, bin);
    if (follow !== undefined) {
      world.putInBin(view, bin, follow);
      return true;
    }
    world.close(company, bin);
  }
  return false;
}

function takesBoth(world: World, company: ClassView, view: ClassView, room: NodeRoom): boolean {
  if (!world.suits(company, room) || !world.canPutOnNode(company, room)) return false;
  const { podClass, host } = view;
  if (!world.topology.allows(podClass, room.place)) return false;
  // The company is what it needs; everything else must suit already.
  if (!hostAllows({ ...host, needs: [] }, room.host, world.totals)) return false;
  const { requests } = podClass;
  return room.free.every((free, r) => {
    const wanted = requests[r] ?? 0;
    return wanted === 0 || wanted + (company.podClass.requests[r] ?? 0) <= free;
  });
}

/**
 * Places pods one at a time: on existing nodes, in bins that are open, in a new bin. Classes that
 * cannot be placed yet are tried again until a whole round places nothing, which resolves affinity
 * between classes and alternating spread.
 */
export function grow(
  world: World,
  order: readonly ClassView[],
  company: readonly ClassView[] = order,
): void {
  const rooms = new Map(order.map((view) => [view, suitableRooms(world, view)]));
  for (let progress = true; progress; ) {
    progress = false;
    for (const view of order) {
      while (world.leftOf(view.podClass) > 0) {
        const isPlaced =
          placeOne(world, view, rooms.get(view) ?? []) ||
          (view.host.needs.length > 0 && bringCompany(world, view, company, rooms.get(view) ?? []));
        if (!isPlaced) break;
        progress = true;
        if (world.steps > world.ground.problem.settings.stepsMax) return;
      }
    }
  }
}
