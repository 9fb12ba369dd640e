import { missing } from '../../missing.ts';
import { INSTANCE_TYPE, normalizeLabelKey, ownValue } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { Resources } from '../../model/resources.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { isDomainKey, launchLabel, type TypeVariant } from '../problem/launch-space.ts';
import type { Problem } from '../problem/problem.ts';
import type { Budgets } from './budgets.ts';
import type { ResolvedClass, SearchContext } from './search-context.ts';
import { canHold, limitedBy, type TypeOption } from './type-options.ts';

/** The greatest minValues of each key. */
export function minValuesOf(pool: NodePool): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { key, minValues } of pool.template.requirements) {
    if (minValues === undefined) continue;
    const name = normalizeLabelKey(key);
    most.set(name, Math.max(minValues, most.get(name) ?? 0));
  }
  return most;
}

/**
 * The values that a type of a claim counts for a key. A place counts when the type is offered
 * there, though pods may have narrowed the claim to another, as in Karpenter.
 */
export function valuesOf(
  { type: { type }, offered }: Pick<TypeOption, 'type' | 'offered'>,
  key: string,
): readonly string[] {
  if (key === INSTANCE_TYPE) return [type.name];
  if (!isDomainKey(key)) return ownValue(type.labels, key) ?? [];
  return offered.flatMap((each) => launchLabel(each.pool, each.type, each.domain, key) ?? []);
}

/** Whether the pool keeps a claim from narrowing to fewer values, and the policy insists. */
export function insistsOnMinValues(problem: Problem, pool: NodePool): boolean {
  return (
    problem.settings.minValuesPolicy === 'Strict' &&
    pool.template.requirements.some((each) => each.minValues !== undefined)
  );
}

/**
 * Whether the types of the options have, among all options of the pool, as many values of each
 * label as the pool asks for.
 */
export function keepsMinValues(
  problem: Problem,
  pool: NodePool,
  options: readonly LaunchOption[],
  ofPool: readonly LaunchOption[],
): boolean {
  if (!insistsOnMinValues(problem, pool)) return true;
  const types = new Set(options.map(({ type }) => type));
  const byType = Map.groupBy(ofPool, ({ type }) => type);
  const listed = [...byType].filter(([type]) => types.has(type));
  return [...minValuesOf(pool)].every(([key, least]) => {
    const values = listed.flatMap(([type, offered]) => valuesOf({ type, offered }, key));
    return new Set(values).size >= least;
  });
}

/** What pods on one node leave of the pool's flexibility, for every launch that could hold them. */
export class ReservedOptions {
  private readonly context: SearchContext;
  private readonly budgets: Budgets;
  private readonly resolvedClasses: readonly ResolvedClass[];
  private readonly used: Float64Array;
  private readonly listed = new Map<readonly TypeOption[], ListedTypes>();

  constructor(
    context: SearchContext,
    budgets: Budgets,
    resolvedClasses: readonly ResolvedClass[],
    used: Float64Array,
  ) {
    this.context = context;
    this.budgets = budgets;
    this.resolvedClasses = resolvedClasses;
    this.used = used;
  }

  /**
   * What the budgets must count so that the claim can keep the pool's flexibility: every type that
   * it lists may be launched, so the most of each limited resource is counted. Undefined: the pods
   * leave too few values open, or the limits do.
   */
  of(chosen: LaunchOption): LaunchOption | undefined {
    const { problem, typeOptions } = this.context;
    const { pool } = chosen.pool;
    if (!insistsOnMinValues(problem, pool)) return chosen;
    const list = typeOptions.leastFirst(chosen, this.resolvedClasses, this.used);
    let listed = this.listed.get(list);
    if (listed === undefined) {
      listed = new ListedTypes(ListIndex.of(list, pool), this.budgets, this.used);
      this.listed.set(list, listed);
    }
    const largest = listed.largestWith(chosen.type);
    if (largest === undefined) return undefined;
    const reserved = asLarge(chosen, largest);
    return this.budgets.allowance(reserved, 1) < 1 ? undefined : reserved;
  }
}

/** What minValues and limits of a NodePool ask of the types of a list: the same in every plan. */
class ListIndex {
  private static readonly known = new WeakMap<readonly TypeOption[], ListIndex>();
  readonly list: readonly TypeOption[];
  readonly placeOf: ReadonlyMap<TypeVariant, number>;
  /** The resources that the pool limits. */
  readonly names: readonly string[];
  /** By place: how much a node of the type takes of each. */
  readonly amounts: readonly Float64Array[];
  /** How many values of each key with minValues there must be. */
  readonly least: readonly number[];
  /** By place: the numbers of the values that the type adds, of all keys. */
  readonly values: readonly Int32Array[];
  /** By number of a value: which key it is of. */
  readonly keyOf: readonly number[];

