import { missing } from '../missing.ts';
import type { InstanceType, Offering } from '../model/instance-type.ts';
import type { NodeOverlay, NodePool, PriceChange } from '../model/provisioning.ts';
import {
  askedLabels,
  matcherOf,
  matchesOffering,
  type OverlayMatcher,
  overlayLabels,
  type PoolPart,
  poolPart,
  TypeIndex,
} from './matching.ts';

/** What became of one overlay. */
export interface OverlayReport {
  readonly name: string;
  readonly weight: number;
  readonly ready: boolean;
  /** The reason of its ValidationSucceeded condition. */
  readonly reason: 'ValidationSucceeded' | 'RuntimeValidation' | 'Conflict';
  /** Empty where it is ready. */
  readonly message: string;
  /** It matches no type of any NodePool. */
  readonly isDead: boolean;
  /** Fields that heavier overlays set wherever this one would have, by the overlay that did. */
  readonly shadowed: readonly { readonly field: string; readonly by: readonly string[] }[];
}

export interface OverlayResolution {
  /** By NodePool: the types with prices and capacities adjusted. Untouched types are the same objects. */
  readonly instanceTypes: ReadonlyMap<string, readonly InstanceType[]>;
  /** In the order of evaluation: heaviest first, equal weights by name. */
  readonly overlays: readonly OverlayReport[];
}

/** The price after a change: an absolute price replaces, the others adjust; never below zero. */
export function changedPrice(price: number, change: PriceChange): number {
  switch (change.kind) {
    case 'absolute':
      return change.price;
    case 'add':
      return Math.max(0, price + change.amount);
    case 'percent':
      return Math.max(0, price * (1 + change.percent / 100));
  }
}

/** Heaviest first; among equal weights the first in the alphabet goes first and wins. */
export function compareOverlays(a: NodeOverlay, b: NodeOverlay): number {
  return b.weight - a.weight || (a.name < b.name ? -1 : 1);
}

const NOBODY = -1;

/** For each target of one field: the overlay that sets it, and the last one that matched it. */
interface FieldState {
  readonly winner: Int32Array;
  readonly claim: Int32Array;
}

function fieldState(size: number): FieldState {
  return { winner: new Int32Array(size).fill(NOBODY), claim: new Int32Array(size).fill(NOBODY) };
}

/** The types of pools that no overlay can tell apart, while overlays are applied to them. */
class Context {
  readonly pools: string[] = [];
  readonly types: readonly InstanceType[];
  /** Where each type's offerings begin in the price targets. */
  readonly start: Int32Array;
  readonly prices: FieldState;
  readonly capacities = new Map<string, FieldState>();
  private readonly index: TypeIndex;
  private readonly parts: readonly PoolPart[];
  private readonly kinds: Int32Array;
  private readonly representatives: readonly Offering[];

  constructor(
    types: readonly InstanceType[],
    index: TypeIndex,
    kinds: { readonly of: Int32Array; readonly representatives: readonly Offering[] },
    parts: readonly PoolPart[],
  ) {
    this.types = types;
    this.index = index;
    this.kinds = kinds.of;
    this.representatives = kinds.representatives;
    this.parts = parts;
    this.start = new Int32Array(types.length + 1);
    for (const [at, type] of types.entries()) {
      this.start[at + 1] = (this.start[at] ?? missing(at)) + type.offerings.length;
    }
    this.prices = fieldState(this.start[types.length] ?? missing(types.length));
  }

  /** Types and price targets that an overlay matches; undefined = none. */
  targets(matcher: OverlayMatcher, position: number): Targets | undefined {
    const part = this.parts[position] ?? missing(position);
    if (!part.isAllowed) return undefined;
    const matched = this.index.matching(matcher, part);
    const byKind = Uint8Array.from(this.representatives, (each) =>
      matchesOffering(matcher, each) ? 1 : 0,
    );
    const types: number[] = [];
    const offerings: number[] = [];
    for (const type of matched) {
      const start = this.start[type] ?? missing(type);
      let isOffered = false;
      for (const [at, { available }] of (this.types[type] ?? missing(type)).offerings.entries()) {
        if (
          (byKind[this.kinds[start + at] ?? missing(start + at)] ??
            missing(this.kinds[start + at] ?? missing(start + at))) === 0
        )
          continue;
        offerings.push(start + at);
        isOffered ||= available;
      }
      // As in Karpenter: capacity that comes with offerings needs one that can be had.
      if (isOffered) types.push(type);
    }
    return offerings.length === 0 ? undefined : { types, offerings };
  }

  capacity(resource: string): FieldState {
    const known = this.capacities.get(resource);
    if (known !== undefined) return known;
    const added = fieldState(this.types.length);
    this.capacities.set(resource, added);
    return added;
  }
}

