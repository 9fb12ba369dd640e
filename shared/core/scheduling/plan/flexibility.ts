import type { InstanceType } from '../../model/instance-type.ts';
import { amountOf } from '../../model/resources.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { type TypeVariant, typeLabel } from '../problem/launch-space.ts';
import { minValuesOf, valuesOf } from '../search/min-values.ts';
import { type Bin, resolvedIn, type SearchContext } from '../search/search-state.ts';
import { canHold, holds, isWithin, type TypeOption } from '../search/type-options.ts';

/**
 * The launches that a claim leaves open: every offering of its types in its zones and capacity
 * types.
 */
export interface Flexibility {
  readonly types: readonly InstanceType[];
  readonly zones: readonly string[];
  readonly capacityTypes: readonly string[];
  /** Values of labels that some of the types leave open and that were chosen for them. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  readonly chosen: LaunchOption;
  readonly runnerUp: LaunchOption | undefined;
  /** By key of which there are too few values for minValues: how many there are. */
  readonly relaxed: ReadonlyMap<string, number>;
}

/** Finds what else could be launched for the pods of bins; bins with like pods share most of it. */
export class Flexibilities {
  private readonly context: SearchContext;
  /** By type options: what was found for the same use of a node. */
  private readonly found = new Map<readonly TypeOption[], Map<string, Flexibility>>();

  constructor(context: SearchContext) {
    this.context = context;
  }

  of(bin: Bin): Flexibility {
    const typeOptions = this.context.typeOptions.holding(
      bin.chosen,
      resolvedIn(this.context, bin),
      bin.used,
    );
    let found = this.found.get(typeOptions);
    if (found === undefined) {
      found = new Map();
      this.found.set(typeOptions, found);
    }
    const { pool, type } = bin.reserved;
    const limited = this.context.budgets.limited(pool.pool.name);
    const taken = limited.map((name) => amountOf(type.type.capacity, name));
    const text = `${bin.used.join()}|${taken.join()}`;
    let flexibility = found.get(text);
    if (flexibility === undefined) {
      flexibility = this.find(bin, typeOptions, limited);
      found.set(text, flexibility);
    }
    return flexibility;
  }

  private find(
    bin: Bin,
    typeOptions: readonly TypeOption[],
    limited: readonly string[],
  ): Flexibility {
    const { used } = bin;
    const { instanceTypesMax } = this.context.problem.settings;
    const needs = minValuesOf(bin.chosen.pool.pool);
    const kept: TypeOption[] = [];
    for (const typeOption of typeOptions) {
      if (!isWithin(typeOption.type.type, bin.reserved, limited)) continue;
      if (!canHold(typeOption, used)) continue;
      kept.push(typeOption);
      if (kept.length === instanceTypesMax && needs.size === 0) break;
    }
    const { cut, relaxed } = truncate(kept, needs, instanceTypesMax);
    const inCut = cut.map(({ options }) => options.filter(({ free }) => holds(free, used)));
    const options = inCut.flat();
    const chosen = options[0] ?? bin.chosen;
    return {
      types: cut.map(({ type }) => type.type),
      zones: [...new Set(options.map(({ domain }) => domain.zone))].sort(),
      capacityTypes: [...new Set(options.map(({ domain }) => domain.capacityType))].sort(),
      labels: chosenValues(cut.map(({ type }) => type)),
      chosen,
      runnerUp: inCut[1]?.[0] ?? options[1],
      relaxed,
    };
  }
}

function chosenValues(types: readonly TypeVariant[]): ReadonlyMap<string, readonly string[]> {
  const keys = new Set(types.flatMap(({ chosen }) => [...chosen.keys()]));
  return new Map(
    [...keys].map((key) => {
      const values = new Set(types.flatMap((type) => typeLabel(type, key) ?? []));
      return [key, [...values].sort()] as const;
    }),
  );
}

/** The cheapest types, and beyond them those that minValues still needs. */
export function truncate(
  ranked: readonly TypeOption[],
  needs: ReadonlyMap<string, number>,
  most: number,
): { readonly cut: readonly TypeOption[]; readonly relaxed: Flexibility['relaxed'] } {
  const cut: TypeOption[] = [];
  const types = new Set<InstanceType>();
  const open = [...needs].map(([key, least]) => ({ key, least, values: new Set<string>() }));
  const adds = (typeOption: TypeOption) =>
    open.some(
      ({ key, least, values }) =>
        values.size < least && valuesOf(typeOption, key).some((value) => !values.has(value)),
    );
  for (const typeOption of ranked) {
    const { type } = typeOption.type;
    if (types.has(type) || (types.size >= most && !adds(typeOption))) continue;
    cut.push(typeOption);
    types.add(type);
    for (const { key, values } of open) {
      for (const value of valuesOf(typeOption, key)) values.add(value);
    }
  }
  const short = open.filter(({ least, values }) => values.size < least);
  return { cut, relaxed: new Map(short.map(({ key, values }) => [key, values.size])) };
}
