import { allocatable } from '../../instance-types/allocatable.ts';
import { interruptibleLabel } from '../../instance-types/instance-labels.ts';
import { allowsSome, typeValues } from '../../instance-types/type-requirements.ts';
import type { InstanceType, Offering } from '../../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  type CapacityType,
  HOSTNAME,
  INITIALIZED,
  INSTANCE_TYPE,
  NODE_POOL,
  REGISTERED,
  RESERVATION_ID,
  RESERVATION_INTERRUPTIBLE,
  RESERVATION_TYPE,
  RESERVED,
  WELL_KNOWN_LABELS,
  ZONE,
  ZONE_ID,
} from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { Resources } from '../../model/resources.ts';
import type { Taint } from '../../model/taint.ts';
import {
  allows,
  intersectRequirements,
  isContradiction,
  type Requirements,
  requirementsOf,
  requirementsOfLabels,
  type ValueSet,
} from '../../requirements/value-set.ts';
import { NODE_NAME_FIELD } from './node-terms.ts';

/** Where an offering puts a node: the labels that come from the offering, not from the type. */
export interface Domain {
  readonly id: number;
  readonly zone: string;
  readonly zoneId: string | undefined;
  readonly capacityType: CapacityType;
  readonly reservationId: string | undefined;
  readonly reservationType: string | undefined;
  readonly reservationInterruptible: string | undefined;
}

/**
 * A NodePool with one value chosen for each label that it leaves open and that somebody asks for.
 */
export interface PoolVariant {
  readonly id: number;
  readonly pool: NodePool;
  /** Template labels, the system's labels, and the chosen values. */
  readonly labels: ReadonlyMap<string, string>;
  /** Keys whose value was chosen here; the others are fixed by the NodePool. */
  readonly chosen: ReadonlyMap<string, string>;
  readonly requirements: Requirements;
  readonly taints: readonly Taint[];
  readonly types: readonly TypeVariant[];
}

/**
 * An instance type with one value chosen for each label that it leaves open and somebody asks for.
 */
export interface TypeVariant {
  readonly type: InstanceType;
  readonly chosen: ReadonlyMap<string, string>;
  /** What a node of the type is where no pod on it asks; undefined: this one. */
  readonly unasked: TypeVariant | undefined;
}

/** Labels that a node takes from its offering. */
const DOMAIN_KEYS: ReadonlySet<string> = new Set([
  ZONE,
  ZONE_ID,
  CAPACITY_TYPE,
  RESERVATION_ID,
  RESERVATION_INTERRUPTIBLE,
  RESERVATION_TYPE,
]);

export function isDomainKey(key: string): boolean {
  return DOMAIN_KEYS.has(key);
}

/** What a node has for one of the keys of {@link isDomainKey}. */
export function domainLabel(domain: Domain, key: string): string | undefined {
  switch (key) {
    case ZONE:
      return domain.zone;
    case ZONE_ID:
      return domain.zoneId;
    case CAPACITY_TYPE:
      return domain.capacityType;
    case RESERVATION_ID:
      return domain.reservationId;
    case RESERVATION_INTERRUPTIBLE:
      return domain.reservationInterruptible;
    default:
      return domain.reservationType;
  }
}

export function domainAllows(conjunction: Requirements, domain: Domain): boolean {
  for (const [key, set] of conjunction) {
    if (DOMAIN_KEYS.has(key) && !allows(set, domainLabel(domain, key))) return false;
  }
  return true;
}

/** The values that a type describes for a label; undefined = not described, [] = never there. */
function valuesOf({ type, chosen }: TypeVariant, key: string): readonly string[] | undefined {
  const picked = chosen.get(key);
  return picked === undefined ? typeValues(type, key) : [picked];
}

/**
 * The value that a node of the type has for a label; undefined = none, or the type does not say.
 */
export function typeLabel(variant: TypeVariant, key: string): string | undefined {
  return valuesOf(variant, key)?.[0];
}

/** Whether what the type describes (offerings apart) meets the conjunction. */
export function typeAllows(conjunction: Requirements, variant: TypeVariant): boolean {
  for (const [key, set] of conjunction) {
    if (DOMAIN_KEYS.has(key)) continue;
    const values = valuesOf(variant, key);
    if (values !== undefined && !allowsSome(set, values)) return false;
  }
  return true;
}

/** Whether the pool meets what the conjunction asks beyond the type's and the offering's labels. */
export function poolAllows(
  conjunction: Requirements,
  pool: PoolVariant,
  variant: TypeVariant,
): boolean {
  for (const [key, set] of conjunction) {
    if (DOMAIN_KEYS.has(key) || valuesOf(variant, key) !== undefined) continue;
    if (!poolAllowsKey(pool, key, set)) return false;
  }
  return true;
}

