import type { Operator, RequirementExpression } from '../model/requirement.ts';

/**
 * The values that one label may take, and whether the label may be absent. Unlike a plain set, the
 * intersection of two disjoint sets is a contradiction (nothing allowed), never "must be absent":
 * `team In [red]` together with `team In [blue]` can be met by no node at all.
 *
 * `complement` false: exactly `values` (within the bounds). `complement` true: every value but
 * `values` (within the bounds). Bounds are inclusive and make non-numbers unacceptable.
 */
export interface ValueSet {
  readonly complement: boolean;
  readonly values: ReadonlySet<string>;
  readonly atLeast: number | undefined;
  readonly atMost: number | undefined;
  /** A node without the label is acceptable (NotIn, DoesNotExist). */
  readonly absent: boolean;
}

const EMPTY: ReadonlySet<string> = new Set();

export const ANY_VALUE: ValueSet = {
  complement: true,
  values: EMPTY,
  atLeast: undefined,
  atMost: undefined,
  absent: false,
};

/** Everything is acceptable, the label's absence too: the neutral element of {@link intersect}. */
export const UNCONSTRAINED: ValueSet = { ...ANY_VALUE, absent: true };

export const ABSENT: ValueSet = { ...ANY_VALUE, complement: false, absent: true };

export function oneOf(...values: readonly string[]): ValueSet {
  return { ...ANY_VALUE, complement: false, values: new Set(values) };
}

/** The set a single expression allows. `values` were validated: Gt, Lt, Gte, Lte hold one integer. */
export function valueSet(operator: Operator, values: readonly string[]): ValueSet {
  switch (operator) {
    case 'In':
      return oneOf(...values);
    case 'NotIn':
      return { ...UNCONSTRAINED, values: new Set(values) };
    case 'Exists':
      return ANY_VALUE;
    case 'DoesNotExist':
      return ABSENT;
    case 'Gt':
      return { ...ANY_VALUE, atLeast: Number(values[0]) + 1 };
    case 'Gte':
      return { ...ANY_VALUE, atLeast: Number(values[0]) };
    case 'Lt':
      return { ...ANY_VALUE, atMost: Number(values[0]) - 1 };
    case 'Lte':
      return { ...ANY_VALUE, atMost: Number(values[0]) };
  }
}

const INTEGER = /^[+-]?\d+$/;

function withinBounds(set: ValueSet, value: string): boolean {
  if (set.atLeast === undefined && set.atMost === undefined) return true;
  if (!INTEGER.test(value)) return false;
  const number = Number(value);
  return (set.atLeast ?? -Infinity) <= number && number <= (set.atMost ?? Infinity);
}

/** Whether the label may have this value (undefined: whether it may be absent). */
export function allows(set: ValueSet, value: string | undefined): boolean {
  if (value === undefined) return set.absent;
  return set.values.has(value) !== set.complement && withinBounds(set, value);
}

/** Whether nothing at all is acceptable. Open sets always have some value unless bounds cross. */
export function isContradiction(set: ValueSet): boolean {
  if (set.absent) return false;
  if (!set.complement) return set.values.size === 0;
  return (set.atLeast ?? -Infinity) > (set.atMost ?? Infinity);
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.max(a, b);
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}

/** What both sets allow. Finite results hold only values within the bounds, so they carry none. */
export function intersect(a: ValueSet, b: ValueSet): ValueSet {
  const absent = a.absent && b.absent;
  if (a.complement && b.complement) {
    return {
      complement: true,
      values: new Set([...a.values, ...b.values]),
      atLeast: larger(a.atLeast, b.atLeast),
      atMost: smaller(a.atMost, b.atMost),
      absent,
    };
  }
  const [finite, other] = a.complement ? [b, a] : [a, b];
  const values = new Set<string>();
  for (const value of finite.values) {
    if (allows(finite, value) && allows(other, value)) values.add(value);
  }
  return { ...ANY_VALUE, complement: false, values, absent };
}

/** Whether some value, or absence, is acceptable to both. */
export function intersects(a: ValueSet, b: ValueSet): boolean {
  return !isContradiction(intersect(a, b));
}

/** One set per label key: the conjunction of all expressions. Keys must be normalised before. */
export type Requirements = ReadonlyMap<string, ValueSet>;

export function requirementsOf(expressions: readonly RequirementExpression[]): Requirements {
  const requirements = new Map<string, ValueSet>();
  for (const { key, operator, values } of expressions) {
    const set = valueSet(operator, values);
    const before = requirements.get(key);
    requirements.set(key, before === undefined ? set : intersect(before, set));
  }
  return requirements;
}

/** Labels as requirements: each key has exactly its value. */
export function requirementsOfLabels(labels: Readonly<Record<string, string>>): Requirements {
  return new Map(Object.entries(labels).map(([key, value]) => [key, oneOf(value)]));
}

/** The conjunction, key by key. */
export function intersectRequirements(a: Requirements, b: Requirements): Requirements {
  const merged = new Map(a);
  for (const [key, set] of b) {
    const before = merged.get(key);
    merged.set(key, before === undefined ? set : intersect(before, set));
  }
  return merged;
}

/** The first key on which the requirements contradict themselves, or undefined. */
export function contradictingKey(requirements: Requirements): string | undefined {
  for (const [key, set] of requirements) if (isContradiction(set)) return key;
  return undefined;
}
