import { type Attempt, bestOf, metOf, placesFewer } from './attempt.ts';
import { attempts, Known } from './attempts.ts';
import { independentProblems, joined } from './decomposition.ts';
import { budgetsOf, type StepBudgets } from './effort.ts';
import { Relaxations } from './packing/pod-values.ts';
import { priceAlone } from './placing/assign.ts';
import { PlanSteps } from './plan-steps.ts';
import {
  type PodClass,
  PREFERENCE_KINDS,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from './problem/problem.ts';
import type { TopologyTerms } from './problem/topology-terms.ts';
import { type ResolvedClass, SearchContext } from './search/search-state.ts';
import { placeOfGroup } from './search/topology.ts';

/** Of the steps that are left, for the kinds of preferences that are weighed later. */
const KEPT = 0.5;

/** Other ways to pack, and improving, make a plan cheaper by such a share, or by so many nodes. */
const GAINED_MOST = 0.08;
const NODES_GAINED = 3;

/** In how many ways a kind that costs too much for all classes is tried for some. */
const PARTS_TRIED = 3;

/** Where pods run and how the node is paid: what people are particular about. */
function isPlace(kind: PreferenceKind): boolean {
  return kind === 'zone' || kind === 'capacityType';
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
class PreferenceWeighing {
  private readonly plain: SearchContext;
  private readonly known: Known;
  private readonly met = new Set<PreferenceKind>();
  private readonly exempt = new Map<PreferenceKind, ReadonlySet<number>>();
  chosen: Attempt;

  /** `plain`: with no preferences enforced. `kinds`: how many of them are to be weighed. */
  constructor(plain: SearchContext, known: Known, kinds: number) {
    this.known = known;
    this.keepFor(kinds);
    this.plain = plain;
    this.chosen = bestOf(attempts(plain, known));
  }

  private keepFor(kinds: number): void {
    this.known.steps.keep(kinds > 0 ? KEPT : 0);
  }

  /** The most that a plan which meets the kind, too, may cost. */
  private priceMost(kind: PreferenceKind): number {
    const { preferenceWorth } = this.plain.problem.settings;
    return this.chosen.price * (1 + (isPlace(kind) ? preferenceWorth.zone : preferenceWorth.other));
  }

  /** `after`: how many kinds are weighed after it. */
  weigh(kind: PreferenceKind, after: number): void {
    this.keepFor(after);
    const exempt = new Set<number>();
    const most = this.priceMost(kind) + 1e-9;
    let found = this.attempts(kind, exempt, most);
    if (found.every((each) => placesFewer(each, this.chosen))) {
      for (const each of this.plain.problem.classes) {
        const isLeft = ({ state }: Attempt) => state.leftOf(each) > this.chosen.state.leftOf(each);
        if (found.some(isLeft)) exempt.add(each.id);
      }
      found = this.attempts(kind, exempt, most);
    }
    const affordable = this.affordable(kind, found, most);
    if (affordable.length > 0) this.choose(kind, exempt, affordable);
    else if (isPlace(kind)) this.weighInPart(kind, exempt, most);
  }

  /** Classes whose preferences cost most are left out: as few as need be. */
  private weighInPart(kind: PreferenceKind, exempt: ReadonlySet<number>, most: number): void {
    const dearest = byCost(this.plain, kind).filter((id) => !exempt.has(id));
    let kept: { readonly exempt: Set<number>; readonly affordable: readonly Attempt[] } | undefined;
    let [tooFew, enough] = [0, dearest.length];
    for (let tries = 0; tries < PARTS_TRIED && enough - tooFew > 1; tries++) {
      const half = (tooFew + enough) >> 1;
      const more = new Set([...exempt, ...dearest.slice(0, half)]);
      const affordable = this.affordable(kind, this.attempts(kind, more, most), most);
      if (affordable.length > 0) kept = { exempt: more, affordable };
      if (affordable.length > 0) enough = half;
      else tooFew = half;
    }
    if (kept !== undefined) this.choose(kind, kept.exempt, kept.affordable);
  }

  private attempts(
    kind: PreferenceKind,
    exempt: ReadonlySet<number>,
    most: number,
  ): readonly Attempt[] {
    const kinds = new Set([...this.met, kind]);
    const enforced = { kinds, exempt: new Map([...this.exempt, [kind, exempt]]) };
    const context = new SearchContext(this.plain.problem, enforced);
    return attempts(context, this.known, (each) => this.isTooDear(each, most));
  }

  /** Whether the plan costs so much more than it may that no improvement is worth a try. */
  private isTooDear(attempt: Attempt, most: number): boolean {
    const gain = Math.max(GAINED_MOST, NODES_GAINED / Math.max(1, attempt.state.bins.length));
    return attempt.price * (1 - gain) > most && !placesFewer(attempt, this.chosen);
  }

  private affordable(
    kind: PreferenceKind,
    found: readonly Attempt[],
    most: number,
  ): readonly Attempt[] {
    const { chosen } = this;
    const zones = kind === 'zone' ? 0 : metOf(chosen, 'zone');
    return found.filter(
      (each) =>
        each.price <= most &&
        !placesFewer(each, chosen) &&
        (zones === 0 || metOf(each, 'zone') >= zones),
    );
  }

  private choose(
    kind: PreferenceKind,
    exempt: ReadonlySet<number>,
    affordable: readonly Attempt[],
  ): void {
    this.met.add(kind);
    this.exempt.set(kind, exempt);
    this.chosen = mostMet([...affordable, this.chosen], this.met);
  }
}

/** Ids of the classes that have preferences of the kind, those first whose cost most. */
function byCost({ resolvedClasses }: SearchContext, kind: PreferenceKind): readonly number[] {
  return resolvedClasses
    .filter(({ podClass }) => hasKind(podClass, kind))
    .map((resolved) => ({ id: resolved.podClass.id, cost: costOf(resolved, kind) }))
    .toSorted((a, b) => b.cost - a.cost || a.id - b.id)
    .map(({ id }) => id);
}

function hasKind({ preferences, topology }: PodClass, kind: PreferenceKind): boolean {
  return preferences.some((each) => each.kind === kind) || softKeys(topology, kind).length > 0;
}

/** Topology keys of the soft terms of the kind. */
function softKeys(
  { spreads, affinity, antiAffinity }: TopologyTerms,
  kind: PreferenceKind,
): readonly string[] {
  return [
    ...spreads.filter(({ isHard }) => !isHard),
    ...[...affinity, ...antiAffinity].filter(({ weight }) => weight > 0),
  ].flatMap(({ key }) => (podPreferenceKind(key) === kind ? [key] : []));
}

/**
 * About what one pod costs more where its preferences of the kind are met, for nodes full of its
 * own: in the domains it likes, or in one domain as often as in another.
 */
function costOf({ podClass, groups }: ResolvedClass, kind: PreferenceKind): number {
  const wanted = podClass.preferences.filter((each) => each.kind === kind);
  const liked = groups.filter((group) => wanted.every(({ rule }) => group.allowed[rule.id] === 1));
  const [key] = softKeys(podClass.topology, kind);
  // What nothing can meet leaves its groups as they are.
  const usable = liked.length === 0 ? groups : liked;
  const domains = Map.groupBy(usable, (group) =>
    key === undefined ? '' : placeOfGroup(group).label(key),
  );
  const prices = [...domains.values()].map((each) => priceAlone(podClass, each));
  const mean = prices.reduce((sum, price) => sum + price, 0) / Math.max(1, prices.length);
  return mean - priceAlone(podClass, groups);
}

/**
 * Of the attempts that place most, the one that meets most of the first kind's preferences, then of
 * the next; then the better.
 */
function mostMet(found: readonly Attempt[], kinds: Iterable<PreferenceKind>): Attempt {
  const best = bestOf(found);
  let left = found.filter((each) => !placesFewer(each, best));
  for (const kind of kinds) {
    const scored = left.map((attempt) => ({ attempt, met: metOf(attempt, kind) }));
    const most = Math.max(...scored.map(({ met }) => met));
    left = scored.filter(({ met }) => met === most).map(({ attempt }) => attempt);
  }
  return bestOf(left);
}

/** Whether the plan is cheaper, or places more, and meets no fewer preferences of any kind. */
function isAsWanted(plan: Attempt, before: Attempt, kinds: Iterable<PreferenceKind>): boolean {
  if (bestOf([before, plan]) !== plan) return false;
  if (placesFewer(before, plan)) return true;
  return [...kinds].every((kind) => metOf(plan, kind) >= metOf(before, kind));
}

/** The budgets of one plan, and the steps that it may take. */
interface Effort {
  readonly budgets: StepBudgets;
  readonly steps: PlanSteps;
}

/**
 * Meets one kind of preferences after the other, as long as each adds no more than its share of the
 * plan's price (`preferenceWorth`). With more steps the plan is another one only where it is better.
 */
function weighed(plain: SearchContext, efforts: readonly Effort[]): Attempt {
  const { problem } = plain;
  const present = kindsPresent(problem);
  const kinds = PREFERENCE_KINDS.filter((kind) => present.has(kind));
  const relaxations = new Relaxations();
  const plans = efforts.map(({ budgets, steps }) => {
    const known = new Known(budgets, relaxations, steps);
    const weighing = new PreferenceWeighing(plain, known, kinds.length);
    for (const [at, kind] of kinds.entries()) weighing.weigh(kind, kinds.length - 1 - at);
    return weighing.chosen;
  });
  return plans.reduce((best, plan) => (isAsWanted(plan, best, present) ? plan : best));
}

/** The best plan found. Independent parts are planned one after the other, each as if alone. */
export function weighPreferences(problem: Problem): Attempt {
  const plain = (each: Problem) => new SearchContext(each, { kinds: new Set() });
  const whole = plain(problem);
  const efforts = budgetsOf(problem.settings.effort).map((budgets): Effort => {
    return { budgets, steps: new PlanSteps(budgets.plan) };
  });
  const parts = independentProblems(whole);
  if (parts.length < 2) return weighed(whole, efforts);
  const plans = parts.map((part, at) => {
    const own = efforts.map(({ budgets, steps }): Effort => {
      return { budgets, steps: steps.share(parts.length - at) };
    });
    return { part, attempt: weighed(plain(part.problem), own) };
  });
  return joined(problem, plans);
}