interface Targets {
  readonly types: readonly number[];
  readonly offerings: readonly number[];
}

/** The fields an overlay sets, with the state and the targets they concern. */
function fieldsOf(
  { priceChange, capacity }: NodeOverlay,
  context: Context,
  { types, offerings }: Targets,
): readonly {
  readonly field: string;
  readonly state: FieldState;
  readonly at: readonly number[];
}[] {
  const fields = Object.keys(capacity)
    .sort()
    .map((resource) => ({
      field: `capacity.${resource}`,
      state: context.capacity(resource),
      at: types,
    }));
  const price = { field: 'price', state: context.prices, at: offerings };
  return priceChange === undefined ? fields : [price, ...fields];
}

/** Numbers the distinct kinds of offerings: overlays cannot tell two of one kind apart. */
function offeringKinds(types: readonly InstanceType[]) {
  const numbers = new Map<string, number>();
  const representatives: Offering[] = [];
  const of: number[] = [];
  for (const type of types) {
    for (const offering of type.offerings) {
      const text = `${offering.zone}|${offering.zoneId}|${offering.capacityType}`;
      let number = numbers.get(text);
      if (number === undefined) {
        number = representatives.length;
        numbers.set(text, number);
        representatives.push(offering);
      }
      of.push(number);
    }
  }
  return { of: Int32Array.from(of), representatives };
}

/** One list of instance types, and the contexts that share it. */
class TypeList {
  readonly types: readonly InstanceType[];
  private readonly index: TypeIndex;
  private readonly kinds: ReturnType<typeof offeringKinds>;
  private readonly byText = new Map<string, Context>();

  constructor(types: readonly InstanceType[]) {
    this.types = types;
    this.index = new TypeIndex(types);
    this.kinds = offeringKinds(types);
  }

  /** The context for pools with these parts: one for all that no overlay can tell apart. */
  context(parts: readonly PoolPart[]): Context {
    const text = parts.map((part) => part.text).join('|');
    let context = this.byText.get(text);
    if (context === undefined) {
      context = new Context(this.types, this.index, this.kinds, parts);
      this.byText.set(text, context);
    }
    return context;
  }
}

