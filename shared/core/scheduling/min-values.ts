import type { InstanceType } from '../model/instance-type.ts';
import { INSTANCE_TYPE, normalizeLabelKey } from '../model/labels.ts';
import type { NodePool } from '../model/provisioning.ts';
import type { PoolVariant } from './launch-space.ts';
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

/** Whether the types that could hold the pods keep the pool's flexibility. */
export function meetsMinValues(
  problem: Problem,
  pool: PoolVariant,
  views: readonly ClassView[],
  used: Float64Array,
): boolean {
  const types = new Set<InstanceType>();
  for (const group of problem.groups) {
    if (group.pool.pool !== pool.pool) continue;
    if (!views.every((view) => group.allowed[view.podClass.rule.id] === 1)) continue;
    for (const { room, type } of group.all) {
      if (used.every((amount, r) => amount <= (room[r] ?? 0))) types.add(type.type);
    }
  }
  return [...minValuesOf(pool.pool)].every(([key, least]) => valuesAmong(types, key).size >= least);
}
