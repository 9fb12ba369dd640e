import { type Attempt, attemptOf, bestOf, isContested } from './attempt.ts';
import { type Effort, packItems } from './packing/pack.ts';
import { Relaxations } from './packing/pod-values.ts';
import {
  assignDomains,
  fillExisting,
  type Item,
  priceAlone,
  type Quotas,
} from './placing/assign.ts';
import { byRequests, grow, suitableRooms } from './placing/grow.ts';
import { improved } from './placing/improve.ts';
import { merged } from './placing/merge.ts';
import { retype } from './placing/retype.ts';
import type { PodClass } from './problem/problem.ts';
import { type ClassView, type Ground, World } from './world/world.ts';

/** Classes that are placed before all others. */
type First = ReadonlySet<PodClass>;

/** How often what is left over is placed first; of many pods once, since others are packed already. */
const FIRST_ROUNDS = 5;

/** Up to so many pods a plan is also made in other ways, in case one is better. */
const GROWN_MAX = 2000;

const USUAL_EFFORT: Effort = { revalues: false, searchSteps: 1000, searchedMax: 500_000 };
const REVALUED: Effort = { ...USUAL_EFFORT, revalues: true };
const SEARCHED: Effort = { ...USUAL_EFFORT, searchSteps: 10_000 };

/** A way to pack pods that takes long, and what it is worth it for. */
interface LongWay {
  readonly effort: Effort;
  /** Plans of so many USD an hour: a percent of less is not worth the time. */
  readonly costLeast: number;
  /** Problems where this effort, of the same kind and shorter, was cheaper than the usual one... */
  readonly shorter: Effort;
  /** ... by this share. */
  readonly gainLeast: number;
}

const LONG_WAYS: readonly LongWay[] = [
  {
    effort: { revalues: true, searchSteps: 30_000, searchedMax: 4_000_000 },
    costLeast: 5,
    shorter: REVALUED,
    gainLeast: 0.03,
  },
  {
    effort: { revalues: false, searchSteps: 30_000, searchedMax: 4_000_000 },
    costLeast: 200,
    shorter: SEARCHED,
    gainLeast: 0.003,
  },
  {
    effort: { revalues: false, searchSteps: 100_000, searchedMax: 8_000_000 },
    costLeast: 1000,
    shorter: SEARCHED,
    gainLeast: 0.003,
  },
];

/** Below this many USD an hour no more is searched than usual. */
const SEARCHED_COST_LEAST = 1;

/** The order in which classes are placed: those that are to come first, then by size. */
function orderOf({ problem, views }: Ground, first: First = new Set()): readonly ClassView[] {
  const cpu = problem.resources.indexOf('cpu');
  const memory = problem.resources.indexOf('memory');
  const order = views.toSorted(byRequests(cpu, memory));
  return first.size === 0
    ? order
    : order.toSorted((a, b) => Number(first.has(b.podClass)) - Number(first.has(a.podClass)));
}

/** Pod by pod; with `byPriority` no pod is placed before one that matters more. */
export function grown(ground: Ground, byPriority = false, first: First = new Set()): Attempt {
  const world = new World(ground);
  const order = orderOf(ground, first);
  grow(
    world,
    byPriority ? order.toSorted((a, b) => b.podClass.priority - a.podClass.priority) : order,
  );
  retype(world);
  return attemptOf(ground, world);
}

/** Tries to learn how much the limits of heavier pools leave for each class. */
const QUOTA_ROUNDS = 4;

/**
 * Pods whose place depends on others are given to pools before those are filled. Where a limit then
 * leaves some of them over, all is done again with what was learnt; undefined: in vain.
 */
function packed(
  ground: Ground,
  effort: Effort,
  relaxations: Relaxations,
  first: First = new Set(),
): Attempt | undefined {
  const quotas = new Map<ClassView, Map<number, number>>();
  for (let round = 0; round < QUOTA_ROUNDS; round++) {
    const { attempt, over } = packOnce(ground, orderOf(ground, first), quotas, effort, relaxations);
    if (attempt !== undefined) return attempt;
    for (const { view, weight, placed } of over) {
      const known = quotas.get(view) ?? new Map<number, number>();
      quotas.set(view, known.set(weight, placed));
    }
  }
  return undefined;
}

interface Packing {
  readonly attempt: Attempt | undefined;
  /** Classes that pools of a weight could not take whole, and how many pods they took. */
  readonly over: readonly {
    readonly view: ClassView;
    readonly weight: number;
    readonly placed: number;
  }[];
}

function packOnce(
  ground: Ground,
  order: readonly ClassView[],
  quotas: Quotas,
  effort: Effort,
  relaxations: Relaxations,
): Packing {
  const world = new World(ground);
  const isTogether = (view: ClassView) => view.host.needs.length > 0;
  const isStuck = (view: ClassView) =>
    view.groups.length === 0 && !view.hasTopology && !isTogether(view);
  fillExisting(world, order.filter(isStuck));
  grow(world, order.filter(isTogether), order);
  const tied = order.filter((view) => view.hasTopology && !isTogether(view));
  const free = order.filter((view) => !view.hasTopology && !isTogether(view) && !isStuck(view));
  const items = assignDomains(world, tied, quotas);
  const given = new Map(items.map((item) => [item, item.count]));
  const rest = fillExisting(world, free);
  packItems(world, [...items, ...rest], effort, relaxations);
  if (items.some((item) => item.count > 0)) {
    return { attempt: undefined, over: overfull(items, given) };
  }
  grow(world, order.filter(isTogether), order);
  retype(world);
  return { attempt: attemptOf(ground, world), over: [] };
}

