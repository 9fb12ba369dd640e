import type { ClassView, NodeRoom, World } from './world.ts';

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

/** Existing nodes whose labels and taints suit the class, in the order in which room is used. */
export function suitableRooms(world: World, view: ClassView): readonly NodeRoom[] {
  return world.rooms.filter((room) => world.suits(view, room));
}

/** The suitable existing node that takes one more pod with the least regret. */
export function bestRoom(
  world: World,
  view: ClassView,
  rooms: readonly NodeRoom[],
): { readonly room: NodeRoom; readonly penalty: number } | undefined {
  let best: { readonly room: NodeRoom; readonly penalty: number } | undefined;
  for (const room of rooms) {
    world.steps++;
    if (!world.canPutOnNode(view, room)) continue;
    const penalty = world.penaltyOnNode(view, room);
    if (best === undefined || penalty < best.penalty) best = { room, penalty };
    if (penalty === 0) break;
  }
  return best;
}

function placeOne(world: World, view: ClassView, rooms: readonly NodeRoom[]): boolean {
  const existing = bestRoom(world, view, rooms);
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
  for (const bin of world.bins) {
    if (penalty === 0) break;
    const choice = world.choiceInBin(view, bin);
    if (choice === undefined || choice.penalty >= penalty) continue;
    place = () => world.putInBin(view, bin, choice);
    penalty = choice.penalty;
  }
  if (penalty > 0) {
    const choice = world.choiceOfNew(view);
    if (choice !== undefined && choice.penalty < penalty) {
      place = () => world.putInBin(view, world.open(choice), choice);
    }
  }
  place?.();
  return place !== undefined;
}

/**
 * A pod that must share a node with pods of another class, none of which runs where it could go:
 * opens a node for one of those, where the pod can follow.
 */
function bringCompany(world: World, view: ClassView, order: readonly ClassView[]): boolean {
  const wanted = new Set(view.host.needs.map((each) => each.selector));
  for (const company of order) {
    const { podClass } = company;
    if (company === view || world.leftOf(podClass) === 0 || company.host.needs.length > 0) continue;
    if (!podClass.matching.some((id) => wanted.has(id))) continue;
    const choice = world.choiceOfNew(company, view);
    if (choice === undefined) continue;
    const bin = world.open(choice);
    world.putInBin(company, bin, choice);
    const follow = world.choiceInBin(view, bin);
    if (follow !== undefined) world.putInBin(view, bin, follow);
    return true;
  }
  return false;
}

/**
 * Places pods one at a time: on existing nodes, in bins that are open, in a new bin. Classes that
 * cannot be placed yet are tried again until a whole round places nothing, which resolves affinity
 * between classes and alternating spread.
 */
export function grow(world: World, order: readonly ClassView[]): void {
  const rooms = new Map(order.map((view) => [view, suitableRooms(world, view)]));
  for (let progress = true; progress; ) {
    progress = false;
    for (const view of order) {
      while (world.leftOf(view.podClass) > 0) {
        const isPlaced =
          placeOne(world, view, rooms.get(view) ?? []) ||
          (view.host.needs.length > 0 && bringCompany(world, view, order));
        if (!isPlaced) break;
        progress = true;
        if (world.steps > world.ground.problem.settings.stepsMax) return;
      }
    }
  }
}
