import { missing } from '../../missing.ts';
import { type Attempt, attemptOf, losesMerit, meritOf, placesFewer } from '../attempt.ts';
import type { MergingBudget } from '../effort.ts';
import type { PlanSteps } from '../plan-steps.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import type { Bin, SearchState } from '../search/search-state.ts';
import { copiedBy, isSound } from './improve.ts';
import { paretoFrontOf } from './right-size.ts';

/** Launches tried for one pair. */
const LAUNCHES_MAX = 4;

/** Nodes of one text are alike. */
function textOf({ chosen, content }: Bin): string {
  const pods = [...content].map(([{ id }, amount]) => `${id}:${amount}`).sort();
  return `${chosen.group.id}|${chosen.price}|${pods.join()}`;
}

/** The pods of both on one node of the launch option; undefined: they cannot be there together. */
function mergedOn(
  state: SearchState,
  pair: readonly [Bin, Bin],
  option: LaunchOption,
): SearchState | undefined {
  const { resolvedClasses } = state.context;
  const isAllowed = ({ id }: PodClass) => resolvedClasses[id]?.allowed[option.group.id] === 1;
  if (!pair.every(({ content }) => [...content.keys()].every(isAllowed))) return undefined;
  const copy = state.without(new Set<Bin>(pair));
  if (copy.budgets.allowance(option, 1) < 1) return undefined;
  const bin = copy.open({ penalty: 0, options: [option] });
  for (const [{ id }, amount] of pair.flatMap(({ content }) => [...content])) {
    const resolved = copy.context.resolvedClasses[id];
    for (let pod = 0; pod < amount; pod++) {
      const choice = resolved === undefined ? undefined : copy.choiceInBin(resolved, bin);
      if (resolved === undefined || choice === undefined) return undefined;
      copy.putInBin(resolved, bin, choice);
    }
  }
  // In the place of the first: pods are assigned in the order of nodes, heavier pools first.
  copy.bins.pop();
  copy.bins.splice(state.bins.indexOf(pair[0]), 0, bin);
  return copy;
}

/** No dearer, with as many pods and preferences: what merging must not lose. */
function isAsGood(found: Attempt, before: Attempt): boolean {
  if (placesFewer(found, before) || found.cost > before.cost + 1e-9) return false;
  if (!isSound(found.state)) return false;
  return !losesMerit(meritOf(found), meritOf(before));
}

/** Tries pairs one after the other; those that did not do are not tried again. */
class Merging {
  private readonly failed = new Set<string>();
  private readonly paretoFronts = new Map<number, readonly LaunchOption[]>();
  private looks = 0;
  tries = 0;
  private readonly most: MergingBudget;

  constructor(most: MergingBudget) {
    this.most = most;
  }

  /** The plan with some two nodes made one; undefined: no two can be. */
  next(before: Attempt): Attempt | undefined {
    const bins = unlikeOf(before.state.bins);
    for (const [index, [first, own]] of bins.entries()) {
      for (const [second, other] of bins.slice(index + 1)) {
        if (this.tries >= this.most.tries || this.looks >= this.most.looks) return undefined;
        const text = own < other ? `${own}\n${other}` : `${other}\n${own}`;
        if (this.failed.has(text)) continue;
        this.looks += 1;
        const found = this.together(before, first, second);
        if (found !== undefined) return found;
        this.failed.add(text);
      }
    }
    return undefined;
  }

  private together(before: Attempt, first: Bin, second: Bin): Attempt | undefined {
    const { weight } = first.chosen.pool.pool;
    if (second.chosen.pool.pool.weight !== weight) return undefined;
    const { nodePrice } = before.context.problem.settings;
    const most = first.chosen.price + second.chosen.price + nodePrice + 1e-9;
    const used = first.used.map((amount, r) => amount + (second.used[r] ?? missing(r)));
    const paretoFront = this.paretoFronts.get(weight) ?? paretoFrontOf(before.state, weight);
    this.paretoFronts.set(weight, paretoFront);
    const launches = paretoFront.filter(
      ({ price, free }) =>
        price <= most && used.every((amount, r) => amount <= (free[r] ?? missing(r))),
    );
    for (const option of launches.slice(0, LAUNCHES_MAX)) {
      this.tries += 1;
      const state = mergedOn(before.state, [first, second], option);
      if (state === undefined) continue;
      const found = attemptOf(before.context, state);
      if (isAsGood(found, before)) return found;
    }
    return undefined;
  }
}

/** The bins with their texts, two of each: what is not to be had of those is not of others alike. */
function unlikeOf(bins: readonly Bin[]): readonly (readonly [Bin, string])[] {
  const counts = new Map<string, number>();
  return bins.flatMap((bin) => {
    const text = textOf(bin);
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return count > 2 ? [] : [[bin, text] as const];
  });
}

/**
 * Of plans of one price the one with fewer nodes: two nodes become one where that costs no more.
 */
export function merged(start: Attempt, most: MergingBudget, steps: PlanSteps): Attempt {
  if (start.state.bins.length < 2) return start;
  const copied = copiedBy(start.state);
  const tries = Math.min(most.tries, Math.floor(Math.min(most.copied, steps.left) / copied));
  const merging = new Merging({ ...most, tries });
  let best = start;
  for (let left = start.state.bins.length; left > 1; left--) {
    const found = merging.next(best);
    if (found === undefined) break;
    best = found;
  }
  steps.take(merging.tries * copied);
  return best;
}
