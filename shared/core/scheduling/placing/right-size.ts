import { daemonPortsOn, portsClash } from '../problem/host-ports.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import { emptyHost } from '../search/host.ts';
import { ReservedOptions } from '../search/min-values.ts';
import {
  type Bin,
  type ResolvedClass,
  resolvedIn,
  type SearchState,
} from '../search/search-state.ts';
import { holds } from '../search/type-options.ts';

/**
 * Whether the launch option could hold what the bin holds, with the same labels where they matter.
 * The budgets must not count the bin meanwhile.
 */
function isAlternative(
  state: SearchState,
  bin: Bin,
  resolvedClasses: readonly ResolvedClass[],
  option: LaunchOption,
  reservedOptions: ReservedOptions,
): boolean {
  const { group } = option;
  const { chosen, used } = bin;
  const { placeTexts } = state.context;
  for (const resolved of resolvedClasses) {
    if (resolved.allowed[group.id] !== 1) return false;
    if (placeTexts.of(resolved, group) !== placeTexts.of(resolved, chosen.group)) return false;
  }
  if (!holds(option.free, used)) return false;
  if (state.budgets.allowance(option, 1) < 1) return false;
  const ports = daemonPortsOn(state.context.problem, option);
  if (
    ports.length > 0 &&
    resolvedClasses.some((resolved) => portsClash(resolved.host.ports, ports))
  )
    return false;
  return reservedOptions.of(option) !== undefined;
}

/** The cheapest launch in equally heavy pools that holds exactly what the bin holds. */
export function cheapestFor(
  state: SearchState,
  bin: Bin,
  options: readonly LaunchOption[],
): LaunchOption {
  const resolvedClasses = resolvedIn(state.context, bin);
  state.budgets.take(bin.reserved, -1);
  const reservedOptions = new ReservedOptions(
    state.context,
    state.budgets,
    resolvedClasses,
    bin.used,
  );
  let best = bin.chosen;
  for (const option of options) {
    state.steps++;
    if (option.price > best.price) break;
    if (
      compareOptions(option, best) < 0 &&
      isAlternative(state, bin, resolvedClasses, option, reservedOptions)
    ) {
      best = option;
      break;
    }
  }
  state.budgets.take(bin.reserved, 1);
  return best;
}

/** Makes the bin a launch of the launch option. */
export function setChosen(state: SearchState, bin: Bin, option: LaunchOption): void {
  const { problem } = state.context;
  const ports = daemonPortsOn(problem, bin.chosen).length;
  bin.host.ports.splice(0, ports, ...emptyHost(daemonPortsOn(problem, option)).ports);
  bin.chosen = option;
  bin.options = [option];
  state.reserved(bin);
}

/** The launches worth having of pools with the weight, cheapest first. */
export function paretoFrontOf(state: SearchState, weight: number): readonly LaunchOption[] {
  return state.context.problem.groups
    .filter((each) => each.pool.pool.weight === weight)
    .flatMap((group) => group.paretoFront)
    .sort(compareOptions);
}

/** Gives every bin the cheapest launch that still holds its pods. */
export function rightSize(state: SearchState): void {
  const byWeight = new Map(state.context.weights.map((each) => [each, paretoFrontOf(state, each)]));
  let kept: Bin | undefined;
  for (const bin of state.bins) {
    // Nothing was launched or given up since: the answer for equal bins is the same.
    if (kept !== undefined && isCopy(bin, kept)) continue;
    const options = byWeight.get(bin.chosen.pool.pool.weight) ?? [];
    const option = cheapestFor(state, bin, options);
    kept = option === bin.chosen ? bin : undefined;
    if (option !== bin.chosen) setChosen(state, bin, option);
  }
}

/** Whether the bins are the same launch for the same pods. */
function isCopy(bin: Bin, other: Bin): boolean {
  if (bin.chosen !== other.chosen || bin.reserved !== other.reserved) return false;
  if (bin.content.size !== other.content.size) return false;
  for (const [podClass, amount] of bin.content) {
    if (other.content.get(podClass) !== amount) return false;
  }
  return true;
}
