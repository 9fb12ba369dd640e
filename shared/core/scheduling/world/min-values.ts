import type { InstanceType } from '../../model/instance-type.ts';
import { INSTANCE_TYPE, normalizeLabelKey, ownValue } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { Column } from '../problem/columns.ts';
import { launchLabel } from '../problem/launch-space.ts';
import { limited } from '../problem/pool-launches.ts';
import type { Problem } from '../problem/problem.ts';
import type { Budgets } from './budgets.ts';
import type { ClassView } from './ground.ts';

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
    const own = key === INSTANCE_TYPE ? [type.name] : (ownValue(type.labels, key) ?? []);
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
  const needs = [...minValuesOf(held.pool.pool)].map(([key, least]) => {
    return { key, least, values: new Set<string>() };
  });
  const names = Object.keys(held.pool.pool.limits);
  const largest = names.map(() => 0);
  let hasHeld = false;
  const pinned = [...new Set(views.flatMap((view) => view.pinKeys))];
  const labelOf = ({ pool, type, domain }: Column, key: string) =>
    launchLabel(pool, type, domain, key);
  for (const column of problem.launches.besides(held)) {
    if (!views.every((view) => view.allowed[column.group.id] === 1)) continue;
    if (pinned.some((key) => labelOf(column, key) !== labelOf(held, key))) continue;
    if (!holds(column, used) || budgets.allowance(column, 1) < 1) continue;
    hasHeld ||= column.type === held.type;
    for (const { key, values } of needs) {
      for (const value of valuesAmong([column.type.type], key)) values.add(value);
    }
    let covers = true;
    for (const [index, name] of names.entries()) {
      largest[index] = Math.max(largest[index] ?? 0, limited(column, name));
      covers &&= limited(column, name) === largest[index];
    }
    const isEnough = needs.every(({ least, values }) => values.size >= least);
    if (hasHeld && isEnough && covers) return column;
  }
  return undefined;
}

function holds({ room }: Column, used: Float64Array): boolean {
  for (let r = 0; r < used.length; r++) {
    if ((used[r] ?? 0) > 0 && (used[r] ?? 0) > (room[r] ?? 0)) return false;
  }
  return true;
}
