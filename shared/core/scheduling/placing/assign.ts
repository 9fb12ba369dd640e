import { missing } from '../../missing.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import type { ResolvedClass, SearchState } from '../search/search-state.ts';
import { type Place, placeOfGroup } from '../search/topology.ts';

/** Pods of one class that go to new nodes with decided labels. */
export interface PodBatch {
  readonly resolved: ResolvedClass;
  /** By launch group: 1 where these pods may go. */
  readonly allowed: Uint8Array;
  /** Of the pools that they were given to; undefined: any that takes them. */
  readonly weight?: number;
  count: number;
}

/** How many pods of a class the pools of a weight have room for, where less than all was found. */
export type Quotas = ReadonlyMap<ResolvedClass, ReadonlyMap<number, number>>;

/** One place, as {@link PlaceTexts} tells them apart, and the groups that are there. */
interface Target {
  readonly place: Place;
  readonly groups: readonly LaunchGroup[];
  readonly weight: number;
  readonly price: number;
}

/** Cheapest cost of one pod there when nodes are filled with its own class. */
export function priceAlone({ requests }: PodClass, groups: readonly LaunchGroup[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const group of groups) {
    for (const { free, price } of group.paretoFront) {
      let share = 0;
      for (let r = 0; r < requests.length; r++) {
        if ((requests[r] ?? missing(r)) > 0)
          share = Math.max(share, (requests[r] ?? missing(r)) / (free[r] ?? missing(r)));
      }
      if (share <= 1) least = Math.min(least, price * share);
    }
  }
  return least;
}

/** The places of new nodes for the class; those in which minValues can never be met are none. */
function targetsOf(state: SearchState, resolved: ResolvedClass): readonly Target[] {
  const { context } = state;
  const byText = new Map<string, { place: Place; groups: LaunchGroup[] }>();
  for (const group of resolved.groups) {
    const text = `${group.pool.pool.weight}|${context.placeTexts.of(resolved, group)}`;
    const known = byText.get(text);
    if (known === undefined) byText.set(text, { place: placeOfGroup(group), groups: [group] });
    else known.groups.push(group);
  }
  return [...byText.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { place, groups }]) => ({
      place,
      groups,
      weight: (groups[0] ?? missing(0)).pool.pool.weight,
      price: priceAlone(resolved.podClass, groups),
    }))
    .filter(({ price, groups }) => {
      const options = groups.flatMap(({ paretoFront }) => paretoFront);
      return price < Number.POSITIVE_INFINITY && state.suitsAlone(resolved, options);
    });
}