/** Whether a new node of the pool, type and offering would meet the conjunction. */
export function launchMeets(
  conjunction: Requirements,
  pool: PoolVariant,
  type: TypeVariant,
  domain: Domain,
): boolean {
  return (
    domainAllows(conjunction, domain) &&
    typeAllows(conjunction, type) &&
    poolAllows(conjunction, pool, type)
  );
}

/** A label that nothing describes is absent, well-known or not: no node would ever have it. */
function poolAllowsKey(pool: PoolVariant, key: string, set: ValueSet): boolean {
  if (key === HOSTNAME || key === NODE_NAME_FIELD) return set.complement && set.absent;
  const value = pool.labels.get(key);
  return allows(set, value);
}

/** The node's label under a topology key; undefined where the node would not have it. */
export function launchLabel(
  pool: PoolVariant,
  variant: TypeVariant,
  domain: Domain,
  key: string,
): string | undefined {
  if (DOMAIN_KEYS.has(key)) return domainLabel(domain, key);
  const values = valuesOf(variant, key);
  return values === undefined ? pool.labels.get(key) : values[0];
}

/** Conditions of a pool that have to be True, where they are there, before it launches. */
export const GATING: ReadonlySet<string> = new Set([
  'Ready',
  'NodeClassReady',
  'ValidationSucceeded',
]);

/** A pool that may get new nodes from pods now. */
export function isProvisionable(pool: NodePool): boolean {
  return (
    !pool.isDeleting &&
    pool.replicas === undefined &&
    pool.invalid === undefined &&
    !pool.conditions.some((each) => GATING.has(each.type) && each.status !== 'True')
  );
}

/** Labels of the user's own of which the pool's requirements leave one value. */
function requiredLabels({ template }: NodePool): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [key, set] of requirementsOf(template.requirements)) {
    const [only, second] = set.complement || set.absent ? [] : set.values;
    const isOwn = !WELL_KNOWN_LABELS.has(key);
    if (isOwn && only !== undefined && second === undefined) labels[key] = only;
  }
  return labels;
}

/** The labels that every node of the pool has, the system's included. */
export function poolLabels(pool: NodePool): Readonly<Record<string, string>> {
  const { group, kind, name } = pool.template.nodeClassRef;
  return {
    ...requiredLabels(pool),
    ...pool.template.labels,
    [NODE_POOL]: pool.name,
    [`${group}/${kind.toLowerCase()}`]: name,
  };
}

/** More variants of one pool or type than this are cut, the rest of the values is never chosen. */
const VARIANTS_MAX = 64;

/** Undefined as a value: without the label. */
function combinations(
  choices: readonly (readonly [string, readonly (string | undefined)[]])[],
): readonly ReadonlyMap<string, string>[] {
  let all: ReadonlyMap<string, string>[] = [new Map()];
  for (const [key, values] of choices) {
    all = all.flatMap((chosen) =>
      values.map((value) =>
        value === undefined ? chosen : new Map([...chosen, [key, value] as const]),
      ),
    );
    if (all.length > VARIANTS_MAX) all = all.slice(0, VARIANTS_MAX);
  }
  return all;
}

/** Values of an open label worth telling apart: those that somebody names come first. */
function valuesInPlay(set: ValueSet, named: ReadonlySet<string>): readonly (string | undefined)[] {
  const known = [...named].filter((value) => allows(set, value)).sort();
  if (set.absent && !set.complement) return [undefined];
  if (isContradiction(set) || (!set.complement && set.values.size === 0)) return [];
  if (!set.complement) {
    return [...known, ...[...set.values].filter((value) => !named.has(value)).sort()];
  }
  const other = freeValue(set, named);
  const some = other === undefined ? known : [...known, other];
  // NotIn: a node may have another value, or none.
  return set.absent ? [...some, undefined] : some;
}

/** One label of a pool that nodes may have in several ways. */
interface OpenLabel {
  readonly key: string;
  readonly values: readonly (string | undefined)[];
  /** Values that somebody names. */
  readonly named: ReadonlySet<string>;
}

/** Where there are too many combinations, one value that nobody names stands for all such. */
function fewer(open: readonly OpenLabel[]): readonly OpenLabel[] {
  const count = open.reduce((product, { values }) => product * values.length, 1);
  if (count <= VARIANTS_MAX) return open;
  return open.map((label) => {
    const isNamed = (value: string) => label.named.has(value);
    const other = label.values.find((value) => value !== undefined && !isNamed(value));
    const values = label.values.filter(
      (value) => value === undefined || value === other || isNamed(value),
    );
    return { ...label, values };
  });
}

