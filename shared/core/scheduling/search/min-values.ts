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
export function valuesOf({ type: { type }, offered }: TypeOption, key: string): readonly string[] {
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
  const offered = ofPool.filter(({ type }) => types.has(type));
  return [...minValuesOf(pool)].every(([key, least]) => {
    const values = offered.flatMap((each) => {
      if (key === INSTANCE_TYPE) return [each.type.type.name];
      if (!isDomainKey(key)) return ownValue(each.type.type.labels, key) ?? [];
      return launchLabel(each.pool, each.type, each.domain, key) ?? [];
    });
    return new Set(values).size >= least;
  });
}

/** The types that a claim may list beside others, and what the budgets have to count for them. */
interface ListedTypes {
  /** By type: its place among those kept, which take ever more of what the pool limits. */
  readonly placeOf: ReadonlyMap<TypeVariant, number>;
  /** The first place up to which there are values enough; undefined: there are too few in all. */
  readonly enoughAt: number | undefined;
  /** By place: the most of each limited resource up to it. */
  readonly largest: readonly Resources[];
}

/** What pods on one node leave of the pool's flexibility, for every launch that could hold them. */
export class ReservedOptions {
  private readonly context: SearchContext;
  private readonly budgets: Budgets;
  private readonly resolvedClasses: readonly ResolvedClass[];
  private readonly used: Float64Array;
  private readonly kept = new Map<readonly TypeOption[], ListedTypes>();

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
    let kept = this.kept.get(list);
    if (kept === undefined) {
      kept = this.keep(list, pool);
      this.kept.set(list, kept);
    }
    const place = kept.placeOf.get(chosen.type);
    if (place === undefined || kept.enoughAt === undefined) return undefined;
    const reserved = asLarge(chosen, kept.largest[Math.max(place, kept.enoughAt)] ?? {});
    return this.budgets.allowance(reserved, 1) < 1 ? undefined : reserved;
  }

  private keep(list: readonly TypeOption[], pool: NodePool): ListedTypes {
    const needs = [...minValuesOf(pool)].map(([key, least]) => {
      return { key, least, values: new Set<string>() };
    });
    const names = Object.keys(pool.limits);
    const placeOf = new Map<TypeVariant, number>();
    const largest: Resources[] = [];
    let enoughAt: number | undefined;
    for (const typeOption of list) {
      if (!canHold(typeOption, this.used)) continue;
      if (this.budgets.allowance(typeOption.options[0] ?? missing(0), 1) < 1) continue;
      const place = placeOf.size;
      const before = largest[place - 1] ?? {};
      placeOf.set(typeOption.type, place);
      largest.push(
        Object.fromEntries(
          names.map((name) => [name, Math.max(before[name] ?? 0, limitedBy(typeOption, name))]),
        ),
      );
      if (enoughAt !== undefined) continue;
      for (const { key, values } of needs) {
        for (const value of valuesOf(typeOption, key)) values.add(value);
      }
      if (needs.every(({ least, values }) => values.size >= least)) enoughAt = place;
    }
    return { placeOf, enoughAt, largest };
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
