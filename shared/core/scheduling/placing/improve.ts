import { missing } from '../../missing.ts';
import {
  type Attempt,
  attemptOf,
  losesMerit,
  type Merit,
  meritOf,
  placesFewer,
} from '../attempt.ts';
import type { ImprovingBudget } from '../effort.ts';
import type { PlanSteps } from '../plan-steps.ts';
import { below, type Numbers, numbers, shuffled } from '../pseudo-random.ts';
import type { Bin, ExistingNode, ResolvedClass, SearchState } from '../search/search-state.ts';
import { placeOfGroup } from '../search/topology.ts';
import { grow } from './grow.ts';
import { rightSize } from './right-size.ts';

/** A node counts as so many of its pods. */
const NODE_COPIED = 10;

/** Nodes emptied at a time, at most. */
const EMPTIED_MAX = 4;

/** Nodes, pods on them and classes on each: what a copy of the plan counts. */
export function copiedBy({ bins, existingNodes }: SearchState): number {
  let copied = 0;
  for (const { content } of [...bins, ...existingNodes]) {
    copied += content.size === 0 ? 0 : NODE_COPIED + content.size;
    for (const amount of content.values()) copied += amount;
  }
  return copied;
}

/** Whether every pod could have been the last to be placed, given where all others are. */
export function isSound({ context, existingNodes, bins, topology }: SearchState): boolean {
  const nodes = [
    ...existingNodes.filter(({ content }) => content.size > 0),
    ...bins.map(({ chosen, content }) => ({ place: placeOfGroup(chosen.group), content })),
  ];
  for (const { place, content } of nodes) {
    for (const [podClass, amount] of content) {
      if (amount === 0 || !context.topology.concerns(podClass)) continue;
      const { topology: terms, matching } = podClass;
      topology.count(terms, matching, place, -1);
      const isAllowed = topology.allows(podClass, place);
      topology.count(terms, matching, place, 1);
      if (!isAllowed) return false;
    }
  }
  return true;
}

/** Takes the pods of a few nodes out of the plan and places them anew. */
function retried(
  { state, context }: Attempt,
  order: readonly ResolvedClass[],
  random: Numbers,
): Attempt | undefined {
  const nodes = [...state.bins, ...state.existingNodes.filter(({ content }) => content.size > 0)];
  const emptied = new Set<Bin | ExistingNode>();
  const count = 1 + below(Math.min(EMPTIED_MAX, nodes.length), random);
  while (emptied.size < count) {
    const at = below(nodes.length, random);
    emptied.add(nodes[at] ?? missing(at));
  }
  const copy = state.without(emptied);
  grow(copy, below(3, random) === 0 ? order : shuffled(order, random));
  rightSize(copy);
  const attempt = attemptOf(context, copy);
  return isSound(copy) ? attempt : undefined;
}

/**
 * More pods placed, or as many for less, or more preferences met for no more: never the reverse.
 */
function gains(now: Attempt, merit: Merit, before: Attempt, was: Merit): boolean {
  if (placesFewer(now, before)) return false;
  if (placesFewer(before, now)) return true;
  if (losesMerit(merit, was) || now.cost > before.cost + 1e-9) return false;
  return (
    now.cost < before.cost - 1e-9 ||
    merit.met.some((each, at) => each > (was.met[at] ?? missing(at)))
  );
}

/** Whether every pod has a place that costs nothing, and none has preferences. */
function isPerfect({ state, context }: Attempt): boolean {
  if (state.bins.length > 0 || context.enforced.kinds.size > 0) return false;
  return context.problem.classes.every((each) => state.leftOf(each) === 0);
}

/**
 * Large neighbourhood search (Shaw 1998): a few nodes at a time are emptied and their pods placed
 * anew, in the usual order or another; what is better is kept.
 */
export function improved(
  start: Attempt,
  order: readonly ResolvedClass[],
  { tries, most }: ImprovingBudget,
  planSteps: PlanSteps,
): Attempt {
  const { problem } = start.context;
  if (isPerfect(start)) return start;
  const random = numbers(problem.demand.pods.length);
  const stepsMax = planSteps.allowance(most);
  let best = start;
  let merit = meritOf(best);
  let steps = 0;
  for (let failed = 0; failed < tries && steps < stepsMax; failed++) {
    const { bins, existingNodes } = best.state;
    if (bins.length === 0 && existingNodes.every(({ content }) => content.size === 0)) break;
    const found = retried(best, order, random);
    steps += copiedBy(best.state);
    if (found === undefined) continue;
    steps += found.state.steps;
    if (placesFewer(found, best)) continue;
    const gained = meritOf(found);
    if (!gains(found, gained, best, merit)) continue;
    best = found;
    merit = gained;
    failed = -1;
  }
  planSteps.take(steps);
  return best;
}