  private constructor(list: readonly TypeOption[], pool: NodePool) {
    const needs = [...minValuesOf(pool)];
    this.list = list;
    this.placeOf = new Map(list.map(({ type }, place) => [type, place]));
    this.names = Object.keys(pool.limits);
    this.amounts = list.map((each) =>
      Float64Array.from(this.names, (name) => limitedBy(each, name)),
    );
    this.least = needs.map(([, least]) => least);
    const keyOf: number[] = [];
    const numbers = needs.map(() => new Map<string, number>());
    const numberOf = (at: number, value: string): number => {
      const known = numbers[at]?.get(value);
      if (known !== undefined) return known;
      numbers[at]?.set(value, keyOf.length);
      return keyOf.push(at) - 1;
    };
    this.values = list.map((each) =>
      Int32Array.from(
        needs.flatMap(([key], at) => valuesOf(each, key).map((value) => numberOf(at, value))),
      ),
    );
    this.keyOf = keyOf;
  }

  static of(list: readonly TypeOption[], pool: NodePool): ListIndex {
    let index = ListIndex.known.get(list);
    if (index === undefined) {
      index = new ListIndex(list, pool);
      ListIndex.known.set(list, index);
    }
    return index;
  }
}

/**
 * The types that a claim may list beside others, and what the budgets have to count for them: it
 * lists types in the order of the list, until there are values enough. Looked at no further than
 * somebody asks.
 */
class ListedTypes {
  private readonly index: ListIndex;
  private readonly budgets: Budgets;
  private readonly used: Float64Array;
  /** By number of a value: 1 where a type has it. */
  private readonly seen: Uint8Array;
  /** By key: how many values are still missing. */
  private readonly short: number[];
  /** By place: the most of each limited resource up to it. */
  private readonly largest: Float64Array[] = [];
  /** The first place up to which there are values enough. */
  private enoughAt: number | undefined;

  constructor(index: ListIndex, budgets: Budgets, used: Float64Array) {
    this.index = index;
    this.budgets = budgets;
    this.used = used;
    this.seen = new Uint8Array(index.keyOf.length);
    this.short = [...index.least];
  }

  /**
   * The most of each limited resource that a claim takes which lists the type and as many values as
   * it must; undefined: it cannot.
   */
  largestWith(type: TypeVariant): Resources | undefined {
    const { list, names, placeOf } = this.index;
    const place = placeOf.get(type);
    if (place === undefined || !this.mayList(place)) return undefined;
    while (this.enoughAt === undefined && this.largest.length < list.length) this.look();
    if (this.enoughAt === undefined) return undefined;
    if (names.length === 0) return {};
    const last = Math.max(place, this.enoughAt);
    while (this.largest.length <= last) this.look();
    const most = this.largest[last];
    return Object.fromEntries(names.map((name, at) => [name, most?.[at] ?? missing(at)]));
  }

  private mayList(place: number): boolean {
    const typeOption = this.index.list[place] ?? missing(place);
    if (!canHold(typeOption, this.used)) return false;
    return this.budgets.allowance(typeOption.options[0] ?? missing(0), 1) >= 1;
  }

  /** Looks at the next place: a type that changes nothing need not be looked at closely. */
  private look(): void {
    const { amounts, values, keyOf, names } = this.index;
    const place = this.largest.length;
    const before = this.largest[place - 1] ?? new Float64Array(names.length);
    const own = amounts[place] ?? missing(place);
    const added = values[place] ?? missing(place);
    const isNew = this.enoughAt === undefined && added.some((value) => this.seen[value] !== 1);
    const isLarger = own.some((amount, at) => amount > (before[at] ?? missing(at)));
    if ((!isNew && !isLarger) || !this.mayList(place)) {
      this.largest.push(before);
      return;
    }
    this.largest.push(
      isLarger ? before.map((amount, at) => Math.max(amount, own[at] ?? missing(at))) : before,
    );
    if (!isNew) return;
    for (const value of added) {
      if (this.seen[value] === 1) continue;
      this.seen[value] = 1;
      const key = keyOf[value] ?? missing(value);
      this.short[key] = (this.short[key] ?? missing(key)) - 1;
    }
    if (this.short.every((count) => count <= 0)) this.enoughAt = place;
  }
}

/**
 * The launch option as the budgets have to count it when a type as large may be launched instead.
 */
export function asLarge(chosen: LaunchOption, largest: Resources): LaunchOption {
  if (Object.keys(largest).length === 0) return chosen;
  const { type } = chosen.type;
  const capacity = { ...type.capacity, ...largest };
  return { ...chosen, type: { ...chosen.type, type: { ...type, capacity } } };
}
