import type { InstanceType } from '../model/instance-type.ts';
import { INSTANCE_TYPE, normalizeLabelKey } from '../model/labels.ts';
import type { NodePool } from '../model/provisioning.ts';
import type { Budgets } from './budgets.ts';
import type { Column } from './columns.ts';
import type { Problem } from './problem.ts';
import type { ClassView } from './world.ts';

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

/** Values that a set of types has for a key. */
export function valuesAmong(types: Iterable<InstanceType>, key: string): ReadonlySet<string> {
  const values = new Set<string>();
  for (const type of types) {
    const own = key === INSTANCE_TYPE ? [type.name] : (type.labels[key] ?? []);
    for (const value of own) values.add(value);
  }
  return values;
}

/** Whether the pool keeps a claim from narrowing to fewer values, and the policy insists. */
export function insistsOnMinValues(problem: Problem, pool: NodePool): boolean {
  return (
    problem.settings.minValuesPolicy === 'Strict' &&
    pool.template.requirements.some((each) => each.minValues !== undefined)
  );
}

function limited(column: Column, name: string): number {
  return column.type.type.capacity[name] ?? 0;
}

/** Launches of the pool in the same place that could hold the pods, smallest first. */
function candidates(
  problem: Problem,
  held: Column,
  views: readonly ClassView[],
  used: Float64Array,
): readonly Column[] {
  const names = Object.keys(held.pool.pool.limits).sort();
  return problem.groups
    .filter((group) => views.every((view) => view.allowed[group.id] === 1))
    .flatMap((group) => group.all)
    .filter(
      ({ pool, domain, room }) =>
        pool === held.pool &&
        domain === held.domain &&
        used.every((amount, r) => amount === 0 || amount <= (room[r] ?? 0)),
    )
    .sort((a, b) => {
      for (const name of names) {
        const difference = limited(a, name) - limited(b, name);
        if (difference !== 0) return difference;
      }
      return a.price - b.price || (a.type.type.name < b.type.type.name ? -1 : 1);
    });
}

/**
 * The launch that the budgets must count so that the claim can keep the pool's flexibility: every
 * type it lists may be launched, so the largest is counted. Undefined: the pods leave too few
 * values open, or the limits do.
 */
export function flexibleCover(
  problem: Problem,
  budgets: Budgets,
  held: Column,
  views: readonly ClassView[],
  used: Float64Array,
): Column | undefined {
  if (!insistsOnMinValues(problem, held.pool.pool)) return held;
  const needs = [...minValuesOf(held.pool.pool)];
  const names = Object.keys(held.pool.pool.limits);
  const types: InstanceType[] = [];
  let hasHeld = false;
  for (const column of candidates(problem, held, views, used)) {
    if (budgets.allowance(column, 1) < 1) continue;
    types.push(column.type.type);
    hasHeld ||= column.type === held.type;
    const isEnough = needs.every(([key, least]) => valuesAmong(types, key).size >= least);
    const covers = names.every((name) =>
      types.every((type) => (type.capacity[name] ?? 0) <= limited(column, name)),
    );
    if (hasHeld && isEnough && covers) return column;
  }
  return undefined;
}