function contextsOf(
  pools: readonly NodePool[],
  instanceTypes: ReadonlyMap<string, readonly InstanceType[]>,
  matchers: readonly OverlayMatcher[],
): readonly Context[] {
  const asked = askedLabels(matchers);
  const partsByLabels = new Map<string, readonly PoolPart[]>();
  const lists = new Map<readonly InstanceType[], TypeList>();
  const contexts = new Set<Context>();
  for (const pool of [...pools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const types = instanceTypes.get(pool.name);
    if (types === undefined) continue;
    const labels = overlayLabels(pool);
    const key = JSON.stringify(asked.map((each) => labels.get(each)));
    let parts = partsByLabels.get(key);
    if (parts === undefined) {
      parts = matchers.map((matcher) => poolPart(matcher, labels));
      partsByLabels.set(key, parts);
    }
    const list = lists.get(types) ?? new TypeList(types);
    lists.set(types, list);
    const context = list.context(parts);
    context.pools.push(pool.name);
    contexts.add(context);
  }
  return [...contexts];
}

class Resolver {
  private readonly matchers: readonly OverlayMatcher[];
  private readonly contexts: readonly Context[];

  constructor(matchers: readonly OverlayMatcher[], contexts: readonly Context[]) {
    this.matchers = matchers;
    this.contexts = contexts;
  }

  /** Applies the overlay, which is at the position, everywhere, or nowhere if it clashes with an equal one. */
  apply(matcher: OverlayMatcher, position: number): OverlayReport {
    const { overlay } = matcher;
    const base = { name: overlay.name, weight: overlay.weight, shadowed: [] };
    if (overlay.invalid !== undefined) {
      const message = overlay.invalid;
      return { ...base, ready: false, reason: 'RuntimeValidation', message, isDead: false };
    }
    const hits = this.contexts.flatMap((context) => {
      const targets = context.targets(matcher, position);
      return targets === undefined
        ? []
        : [{ context, fields: fieldsOf(overlay, context, targets) }];
    });
    const message = this.clash(overlay, hits);
    if (message !== undefined) {
      return { ...base, ready: false, reason: 'Conflict', message, isDead: false };
    }
    const shadowed = this.set(position, hits);
    const isDead = hits.length === 0;
    return { ...base, shadowed, ready: true, reason: 'ValidationSucceeded', message: '', isDead };
  }

  /** The first clash in the order of pools, fields and types: the lists' order says nothing. */
  private clash(overlay: NodeOverlay, hits: readonly Hit[]): string | undefined {
    for (const { context, fields } of hits) {
      for (const { field, state, at } of fields) {
        const clashing = at.flatMap((target) => {
          const other = this.matchers[state.claim[target] ?? missing(target)]?.overlay;
          if (other === undefined || other.weight !== overlay.weight) return [];
          return [{ other: other.name, type: typeAt(context, field, target) }];
        });
        const [first] = clashing.sort((a, b) =>
          a.type === b.type ? (a.other < b.other ? -1 : 1) : a.type < b.type ? -1 : 1,
        );
        if (first === undefined) continue;
        return (
          `conflict with overlay ${first.other} of equal weight ${overlay.weight}: ` +
          `both set ${field} of instance type ${first.type} in NodePool ${context.pools[0]}`
        );
      }
    }
    return undefined;
  }

  /** Sets what no heavier overlay set; returns the fields that were covered wherever it matched. */
  private set(position: number, hits: readonly Hit[]): OverlayReport['shadowed'] {
    const covered = new Map<string, Set<string>>();
    const effective = new Set<string>();
    for (const { fields } of hits) {
      for (const { field, state, at } of fields) {
        for (const target of at) {
          const winner = state.winner[target] ?? missing(target);
          state.claim[target] = position;
          if (winner === NOBODY) {
            state.winner[target] = position;
            effective.add(field);
          } else {
            const names = covered.get(field) ?? new Set<string>();
            covered.set(field, names.add((this.matchers[winner] ?? missing(winner)).overlay.name));
          }
        }
      }
    }
    return [...covered]
      .filter(([field]) => !effective.has(field))
      .map(([field, by]) => ({ field, by: [...by].sort() }));
  }

  /** The context's types as the winning overlays leave them. */
  adjusted(context: Context): readonly InstanceType[] {
    let isChanged = false;
    const types = context.types.map((type, index) => {
      const changed = this.adjustedType(context, type, index);
      isChanged ||= changed !== type;
      return changed;
    });
    return isChanged ? types : context.types;
  }

  private adjustedType(context: Context, type: InstanceType, index: number): InstanceType {
    const start = context.start[index] ?? missing(index);
    let offerings: Offering[] | undefined;
    for (const [at, offering] of type.offerings.entries()) {
      const overlay =
        this.matchers[context.prices.winner[start + at] ?? missing(start + at)]?.overlay;
      if (overlay?.priceChange === undefined) continue;
      offerings ??= [...type.offerings];
      const price = changedPrice(offering.listPrice, overlay.priceChange);
      offerings[at] = { ...offering, price, priceOverlay: overlay.name };
    }
    let capacity: Record<string, number> | undefined;
    const names = new Set(type.capacityOverlays);
    for (const [resource, { winner }] of context.capacities) {
      const overlay = this.matchers[winner[index] ?? missing(index)]?.overlay;
      if (overlay === undefined) continue;
      capacity ??= { ...type.capacity };
      capacity[resource] = overlay.capacity[resource] ?? 0;
      names.add(overlay.name);
    }
    if (offerings === undefined && capacity === undefined) return type;
    return {
      ...type,
      offerings: offerings ?? type.offerings,
      capacity: capacity ?? type.capacity,
      capacityOverlays: capacity === undefined ? type.capacityOverlays : [...names].sort(),
    };
  }
}

interface Hit {
  readonly context: Context;
  readonly fields: ReturnType<typeof fieldsOf>;
}

function typeAt({ types, start }: Context, field: string, target: number): string {
  const endsAfter = (_: unknown, at: number) => target < (start[at + 1] ?? missing(at + 1));
  const at = field === 'price' ? types.findIndex(endsAfter) : target;
  return (types[at] ?? missing(at)).name;
}

/**
 * Applies NodeOverlays to the instance types of each NodePool. Heavier overlays win field by field;
 * adjustments do not stack; capacities merge by resource. Of equally heavy overlays that set the
 * same field of the same type the first in the alphabet wins and the other is applied nowhere. An
 * overlay that is not applied never stops the others.
 */
export function resolveOverlays(
  nodePools: readonly NodePool[],
  instanceTypes: ReadonlyMap<string, readonly InstanceType[]>,
  overlays: readonly NodeOverlay[],
): OverlayResolution {
  const matchers = [...overlays].sort(compareOverlays).map(matcherOf);
  const contexts = contextsOf(nodePools, instanceTypes, matchers);
  const resolver = new Resolver(matchers, contexts);
  const reports = matchers.map((matcher, position) => resolver.apply(matcher, position));
  const adjusted = new Map<string, readonly InstanceType[]>();
  for (const context of contexts) {
    const types = resolver.adjusted(context);
    for (const pool of context.pools) adjusted.set(pool, types);
  }
  return { instanceTypes: adjusted, overlays: reports };
}
