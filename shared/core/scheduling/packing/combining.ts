import { missing } from '../../missing.ts';
import type { CombiningBudget } from '../effort.ts';
import type { PlanSteps } from '../plan-steps.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { cheapestAlone } from './duals.ts';
import { Master } from './master.ts';
import type { Pattern } from './pattern.ts';
import { PatternFinder } from './pattern-finder.ts';
import { copiesOf, PatternQueue, type SearchEffort } from './pattern-queue.ts';
import type { Found } from './pod-values.ts';
import { type Demand, type LongSearch, Pricing } from './pricing.ts';

/** How patterns are combined, and how long it is looked for more of them. */
export interface Combining {
  /** Of the search in a packing of few pods of the same shapes; undefined: there is none. */
  readonly rehearsal?: SearchEffort;
  /** Patterns looked at, at most, while those are searched for that improve the combination. */
  readonly stepsMax: number;
  /** Undefined: there are none but short searches. */
  readonly long?: LongSearch;
  /** Parts of nodes from this share on are launched as whole ones: 1 launches none of them. */
  readonly roundedFrom: number;
  /**
   * What is left after whole nodes is combined anew as long as steps are left, each time with at
   * least one node more; undefined: it is left to be packed.
   */
  readonly dives?: number;
}

/** For a plan that costs so much: one after the other, each knows the patterns of those before. */
export function combiningsFor(budget: CombiningBudget, cost: number): readonly Combining[] {
  const { least, perUsd, most, longCostLeast, rehearsal } = budget;
  const stepsMax = Math.min(most, least + perUsd * cost);
  const isLong = cost >= longCostLeast;
  const steps = isLong ? { stepsMax, rehearsal, long: longSearch(budget, cost) } : { stepsMax };
  const combinings: Combining[] = budget.roundedFrom.map((from) => ({
    ...steps,
    roundedFrom: from,
  }));
  if (isLong) {
    const dives = Math.min(budget.divesMost, budget.divesPerUsd * cost);
    // The patterns are those that the others have found.
    combinings.push({ stepsMax: 0, roundedFrom: 1, dives });
  }
  return combinings;
}

/** How long one search may be for a plan of such a cost. */
function longSearch(
  { longSteps, longestLeast, longestPerUsd, longestMost }: CombiningBudget,
  cost: number,
): LongSearch {
  return { first: longSteps, longest: Math.min(longestMost, longestLeast + longestPerUsd * cost) };
}

/** Pods of a rehearsal: the mix of many more is the same, and a longer search finds no more. */
const REHEARSED = 8000;

/** Patterns looked at for what is left after one dive. */
const DIVE_STEPS = 30_000;

/** Nodes of the patterns, so many of each. */
export interface Multiple {
  readonly pattern: Pattern;
  readonly copies: number;
}

/** A solution that needs 3 nodes says 2.9999999 at times. */
const ROUNDING = 1e-6;

/** The patterns that a packing without nodes launches for a part of the pods. */
function rehearsed(
  demand: Demand,
  { searchSteps, searchedMax }: SearchEffort,
  steps: PlanSteps,
): readonly Pattern[] {
  const { shapes, options, main, values, nodePrice } = demand;
  const all = demand.left.reduce((sum, each) => sum + each, 0);
  const share = Math.min(1, REHEARSED / all);
  const left = demand.left.map((each) => Math.ceil(each * share));
  const found: Pattern[] = [];
  const launch = (pattern: Pattern): number => {
    const copies = copiesOf(pattern, left);
    takeOff(left, { pattern, copies });
    found.push(pattern);
    return copies;
  };
  const finder = new PatternFinder(shapes, main, values, left, true);
  const effort = { searchSteps, searchedMax: steps.allowance(searchedMax) };
  const costOfNode = ({ price }: LaunchOption) => price + nodePrice;
  const queue = new PatternQueue(finder, options, left, costOfNode, effort);
  queue.run({ mayLaunch: () => true, launch, revalues: () => false });
  steps.take(finder.steps);
  return found;
}

/** Takes the pods of nodes off those that are left. */
function takeOff(left: Float64Array, { pattern, copies }: Multiple): void {
  for (const [at, shape] of pattern.shapes.entries()) {
    const rest = (left[shape] ?? missing(shape)) - copies * (pattern.amounts[at] ?? missing(at));
    left[shape] = Math.max(0, rest);
  }
}

/**
 * The programme for pods that are left, solved: patterns of one shape, and those known that fit.
 * Undefined: there are no launch options.
 */
