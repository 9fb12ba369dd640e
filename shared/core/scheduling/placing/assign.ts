import type { ColumnGroup } from '../problem/columns.ts';
import type { PodClass } from '../problem/problem.ts';
import { type Place, placeOfGroup } from '../world/topology.ts';
import type { ClassView, NodeRoom, World } from '../world/world.ts';
import { bestRoom, suitableRooms } from './grow.ts';

/** Pods of one class that go to new nodes with decided labels. */
export interface Item {
  readonly view: ClassView;
  /** By column group: 1 where these pods may go. */
  readonly allowed: Uint8Array;
  /** Of the pools that they were given to; undefined: any that takes them. */
  readonly weight?: number;
  count: number;
}

/** How many pods of a class the pools of a weight have room for, where less than all was found. */
export type Quotas = ReadonlyMap<ClassView, ReadonlyMap<number, number>>;

/** One combination of values of the topology keys, and the groups that have it. */
interface Target {
  readonly place: Place;
  readonly groups: readonly ColumnGroup[];
  readonly weight: number;
  readonly price: number;
}

/** Cheapest cost of one pod there when nodes are filled with its own class. */
export function priceAlone({ requests }: PodClass, groups: readonly ColumnGroup[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    for (const { room, price } of group.front) {
      let share = 0;
      for (let r = 0; r < requests.length; r++) {
        if ((requests[r] ?? 0) > 0) share = Math.max(share, (requests[r] ?? 0) / (room[r] ?? 1e-9));
      }
      if (share <= 1) least = Math.min(least, price * share);
    }
  }
  return least;
}

function targetsOf(view: ClassView): readonly Target[] {
  const byText = new Map<string, { place: Place; groups: ColumnGroup[] }>();
  for (const group of view.groups) {
    const place = placeOfGroup(group);
    const values = view.pinKeys.map((key) => place.label(key) ?? '');
    const text = `${group.pool.pool.weight}|${values.join('|')}`;
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { place, groups: [group] });
    else known.groups.push(group);
  }
  return [...byText.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { place, groups }]) => ({
      place,
      groups,
      weight: groups[0]?.pool.pool.weight ?? 0,
      price: priceAlone(view.podClass, groups),
    }))
    .filter((target) => target.price < Number.POSITIVE_INFINITY);
}

/** The valid target in the heaviest pools: least penalty, then least crowded, then cheapest. */
function bestTarget(
  world: World,
  view: ClassView,
  targets: readonly Target[],
  mayTake: (weight: number) => boolean,
): { readonly target: Target; readonly penalty: number } | undefined {
  let best: { target: Target; penalty: number; crowding: number } | undefined;
  for (const target of targets) {
    if (!mayTake(target.weight)) continue;
    if (best !== undefined && target.weight < best.target.weight) continue;
    if (!world.topology.allows(view.podClass, target.place)) continue;
    const penalty =
      view.penaltyOfNew + world.topology.penalty(view.podClass, target.place, view.kinds);
    const crowding = world.topology.crowding(view.podClass, target.place);
    const isBetter =
      best === undefined ||
      target.weight > best.target.weight ||
      penalty < best.penalty ||
      (penalty === best.penalty &&
        (crowding < best.crowding ||
          (crowding === best.crowding && target.price < best.target.price - 1e-12)));
    if (isBetter) best = { target, penalty, crowding };
  }
  return best;
}

class Assignment {
  readonly items: Item[] = [];
  private readonly byTarget = new Map<Target, Item>();
  private readonly world: World;
  private readonly targets = new Map<ClassView, readonly Target[]>();
  private readonly quotas: Quotas;
  /** Pods given to pools by class and weight. */
  private readonly given = new Map<ClassView, Map<number, number>>();

  constructor(world: World, quotas: Quotas) {
    this.world = world;
    this.quotas = quotas;
  }

  private mayTake(view: ClassView, weight: number): boolean {
    const quota = this.quotas.get(view)?.get(weight);
    return quota === undefined || (this.given.get(view)?.get(weight) ?? 0) < quota;
  }

  targetsOf(view: ClassView): readonly Target[] {
    let targets = this.targets.get(view);
    if (targets === undefined) {
      targets = targetsOf(view);
      this.targets.set(view, targets);
    }
    return targets;
  }

  /** Decides where one pod goes; false = nowhere for now. */
  placeOne(view: ClassView): boolean {
    const { world } = this;
    const { podClass } = view;
    const existing = bestRoom(world, view);
    if (existing?.penalty !== 0) {
      const found = bestTarget(world, view, this.targetsOf(view), (weight) =>
        this.mayTake(view, weight),
      );
      if (found !== undefined && found.penalty < (existing?.penalty ?? Number.POSITIVE_INFINITY)) {
        world.topology.count(podClass.topology, podClass.matching, found.target.place, 1);
        this.addTo(view, found.target);
        world.left.set(podClass, world.leftOf(podClass) - 1);
        return true;
      }
    }
    if (existing === undefined) return false;
    world.putOnNode(view, existing.room);
    return true;
  }

  private addTo(view: ClassView, target: Target): void {
    const given = this.given.get(view) ?? new Map<number, number>();
    this.given.set(view, given.set(target.weight, (given.get(target.weight) ?? 0) + 1));
    const known = this.byTarget.get(target);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const allowed = new Uint8Array(view.allowed.length);
    for (const group of target.groups) allowed[group.id] = 1;
    const item = { view, allowed, weight: target.weight, count: 1 };
    this.byTarget.set(target, item);
    this.items.push(item);
  }
}

/**
 * Decides for every pod whose place depends on other pods into which domain it goes, existing nodes
 * first. The pods that go to new nodes are counted there already; `world.left` no longer has them.
 */
export function assignDomains(
  world: World,
  order: readonly ClassView[],
  quotas: Quotas = new Map(),
): readonly Item[] {
  const assignment = new Assignment(world, quotas);
  for (let progress = true; progress; ) {
    progress = false;
    for (const view of order) {
      while (world.leftOf(view.podClass) > 0 && assignment.placeOne(view)) progress = true;
    }
  }
  return assignment.items;
}

/** Existing nodes for the class, those first that meet most of its preferences. */
function preferredRooms(world: World, view: ClassView): readonly NodeRoom[] {
  const rooms = suitableRooms(world, view);
  if (view.kinds.size === 0) return rooms;
  const hasNew = view.groups.length > 0;
  return rooms
    .map((room) => ({ room, penalty: world.penaltyOnNode(view, room) }))
    .filter(({ penalty }) => !hasNew || penalty <= view.penaltyOfNew)
    .sort((a, b) => a.penalty - b.penalty)
    .map(({ room }) => room);
}

/**
 * Pods whose place does not depend on others: as many as fit go on existing nodes, unless only a
 * new node would meet preferences that are to be met.
 */
export function fillExisting(world: World, order: readonly ClassView[]): readonly Item[] {
  for (const view of order) {
    for (const room of preferredRooms(world, view)) {
      while (world.leftOf(view.podClass) > 0 && world.canPutOnNode(view, room)) {
        world.putOnNode(view, room);
      }
      if (world.leftOf(view.podClass) === 0) break;
    }
  }
  return order
    .filter((view) => world.leftOf(view.podClass) > 0 && view.groups.length > 0)
    .map((view) => {
      const count = world.leftOf(view.podClass);
      world.left.set(view.podClass, 0);
      return { view, allowed: view.allowed, count };
    });
}
