import { INSTANCE_TYPE, normalizeLabelKey, ownValue } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { Resources } from '../../model/resources.ts';
import type { Column } from '../problem/columns.ts';
import { isDomainKey, launchLabel } from '../problem/launch-space.ts';
import type { Problem } from '../problem/problem.ts';
import type { Budgets } from './budgets.ts';
import type { ClassView, Ground } from './ground.ts';
import { limitedBy, type Opening, opensTo } from './openings.ts';

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
 * The values that a type of a claim counts for a key. A place counts when the type is offered there,
 * though pods may have narrowed the claim to another, as in Karpenter.
 */
export function valuesOf({ type: { type }, offered }: Opening, key: string): readonly string[] {
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
 * What the budgets must count so that the claim can keep the pool's flexibility: every type that it
 * lists may be launched, so the most of each limited resource is counted. Undefined: the pods leave
 * too few values open, or the limits do.
 */
export function flexibleCover(
  { problem, openings }: Ground,
  budgets: Budgets,
  held: Column,
  views: readonly ClassView[],
  used: Float64Array,
): Column | undefined {
  const { pool } = held.pool;
  if (!insistsOnMinValues(problem, pool)) return held;
  const needs = [...minValuesOf(pool)].map(([key, least]) => {
    return { key, least, values: new Set<string>() };
  });
  const largest: Record<string, number> = {};
  let hasHeld = false;
  for (const opening of openings.leastFirst(held, views, used)) {
    if (!opensTo(opening, used)) continue;
    if (budgets.allowance(opening.columns[0] as Column, 1) < 1) continue;
    hasHeld ||= opening.type === held.type;
    for (const { key, values } of needs) {
      for (const value of valuesOf(opening, key)) values.add(value);
    }
    for (const name of Object.keys(pool.limits)) {
      largest[name] = Math.max(largest[name] ?? 0, limitedBy(opening, name));
    }
    if (!hasHeld || needs.some(({ least, values }) => values.size < least)) continue;
    const cover = asLarge(held, largest);
    return budgets.allowance(cover, 1) < 1 ? undefined : cover;
  }
  return undefined;
}

/** The column as the budgets have to count it when a type as large may be launched instead. */
function asLarge(held: Column, largest: Resources): Column {
  const { type } = held.type;
  const capacity = { ...type.capacity, ...largest };
  return { ...held, type: { ...held.type, type: { ...type, capacity } } };
}