/** The valid target in the heaviest pools: least penalty, then least crowded, then cheapest. */
function bestTarget(
  state: SearchState,
  resolved: ResolvedClass,
  targets: readonly Target[],
  mayTake: (weight: number) => boolean,
): { readonly target: Target; readonly penalty: number } | undefined {
  let best: { target: Target; penalty: number; crowding: number } | undefined;
  state.steps += targets.length;
  for (const target of targets) {
    if (!mayTake(target.weight)) continue;
    if (best !== undefined && target.weight < best.target.weight) continue;
    if (!state.topology.allows(resolved.podClass, target.place)) continue;
    const penalty =
      resolved.penaltyOfNew +
      state.topology.penalty(resolved.podClass, target.place, resolved.kinds);
    const crowding = state.topology.crowding(resolved.podClass, target.place);
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
  readonly batches: PodBatch[] = [];
  private readonly byTarget = new Map<Target, PodBatch>();
  private readonly state: SearchState;
  private readonly targets = new Map<ResolvedClass, readonly Target[]>();
  private readonly quotas: Quotas;
  /** Pods given to pools by class and weight. */
  private readonly given = new Map<ResolvedClass, Map<number, number>>();

  constructor(state: SearchState, quotas: Quotas) {
    this.state = state;
    this.quotas = quotas;
  }

  private mayTake(resolved: ResolvedClass, weight: number): boolean {
    const quota = this.quotas.get(resolved)?.get(weight);
    return quota === undefined || (this.given.get(resolved)?.get(weight) ?? 0) < quota;
  }

  targetsOf(resolved: ResolvedClass): readonly Target[] {
    let targets = this.targets.get(resolved);
    if (targets === undefined) {
      targets = targetsOf(this.state, resolved);
      this.targets.set(resolved, targets);
    }
    return targets;
  }

  /** Decides where one pod goes; false = nowhere for now. */
  placeOne(resolved: ResolvedClass): boolean {
    const { state } = this;
    const { podClass } = resolved;
    const existing = state.bestNode(resolved);
    if (existing?.penalty !== 0) {
      const found = bestTarget(state, resolved, this.targetsOf(resolved), (weight) =>
        this.mayTake(resolved, weight),
      );
      if (found !== undefined && found.penalty < (existing?.penalty ?? Number.POSITIVE_INFINITY)) {
        state.topology.count(podClass.topology, podClass.matching, found.target.place, 1);
        this.addTo(resolved, found.target);
        state.left.set(podClass, state.leftOf(podClass) - 1);
        return true;
      }
    }
    if (existing === undefined) return false;
    state.putOnNode(resolved, existing.existing);
    return true;
  }

  private addTo(resolved: ResolvedClass, target: Target): void {
    const given = this.given.get(resolved) ?? new Map<number, number>();
    this.given.set(resolved, given.set(target.weight, (given.get(target.weight) ?? 0) + 1));
    const known = this.byTarget.get(target);
    if (known !== undefined) {
      known.count++;
      return;
    }
    const allowed = new Uint8Array(resolved.allowed.length);
    for (const group of target.groups) allowed[group.id] = 1;
    const item = { resolved, allowed, weight: target.weight, count: 1 };
    this.byTarget.set(target, item);
    this.batches.push(item);
  }
}

/**
 * Decides for every pod whose place depends on other pods into which domain it goes, existing nodes
 * first. The pods that go to new nodes are counted there already; `state.left` no longer has them.
 */
export function assignDomains(
  state: SearchState,
  order: readonly ResolvedClass[],
  quotas: Quotas = new Map(),
): readonly PodBatch[] {
  const assignment = new Assignment(state, quotas);
  for (let progress = true; progress; ) {
    progress = false;
    for (const resolved of order) {
      while (state.leftOf(resolved.podClass) > 0 && assignment.placeOne(resolved)) progress = true;
    }
  }
  return assignment.batches;
}

/** Positions of existing nodes for the class, those first that meet most of its preferences. */
function preferredNodes(state: SearchState, resolved: ResolvedClass): readonly number[] {
  const { fitting } = state.context.nodesFor(resolved);
  if (resolved.kinds.size === 0) return fitting;
  const hasNew = resolved.groups.length > 0;
  const penaltyOn = (index: number) =>
    state.penaltyOnNode(resolved, state.existingNodes[index] ?? missing(index));
  return fitting
    .map((index) => ({ index, penalty: penaltyOn(index) }))
    .filter(({ penalty }) => !hasNew || penalty <= resolved.penaltyOfNew)
    .sort((a, b) => a.penalty - b.penalty)
    .map(({ index }) => index);
}

/**
 * Pods whose place does not depend on others: as many as fit go on existing nodes, unless only a
 * new node would meet preferences that are to be met.
 */
export function fillExisting(
  state: SearchState,
  order: readonly ResolvedClass[],
): readonly PodBatch[] {
  for (const resolved of order) {
    for (const index of preferredNodes(state, resolved)) {
      const existing = state.existingNodes[index] ?? missing(index);
      state.steps++;
      while (state.leftOf(resolved.podClass) > 0 && state.canPutOnNode(resolved, existing)) {
        state.putOnNode(resolved, existing);
      }
      if (state.leftOf(resolved.podClass) === 0) break;
    }
  }
  return order
    .filter((resolved) => state.leftOf(resolved.podClass) > 0 && resolved.groups.length > 0)
    .map((resolved) => {
      const count = state.leftOf(resolved.podClass);
      state.left.set(resolved.podClass, 0);
      return { resolved, allowed: resolved.allowed, count };
    });
}
