import type { InstanceType, Offering } from '../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  RESERVATION_ID,
  RESERVATION_TYPE,
  ZONE,
  ZONE_ID,
} from '../model/labels.ts';
import type { NodeOverlay, NodePool } from '../model/provisioning.ts';
import { allows, requirementsOf, type ValueSet } from '../requirements/value-set.ts';

const OFFERING_KEYS: ReadonlySet<string> = new Set([
  ZONE,
  ZONE_ID,
  CAPACITY_TYPE,
  RESERVATION_ID,
  RESERVATION_TYPE,
]);

/** An overlay with its requirements sorted by what they are matched against. */
export interface OverlayMatcher {
  readonly overlay: NodeOverlay;
  /** Requirements on labels that come from the offering. */
  readonly offering: readonly (readonly [string, ValueSet])[];
  /** Requirements on labels of the type or of the NodePool's template. */
  readonly node: readonly (readonly [string, ValueSet])[];
}

export function matcherOf(overlay: NodeOverlay): OverlayMatcher {
  const requirements = [...requirementsOf(overlay.requirements)];
  return {
    overlay,
    offering: requirements.filter(([key]) => OFFERING_KEYS.has(key)),
    node: requirements.filter(([key]) => !OFFERING_KEYS.has(key)),
  };
}

function offeringLabel({ zone, zoneId, capacityType, reservation }: Offering, key: string) {
  switch (key) {
    case ZONE:
      return zone;
    case ZONE_ID:
      return zoneId;
    case CAPACITY_TYPE:
      return capacityType;
    case RESERVATION_ID:
      return reservation?.id;
    default:
      return reservation?.type;
  }
}

/** Whether the overlay is about offerings such as this one. */
export function matchesOffering({ offering: rules }: OverlayMatcher, offering: Offering): boolean {
  return rules.every(([key, set]) => allows(set, offeringLabel(offering, key)));
}

/** A NodePool's labels as overlays see them: its template's labels and its name, not its requirements. */
export function overlayLabels(pool: NodePool): ReadonlyMap<string, string> {
  return new Map([...Object.entries(pool.template.labels), [NODE_POOL, pool.name]]);
}

/**
 * What the pool contributes to a match: which keys it defines, and whether those are allowed. Pools
 * for which this is equal for every overlay share their results.
 */
export function poolPart(
  { node }: OverlayMatcher,
  labels: ReadonlyMap<string, string>,
): { readonly isAllowed: boolean; readonly defined: ReadonlySet<string>; readonly text: string } {
  const defined = new Set<string>();
  for (const [key, set] of node) {
    const value = labels.get(key);
    if (value === undefined) continue;
    if (!allows(set, value)) return { isAllowed: false, defined, text: '-' };
    defined.add(key);
  }
  return { isAllowed: true, defined, text: [...defined].sort().join() };
}

/**
 * Types by the values of their labels. A label that neither type nor pool defines matches only NotIn
 * and DoesNotExist.
 */
export class TypeIndex {
  private readonly types: readonly InstanceType[];
  private readonly bits = new Map<string, Uint8Array>();

  constructor(types: readonly InstanceType[]) {
    this.types = types;
  }

  /** By type: 1 where its labels (and the keys that the pool defines) meet the overlay. */
  matching({ node }: OverlayMatcher, definedByPool: ReadonlySet<string>): Uint8Array {
    const matched = new Uint8Array(this.types.length).fill(1);
    for (const [key, set] of node) {
      const allowed = this.allowed(key, set, definedByPool.has(key));
      for (let index = 0; index < matched.length; index++) {
        if (allowed[index] === 0) matched[index] = 0;
      }
    }
    return matched;
  }

  private allowed(key: string, set: ValueSet, isDefinedByPool: boolean): Uint8Array {
    const text = JSON.stringify([
      key,
      set.complement,
      [...set.values].sort(),
      set.atLeast,
      set.atMost,
      set.absent,
      isDefinedByPool,
    ]);
    const known = this.bits.get(text);
    if (known !== undefined) return known;
    const allowed = Uint8Array.from(this.types, ({ name, labels }) => {
      const values = key === INSTANCE_TYPE ? [name] : labels[key];
      if (values === undefined) return isDefinedByPool || set.absent ? 1 : 0;
      if (values === null || values.length === 0) return set.absent ? 1 : 0;
      return values.some((value) => allows(set, value)) ? 1 : 0;
    });
    this.bits.set(text, allowed);
    return allowed;
  }
}