export function masterFor(
  { shapes, left, options, nodePrice }: Demand,
  known: readonly Pattern[],
): Master | undefined {
  const [first] = options;
  if (first === undefined) return undefined;
  const starts = shapes.map((shape): Pattern => {
    const amount = left[shape.id] ?? missing(shape.id);
    const alone = amount > 0 ? cheapestAlone(shape, options, amount, nodePrice) : undefined;
    if (alone === undefined) left[shape.id] = 0;
    return alone ?? { option: first, shapes: [shape.id], amounts: [1], value: 0 };
  });
  const master = new Master(left.slice(), starts, nodePrice);
  for (const pattern of known) if (copiesOf(pattern, left) >= 1) master.add(pattern);
  master.solve();
  return master;
}

/** Adds what the programme knows besides. */
function learn(known: Pattern[], { added }: Master): void {
  const before = new Set(known);
  known.push(...added.filter((pattern) => !before.has(pattern)));
}

/** The nodes that the programme launches whole, and parts from a share on as if they were. */
function wholeNodes(master: Master, roundedFrom: number): readonly Multiple[] {
  return master
    .uses()
    .map(({ pattern, nodes }) => ({
      pattern,
      copies: Math.floor(nodes + 1 - roundedFrom + ROUNDING),
    }))
    .filter(({ copies }) => copies > 0);
}

/** One node of the pattern of which the programme launches the largest part; none: it needs none. */
function largestPart(master: Master): readonly Multiple[] {
  const used = master.uses().filter(({ nodes }) => nodes > ROUNDING);
  const [most] = used.toSorted((a, b) => b.nodes - a.nodes);
  return most === undefined ? [] : [{ pattern: most.pattern, copies: 1 }];
}

function costOf(multiples: readonly Multiple[], nodePrice: number): number {
  return multiples.reduce(
    (sum, { pattern, copies }) => sum + copies * (pattern.option.price + nodePrice),
    0,
  );
}

/**
 * A programme of the patterns known so far costs a little more than with those that the next ones
 * bring: only above so many times the best known cost is there nothing to gain.
 */
const NEAR = 1.01;

/**
 * Combines what is left after whole nodes again and again, until all pods have one, the steps are
 * spent, or it can hardly cost less than `most` USD an hour. What the first programme took says what
 * one more may take.
 */
function dived(
  demand: Demand,
  known: Pattern[],
  dives: number,
  most: number,
  planSteps: PlanSteps,
): readonly Multiple[] {
  const found: Multiple[] = [];
  const stepsMax = planSteps.allowance(dives);
  let cost = 0;
  for (let [steps, longest] = [0, 0]; steps + longest <= stepsMax; ) {
    const master = masterFor(demand, known);
    if (master === undefined) break;
    longest = Math.max(longest, master.steps);
    const pricing = new Pricing(demand, master, true);
    pricing.run(master.steps + DIVE_STEPS);
    steps += pricing.steps;
    planSteps.take(pricing.steps);
    learn(known, master);
    if (cost + master.cost >= NEAR * most) break;
    const whole = wholeNodes(master, 1);
    const taken = whole.length > 0 ? whole : largestPart(master);
    if (taken.length === 0) break;
    for (const each of taken) takeOff(demand.left, each);
    cost += costOf(taken, demand.nodePrice);
    found.push(...taken);
  }
  return found;
}

/**
 * Whole nodes of the cheapest combination of patterns, those of other packings and more that
 * improve it (Gilmore and Gomory 1961): many pods of few shapes are multiples of few nodes. What a
 * combination needs parts of nodes for is left to be packed, or combined again.
 */
export function combined(
  demand: Demand,
  { patterns, least }: Found,
  { rehearsal, stepsMax, long, roundedFrom, dives }: Combining,
  steps: PlanSteps,
): readonly Multiple[] {
  const left = demand.left.slice();
  const before = rehearsal === undefined ? [] : rehearsed(demand, rehearsal, steps);
  const master = masterFor({ ...demand, left }, [...patterns, ...before]);
  if (master === undefined) return [];
  // Cheaper plans have few steps, and gain no more by tight searches than by others.
  const pricing = new Pricing({ ...demand, left }, master, long !== undefined);
  pricing.run(steps.allowance(stepsMax), long);
  steps.take(pricing.steps);
  // Only more combinations of such plans need them: all others would take longer.
  if (long !== undefined) learn(patterns, master);
  const found = wholeNodes(master, roundedFrom);
  if (dives === undefined) return found;
  for (const each of found) takeOff(left, each);
  const rest = least - costOf(found, demand.nodePrice);
  return [...found, ...dived({ ...demand, left }, patterns, dives, rest, steps)];
}