/** By class and weight with pods left over: how many pods its pools took. */
function overfull(items: readonly Item[], given: ReadonlyMap<Item, number>): Packing['over'] {
  const short = items.filter((item) => item.count > 0);
  const pairs = new Map(short.map((item) => [`${item.view.podClass.id}|${item.weight}`, item]));
  return [...pairs.values()].map(({ view, weight = 0 }) => {
    const mine = items.filter((item) => item.view === view && item.weight === weight);
    const placed = mine.reduce((sum, item) => sum + (given.get(item) ?? 0) - item.count, 0);
    return { view, weight, placed };
  });
}

/** An effort, and the plan that it made. */
interface Packed {
  readonly effort: Effort;
  readonly attempt: Attempt;
}

/** What is known of a problem from other attempts at it. */
export class Known {
  readonly relaxations = new Relaxations();
  /** Efforts that are worth it; undefined: none was tried yet. */
  private efforts: readonly Effort[] | undefined;

  /**
   * The pods packed in several ways, none of which is always the best. What one costs follows the
   * shapes of pods and not their number. Where it is done again with other wishes, the usual way
   * and the best of before are enough.
   */
  packed(ground: Ground): readonly Attempt[] {
    const found: Packed[] = [];
    const pack = (effort: Effort): void => {
      const attempt = packed(ground, effort, this.relaxations);
      if (attempt !== undefined) found.push({ effort, attempt });
    };
    if (this.efforts !== undefined) for (const effort of this.efforts) pack(effort);
    else {
      pack(USUAL_EFFORT);
      pack(REVALUED);
      if (leastCost(found) >= SEARCHED_COST_LEAST) pack(SEARCHED);
      for (const way of LONG_WAYS) if (isWorth(way, found)) pack(way.effort);
      this.efforts = usefulOf(found);
    }
    return found.map(({ attempt }) => attempt);
  }
}

function leastCost(found: readonly Packed[]): number {
  return Math.min(...found.map(({ attempt }) => attempt.cost));
}

function isWorth({ costLeast, shorter, gainLeast }: LongWay, found: readonly Packed[]): boolean {
  const costOf = (asked: Effort) =>
    found.find(({ effort }) => effort === asked)?.attempt.cost ?? Number.POSITIVE_INFINITY;
  return leastCost(found) >= costLeast && costOf(shorter) <= costOf(USUAL_EFFORT) * (1 - gainLeast);
}

/** The usual effort, and the best. */
function usefulOf(found: readonly Packed[]): readonly Effort[] {
  const best = found.length === 0 ? undefined : bestOf(found.map(({ attempt }) => attempt));
  const efforts = found.filter(({ attempt }) => attempt === best).map(({ effort }) => effort);
  return [...new Set([USUAL_EFFORT, ...efforts])];
}

/** A packed plan and, where pods are few or left over, plans made pod by pod. */
export function attempts(ground: Ground, known: Known): readonly Attempt[] {
  const { problem } = ground;
  const { relaxations } = known;
  const isSmall = problem.demand.pods.length <= GROWN_MAX;
  const found: Attempt[] = [...known.packed(ground)];
  if (isSmall || found.length === 0) found.push(grown(ground));
  const isUnfair = found.some((each) => isContested(each, problem));
  if (isUnfair) found.push(grown(ground, true));
  found.push(...withLeftOverFirst(ground, found, relaxations));
  return found.map((each) => merged(improved(each, orderOf(ground))));
}

/** Whether a pod of the class would have a place if it were the only one. */
function hasPlace(empty: World, view: ClassView): boolean {
  const isNew = priceAlone(view.podClass, view.groups) < Number.POSITIVE_INFINITY;
  return isNew || suitableRooms(empty, view).some((room) => empty.canPutOnNode(view, room));
}

/** Plans in which such pods as the best so far leaves over are placed before all others. */
function firstRounds(
  ground: Ground,
  found: readonly Attempt[],
  relaxations: Relaxations,
  mayBeFirst: (view: ClassView) => boolean,
): readonly Attempt[] {
  const isSmall = ground.problem.demand.pods.length <= GROWN_MAX;
  const first = new Set<PodClass>();
  const more: Attempt[] = [];
  for (let round = 0; round < (isSmall ? FIRST_ROUNDS : 1); round++) {
    const { world } = bestOf([...found, ...more]);
    const left = ground.views.filter(
      (view) => world.leftOf(view.podClass) > 0 && !first.has(view.podClass) && mayBeFirst(view),
    );
    if (left.length === 0) break;
    for (const { podClass } of left) first.add(podClass);
    const attempt = packed(ground, USUAL_EFFORT, relaxations, first);
    if (attempt !== undefined) more.push(attempt);
    if (isSmall) more.push(grown(ground, false, first));
  }
  return more;
}

/**
 * Plans for what is left over: pods whose place depends on others come first in them and then, of
 * few pods, any that have a place at all.
 */
function withLeftOverFirst(
  ground: Ground,
  found: readonly Attempt[],
  relaxations: Relaxations,
): readonly Attempt[] {
  const tied = firstRounds(ground, found, relaxations, ({ hasTopology }) => hasTopology);
  if (ground.problem.demand.pods.length > GROWN_MAX) return tied;
  const empty = new World(ground);
  const all = [...found, ...tied];
  return [...tied, ...firstRounds(ground, all, relaxations, (view) => hasPlace(empty, view))];
}
