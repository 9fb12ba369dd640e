import { typeMeets, typeValues } from '../instance-types/type-requirements.ts';
import { missing } from '../missing.ts';
import type { InstanceType, Offering } from '../model/instance-type.ts';
import { CAPACITY_TYPE, NODE_POOL, ZONE, ZONE_ID } from '../model/labels.ts';
import type { NodeOverlay, NodePool } from '../model/provisioning.ts';
import { allows, requirementsOf, type ValueSet } from '../requirements/value-set.ts';

type OfferingLabel = (offering: Offering) => string | undefined;

/** Labels that come from the offering; the API takes no requirements on those of reservations. */
const OFFERING_LABELS: ReadonlyMap<string, OfferingLabel> = new Map<string, OfferingLabel>([
  [ZONE, ({ zone }) => zone],
  [ZONE_ID, ({ zoneId }) => zoneId],
  [CAPACITY_TYPE, ({ capacityType }) => capacityType],
]);

/** An overlay with its requirements sorted by what they are matched against. */
export interface OverlayMatcher {
  readonly overlay: NodeOverlay;
  /** Requirements on labels that come from the offering. */
  readonly offering: readonly (readonly [OfferingLabel, ValueSet])[];
  /** Requirements on labels of the type or of the NodePool's template. */
  readonly node: readonly (readonly [string, ValueSet])[];
}

export function matcherOf(overlay: NodeOverlay): OverlayMatcher {
  const offering: (readonly [OfferingLabel, ValueSet])[] = [];
  const node: (readonly [string, ValueSet])[] = [];
  for (const [key, set] of requirementsOf(overlay.requirements)) {
    const label = OFFERING_LABELS.get(key);
    if (label === undefined) node.push([key, set]);
    else offering.push([label, set]);
  }
  return { overlay, offering, node };
}

/** Whether the overlay is about offerings such as this one. */
export function matchesOffering({ offering: rules }: OverlayMatcher, offering: Offering): boolean {
  return rules.every(([label, set]) => allows(set, label(offering)));
}

/** A NodePool's labels as overlays see them: its template's labels and its name, not its requirements. */
export function overlayLabels(pool: NodePool): ReadonlyMap<string, string> {
  return new Map([...Object.entries(pool.template.labels), [NODE_POOL, pool.name]]);
}

export interface PoolPart {
  readonly isAllowed: boolean;
  /** Keys of the overlay that the pool's labels meet. */
  readonly defined: ReadonlySet<string>;
  /** Equal for equal parts. */
  readonly text: string;
}

const REFUSED: PoolPart = { isAllowed: false, defined: new Set(), text: '-' };
const INDIFFERENT: PoolPart = { isAllowed: true, defined: new Set(), text: '' };

/** The labels of pools that any overlay asks for: pools equal in them are alike. */
export function askedLabels(matchers: readonly OverlayMatcher[]): readonly string[] {
  return [...new Set(matchers.flatMap(({ node }) => node.map(([key]) => key)))].sort();
}

/**
 * What the pool contributes to a match: which keys it defines, and whether those are allowed. Pools
 * for which this is equal for every overlay share their results.
 */
export function poolPart({ node }: OverlayMatcher, labels: ReadonlyMap<string, string>): PoolPart {
  let defined: Set<string> | undefined;
  for (const [key, set] of node) {
    const value = labels.get(key);
    if (value === undefined) continue;
    if (!allows(set, value)) return REFUSED;
    defined ??= new Set();
    defined.add(key);
  }
  return defined === undefined
    ? INDIFFERENT
    : { isAllowed: true, defined, text: [...defined].sort().join() };
}

/** Numbers of types, ascending. */
type TypeList = readonly number[];

/**
 * Types by the values of their labels. A label that neither type nor pool defines matches only
 * NotIn and DoesNotExist.
 */
export class TypeIndex {
  private readonly types: readonly InstanceType[];
  private readonly byValue = new Map<string, ReadonlyMap<string, TypeList>>();
  private readonly known = new Map<OverlayMatcher, Map<string, TypeList>>();

  constructor(types: readonly InstanceType[]) {
    this.types = types;
  }

  /** The types whose labels, with the keys that the pool defines, meet the overlay. */
  matching(matcher: OverlayMatcher, { defined, text }: PoolPart): TypeList {
    let byPart = this.known.get(matcher);
    if (byPart === undefined) {
      byPart = new Map();
      this.known.set(matcher, byPart);
    }
    let list = byPart.get(text);
    if (list === undefined) {
      list = this.search(matcher, defined);
      byPart.set(text, list);
    }
    return list;
  }

  private search({ node }: OverlayMatcher, defined: ReadonlySet<string>): TypeList {
    let candidates: TypeList | undefined;
    for (const [key, set] of node) {
      if (set.complement || set.absent || defined.has(key)) continue;
      const named = this.withAnyOf(key, set.values);
      if (candidates === undefined || named.length < candidates.length) candidates = named;
    }
    candidates ??= this.types.map((_, index) => index);
    return candidates.filter((index) =>
      typeMeets(node, this.types[index] ?? missing(index), defined),
    );
  }

  private withAnyOf(key: string, values: ReadonlySet<string>): TypeList {
    const lists = this.postings(key);
    const found = new Set<number>();
    for (const value of values) for (const index of lists.get(value) ?? []) found.add(index);
    return [...found].sort((a, b) => a - b);
  }

  private postings(key: string): ReadonlyMap<string, TypeList> {
    const known = this.byValue.get(key);
    if (known !== undefined) return known;
    const lists = new Map<string, number[]>();
    for (const [index, type] of this.types.entries()) {
      for (const value of typeValues(type, key) ?? []) {
        const list = lists.get(value);
        if (list === undefined) lists.set(value, [index]);
        else list.push(index);
      }
    }
    this.byValue.set(key, lists);
    return lists;
  }
}
