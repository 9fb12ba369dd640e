import { INSTANCE_TYPE, normalizeLabelKey, ownValue } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
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
 * The launch that the budgets must count so that the claim can keep the pool's flexibility: every
 * type it lists may be launched, so the largest is counted. Undefined: the pods leave too few
 * values open, or the limits do.
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
  const names = Object.keys(pool.limits);
  const largest = names.map(() => 0);
  let hasHeld = false;
  for (const opening of openings.leastFirst(held, views)) {
    const column = opening.columns[0] as Column;
    if (!opensTo(opening, used) || budgets.allowance(column, 1) < 1) continue;
    hasHeld ||= opening.type === held.type;
    for (const { key, values } of needs) {
      for (const value of valuesOf(opening, key)) values.add(value);
    }
    let covers = true;
    for (const [index, name] of names.entries()) {
      largest[index] = Math.max(largest[index] ?? 0, limitedBy(opening, name));
      covers &&= limitedBy(opening, name) === largest[index];
    }
    const isEnough = needs.every(({ least, values }) => values.size >= least);
    if (hasHeld && isEnough && covers) return column;
  }
  return undefined;
}
