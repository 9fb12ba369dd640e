import type { InstanceType } from '../model/instance-type.ts';
import { INSTANCE_TYPE, ownValue, RESERVATION_LABELS } from '../model/labels.ts';
import { allows, type ValueSet } from '../requirements/value-set.ts';

/** What requirements read of an instance type. */
export type TypeLabels = Pick<InstanceType, 'name' | 'labels'>;

/** The values that the type describes for a label; empty: its nodes never have it. */
export function typeValues(
  { name, labels }: TypeLabels,
  key: string,
): readonly string[] | undefined {
  if (key === INSTANCE_TYPE) return [name];
  const values = ownValue(labels, key);
  return values === undefined ? undefined : (values ?? []);
}

/** Whether a node with one of the values would do; empty: a node without the label. */
export function allowsSome(set: ValueSet, values: readonly string[]): boolean {
  return values.length === 0 ? set.absent : values.some((value) => allows(set, value));
}

/**
 * What a label is that the type does not describe: `absent` on its nodes (images are chosen by the
 * type alone); `open`, as the NodePool or the offering decides on it (launches); or absent but for
 * these keys, which the NodePool defines (overlays).
 */
export type Undescribed = 'absent' | 'open' | ReadonlySet<string>;

/** Whether what the type describes meets the requirements. */
export function typeMeets(
  requirements: Iterable<readonly [string, ValueSet]>,
  type: TypeLabels,
  undescribed: Undescribed,
): boolean {
  for (const [key, set] of requirements) {
    const values = typeValues(type, key);
    if (values !== undefined) {
      // It may be bought without a reservation, too.
      const isAbsent = undescribed === 'open' && RESERVATION_LABELS.has(key) && set.absent;
      if (!isAbsent && !allowsSome(set, values)) return false;
    } else if (undescribed !== 'open') {
      const isDefined = undescribed !== 'absent' && undescribed.has(key);
      if (!isDefined && !set.absent) return false;
    }
  }
  return true;
}
