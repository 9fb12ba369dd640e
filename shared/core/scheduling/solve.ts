import type { Plan, UnplacedReason } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { type Attempt, attemptOf, bestOf, isContested, metOf, placesFewer } from './attempt.ts';
import { type Effort, packItems } from './packing/pack.ts';
import { Relaxations } from './packing/pod-values.ts';
import { setApart } from './placing/apart.ts';
import { assignDomains, fillExisting, type Item, type Quotas } from './placing/assign.ts';
import { byRequests, grow } from './placing/grow.ts';
import { IMPROVED_MAX, improved } from './placing/improve.ts';
import { retype } from './placing/retype.ts';
import { PodDealer, plannedClaim } from './plan/claims.ts';
import { Flexibilities } from './plan/flexibility.ts';
import { preferenceScore } from './plan/preference-score.ts';
import { Reasons } from './plan/reasons.ts';
import { compileProblem } from './problem/compile.ts';
import {
  type PodClass,
  PREFERENCE_KINDS,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from './problem/problem.ts';
import { type ClassView, Ground, type Wishes, World } from './world/world.ts';

/** Classes that are placed before all others. */
type First = ReadonlySet<PodClass>;

/** How often what is left over is placed first; of many pods once, since others are packed already. */
const FIRST_ROUNDS = 5;

/** Up to so many pods a plan is also made in other ways, in case one is better. */
const GROWN_MAX = 2000;

const USUAL_EFFORT: Effort = { revalues: false, searchSteps: 1000 };

/** In how many ways pods are packed: of few pods none is always the best. */
function effortsFor(pods: number): readonly Effort[] {
  if (pods > GROWN_MAX) return [USUAL_EFFORT];
  const both = [USUAL_EFFORT, { ...USUAL_EFFORT, revalues: true }];
  return pods <= IMPROVED_MAX ? both : [...both, { ...USUAL_EFFORT, searchSteps: 10_000 }];
}

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

/** A packed plan and, where pods are few or left over, plans made pod by pod. */
function attempts(problem: Problem, wishes: Wishes, relaxations: Relaxations): readonly Attempt[] {
  const ground = new Ground(problem, wishes);
  const isSmall = problem.demand.pods.length <= GROWN_MAX;
  const found: Attempt[] = [];
  for (const effort of effortsFor(problem.demand.pods.length)) {
    const attempt = packed(ground, effort, relaxations);
    if (attempt !== undefined) found.push(attempt);
  }
  if (isSmall || found.length === 0) found.push(grown(ground));
  const isUnfair = found.some((each) => isContested(each, problem));
  if (isUnfair) found.push(grown(ground, true));
  found.push(...withLeftOverFirst(ground, found, relaxations));
  return found.map((each) => improved(each, orderOf(ground)));
}

/** Plans in which the pods that the best so far leaves over are placed before all others. */
function withLeftOverFirst(
  ground: Ground,
  found: readonly Attempt[],
  relaxations: Relaxations,
): readonly Attempt[] {
  const first = new Set<PodClass>();
  const more: Attempt[] = [];
  const isSmall = ground.problem.demand.pods.length <= GROWN_MAX;
  for (let round = 0; round < (isSmall ? FIRST_ROUNDS : 1); round++) {
    const { world } = bestOf([...found, ...more]);
    const left = ground.views.filter(
      ({ podClass, hasTopology }) =>
        hasTopology && world.leftOf(podClass) > 0 && !first.has(podClass),
    );
    if (left.length === 0) break;
    for (const { podClass } of left) first.add(podClass);
    const attempt = packed(ground, USUAL_EFFORT, relaxations, first);
    if (attempt !== undefined) more.push(attempt);
    if (isSmall) more.push(grown(ground, false, first));
  }
  return more;
}

/** The kinds of preferences that some pod has. */
function kindsPresent({ classes, pools, nodes }: Problem): ReadonlySet<PreferenceKind> {
  const present = new Set<PreferenceKind>();
  const softTaints = [...pools, ...nodes].some(({ taints }) =>
    taints.some((taint) => taint.effect === 'PreferNoSchedule'),
  );
  for (const { preferences, topology } of classes) {
    for (const { kind } of preferences) if (kind !== 'taint' || softTaints) present.add(kind);
    const { spreads, affinity, antiAffinity } = topology;
    for (const each of spreads) if (!each.isHard) present.add(podPreferenceKind(each.key));
    for (const each of [...affinity, ...antiAffinity]) {
      if (each.weight > 0) present.add(podPreferenceKind(each.key));
    }
  }
  return present;
}

/** Weighs kinds of preferences against what it costs to meet them. */
class Weighing {
  private readonly problem: Problem;
  private readonly relaxations = new Relaxations();
  private readonly met = new Set<PreferenceKind>();
  private readonly exempt = new Set<number>();
  private strict: number | undefined;
  chosen: Attempt;

  constructor(problem: Problem) {
    this.problem = problem;
    this.chosen = bestOf(attempts(problem, { kinds: new Set() }, this.relaxations));
  }

  /** The price of a plan made pod by pod with every preference taken as a rule. */
  private strictPrice(): number {
    this.strict ??= grown(new Ground(this.problem, { kinds: new Set(PREFERENCE_KINDS) })).price;
    return this.strict;
  }

  /** The most that a plan which meets the kind, too, may cost. */
  private priceMost(kind: PreferenceKind, found: readonly Attempt[]): number {
    const { preferenceWorth } = this.problem.settings;
    const isPlace = kind === 'zone' || kind === 'capacityType';
    const worth = isPlace ? preferenceWorth.zone : preferenceWorth.other;
    const most = this.chosen.price * (1 + worth);
    if (kind !== 'zone' || found.some(({ price }) => price <= most)) return most;
    return Math.max(most, this.strictPrice());
  }

  weigh(kind: PreferenceKind): void {
    const { problem, relaxations, chosen, exempt } = this;
    const kinds = new Set([...this.met, kind]);
    let found = attempts(problem, { kinds, exempt }, relaxations);
    const known = new Set(exempt);
    if (found.every((each) => placesFewer(each, chosen))) {
      for (const each of problem.classes) {
        const isLeft = ({ world }: Attempt) => world.leftOf(each) > chosen.world.leftOf(each);
        if (found.some(isLeft)) exempt.add(each.id);
      }
      found = attempts(problem, { kinds, exempt }, relaxations);
    }
    const most = this.priceMost(kind, found) + 1e-9;
    const zones = kind === 'zone' ? 0 : metOf(chosen, 'zone');
    const worthy = found.filter(
      (each) =>
        each.price <= most &&
        !placesFewer(each, chosen) &&
        (zones === 0 || metOf(each, 'zone') >= zones),
    );
    if (worthy.length === 0) {
      exempt.clear();
      for (const id of known) exempt.add(id);
      return;
    }
    this.met.add(kind);
    this.chosen = mostMet([...worthy, chosen], this.met);
  }
}

/** The attempt that meets most of the first kind's preferences, then of the next; then the better. */
function mostMet(found: readonly Attempt[], kinds: Iterable<PreferenceKind>): Attempt {
  let left = found;
  for (const kind of kinds) {
    const scored = left.map((attempt) => ({ attempt, met: metOf(attempt, kind) }));
    const most = Math.max(...scored.map(({ met }) => met));
    left = scored.filter(({ met }) => met === most).map(({ attempt }) => attempt);
  }
  return bestOf(left);
}

/**
 * Meets one kind of preferences after the other, as long as each is worth what it adds. Preferences
 * about zones are also met when that costs no more than a plan made pod by pod with every
 * preference taken as a rule: nobody should pay more for fewer of them.
 */
export function weighPreferences(problem: Problem): Attempt {
  const present = kindsPresent(problem);
  const weighing = new Weighing(problem);
  for (const kind of PREFERENCE_KINDS) if (present.has(kind)) weighing.weigh(kind);
  return weighing.chosen;
}

/** Why each pod that was not dealt is left over. */
function reasonsOf(
  { nodePools, instanceTypes }: ClusterSnapshot,
  world: World,
  dealer: PodDealer,
): ReadonlyMap<string, UnplacedReason> {
  const { problem } = world.ground;
  const unplaced = new Map<string, UnplacedReason>();
  const sizes = nodePools.map((pool) => ({
    pool,
    types: instanceTypes.get(pool.name)?.length ?? 0,
  }));
  const reasons = new Reasons(world, sizes);
  for (const podClass of problem.classes) {
    const rest = dealer.rest(podClass);
    if (rest.length === 0) continue;
    const reason = reasons.of(podClass);
    for (const pod of rest) unplaced.set(podKey(pod), reason);
  }
  for (const [pod, message] of problem.hopeless) unplaced.set(podKey(pod), { message, pools: [] });
  return unplaced;
}

export function solve(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  return solved(snapshot, settings).plan;
}

/** The plan, and the world that it was made in, for those who want to look closer. */
export function solved(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
): { readonly plan: Plan; readonly world: World } {
  const problem = compileProblem(snapshot, settings);
  const { world, ground } = weighPreferences(problem);
  setApart(world);
  const dealer = new PodDealer();
  const existing = world.rooms
    .filter((room) => room.content.size > 0)
    .map((room) => ({ node: room.node.name, pods: dealer.deal(room.content) }));
  const flexibilities = new Flexibilities(ground);
  const claims = world.bins.map((bin) =>
    plannedClaim(ground, bin, flexibilities.of(bin), dealer.deal(bin.content)),
  );
  const unplaced = reasonsOf(snapshot, world, dealer);
  const plan = {
    newNodeClaims: claims,
    existing,
    unplaced,
    ignored: problem.demand.ignored,
    preferences: preferenceScore(world),
    pricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.price, 0),
    listPricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.listPrice, 0),
    steps: world.steps,
  };
  return { plan, world };
}
