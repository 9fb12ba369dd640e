import type { ClassView, NodeRoom, World } from './world.ts';

/** The order in which a greedy pass takes classes: greater requests first, ids make it total. */
export function byRequests(cpu: number, memory: number) {
  return (a: ClassView, b: ClassView): number =>
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
 * Places pods one at a time: on existing nodes, in bins that are open, in a new bin. Classes that
 * cannot be placed yet are tried again until a whole round places nothing, which resolves affinity
 * between classes and alternating spread.
 */
export function grow(world: World, order: readonly ClassView[]): void {
  const rooms = new Map(order.map((view) => [view, suitableRooms(world, view)]));
  for (let progress = true; progress; ) {
    progress = false;
    for (const view of order) {
      while (world.leftOf(view.podClass) > 0 && placeOne(world, view, rooms.get(view) ?? [])) {
        progress = true;
        if (world.steps > world.ground.problem.settings.stepsMax) return;
      }
    }
  }
}