/** A value that is allowed and that nobody names, for pods that exclude those named. */
function freeValue(set: ValueSet, named: ReadonlySet<string>): string | undefined {
  const { atLeast, atMost } = set;
  const isFree = (value: string) => allows(set, value) && !named.has(value);
  if (atLeast === undefined && atMost === undefined) {
    // Each value that is not free is excluded or named: one more is tried than there are of both.
    for (let count = 0; count <= set.values.size + named.size; count++) {
      const value = count === 0 ? 'joiner-any' : `joiner-any-${count}`;
      if (isFree(value)) return value;
    }
  }
  const tries = set.values.size + named.size;
  for (let count = 0; count <= tries; count++) {
    const number = atLeast === undefined ? (atMost ?? 0) - count : Math.max(0, atLeast) + count;
    // The values of labels have no sign: the node would never be registered.
    if (number < 0) return undefined;
    if (isFree(String(number))) return String(number);
  }
  return undefined;
}

/** Label keys that pods, DaemonSets or topology terms ask for, with the values they name. */
export type KeysInPlay = ReadonlyMap<string, ReadonlySet<string>>;

function variantsOfTypes(types: readonly InstanceType[], keys: KeysInPlay): readonly TypeVariant[] {
  const sorted = [...types].sort((a, b) => (a.name < b.name ? -1 : 1));
  return sorted.flatMap((type) => {
    const open = Object.entries(type.labels).flatMap(([key, values]) =>
      values !== null && values.length > 1 && keys.has(key) && !DOMAIN_KEYS.has(key)
        ? [[key, [...values].sort(compareUnaskedFirst)] as const]
        : [],
    );
    const [first = new Map<string, string>(), ...others] = combinations(open);
    const unasked = { type, chosen: first, unasked: undefined };
    return [unasked, ...others.map((chosen) => ({ type, chosen, unasked }))];
  });
}

/** Nodes have the default tenancy where nobody asks. */
function compareUnaskedFirst(a: string, b: string): number {
  if (a === 'default' || b === 'default') return a === b ? 0 : a === 'default' ? -1 : 1;
  return a < b ? -1 : 1;
}

/** Every usable pool in every variant; pools with one list of types share its variants. */
export function poolVariants(
  pools: readonly NodePool[],
  typesOf: ReadonlyMap<string, readonly InstanceType[]>,
  keys: KeysInPlay,
): readonly PoolVariant[] {
  const shared = new Map<readonly InstanceType[], readonly TypeVariant[]>();
  const variants: PoolVariant[] = [];
  const usable = pools.filter(isProvisionable).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const pool of usable) {
    const list = typesOf.get(pool.name) ?? [];
    const types = shared.get(list) ?? variantsOfTypes(list, keys);
    shared.set(list, types);
    const fixed = { ...poolLabels(pool), [REGISTERED]: 'true', [INITIALIZED]: 'true' };
    const requirements = intersectRequirements(
      requirementsOf(pool.template.requirements),
      requirementsOfLabels(fixed),
    );
    const described = new Set(types.flatMap(({ type }) => Object.keys(type.labels)));
    const open = [...requirements]
      .filter(([key]) => !(key in fixed) && !DOMAIN_KEYS.has(key) && key !== INSTANCE_TYPE)
      .filter(([key]) => !described.has(key) && keys.has(key))
      .map(([key, set]) => {
        const named = keys.get(key) ?? new Set<string>();
        return { key, named, values: valuesInPlay(set, named) };
      });
    const choices = fewer(open).map(({ key, values }) => [key, values] as const);
    for (const chosen of combinations(choices)) {
      variants.push({
        id: variants.length,
        pool,
        labels: new Map([...Object.entries(fixed), ...chosen]),
        chosen,
        requirements,
        taints: pool.template.taints,
        types,
      });
    }
  }
  return variants;
}

/** Interns the places that offerings name. */
export class Domains {
  readonly all: Domain[] = [];
  private readonly byText = new Map<string, Domain>();

  of(offering: Offering): Domain {
    const { zone, zoneId, capacityType, reservation } = offering;
    const text = `${zone}|${zoneId ?? ''}|${capacityType}|${reservation?.id ?? ''}`;
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const added: Domain = {
      id: this.all.length,
      zone,
      zoneId,
      capacityType,
      reservationId: reservation?.id,
      reservationType: reservation?.type,
      reservationInterruptible: interruptibleLabel(reservation),
    };
    this.all.push(added);
    this.byText.set(text, added);
    return added;
  }
}

/** What the offering lets pods and DaemonSets use; undefined where an amount is negative. */
export function usableResources(type: InstanceType, offering: Offering): Resources | undefined {
  const amounts = allocatable(type, offering);
  return Object.values(amounts).some((amount) => amount < 0) ? undefined : amounts;
}

/** Whether a launch may use the offering at all. */
export function isOffered(offering: Offering, reservedCapacity: boolean): boolean {
  if (!offering.available) return false;
  if (offering.capacityType !== RESERVED) return true;
  return reservedCapacity && (offering.reservation?.capacity ?? 0) > 0;
}
