import { missing } from '../../missing.ts';
import type { InstanceType } from '../../model/instance-type.ts';
import { RESERVED } from '../../model/labels.ts';
import { amountOf } from '../../model/resources.ts';
import { Remembered } from '../../remembered.ts';
import { daemonPortsOn, portsClash } from '../problem/host-ports.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import {
  type Domain,
  Domains,
  domainAllows,
  isOffered,
  launchLabel,
  type PoolVariant,
  type TypeVariant,
} from '../problem/launch-space.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import type { HostRule } from './host.ts';

/** What pods of a class ask of the launch that they are on. */
export interface Occupant {
  readonly podClass: PodClass;
  readonly host: HostRule;
  /** By launch group: 1 where the class may go. */
  readonly allowed: Uint8Array;
  /** Topology keys whose value must be decided where the class goes. */
  readonly pinKeys: readonly string[];
}

/**
 * A type whose every offering in the open zones and capacity types suits, whatever is on the node.
 */
export interface TypeOption {
  readonly type: TypeVariant;
  /** Cheapest first. */
  readonly options: readonly LaunchOption[];
  /** By place: what its offerings leave room for; overrides make them differ within one place. */
  readonly freeByPlace: readonly (readonly Float64Array[])[];
  /** Whatever the pool could launch of the type, in places that are not open, too. */
  readonly offered: readonly LaunchOption[];
}

type ByType = ReadonlyMap<TypeVariant, readonly LaunchOption[]>;

/**
 * Where a claim with open places could be launched, by type: also where DaemonSets leave no room,
 * of which there are no launch options.
 */
type PlacesByType = ReadonlyMap<TypeVariant, readonly { readonly domain: Domain }[]>;

export function holds(free: Float64Array, used: Float64Array): boolean {
  for (let r = 0; r < used.length; r++) {
    const amount = used[r] ?? missing(r);
    if (amount > 0 && amount > (free[r] ?? missing(r))) return false;
  }
  return true;
}

/** Whether the type option has room for so much, in whichever of its places it is launched. */
export function canHold({ freeByPlace }: TypeOption, used: Float64Array): boolean {
  return freeByPlace.every((ofPlace) => ofPlace.some((free) => holds(free, used)));
}

/** What the launch options leave room for, by place; each answer once. */
function freeByPlaceOf(options: readonly LaunchOption[]): TypeOption['freeByPlace'] {
  const places = new Map<LaunchOption['domain'], Float64Array[]>();
  for (const { domain, free } of options) {
    const freeByPlace = places.get(domain);
    if (freeByPlace === undefined) places.set(domain, [free]);
    else if (!freeByPlace.includes(free)) freeByPlace.push(free);
  }
  const single = new Set<Float64Array>();
  return [...places.values()].filter((freeByPlace) => {
    const [only, other] = freeByPlace;
    if (only === undefined || other !== undefined) return true;
    const isNew = !single.has(only);
    single.add(only);
    return isNew;
  });
}

/** Whether the type takes no more of what is limited than the one the budget was counted with. */
export function isWithin(
  type: InstanceType,
  reserved: LaunchOption,
  limited: readonly string[],
): boolean {
  return limited.every(
    (name) => amountOf(type.capacity, name) <= amountOf(reserved.type.type.capacity, name),
  );
}

/** How much of a resource that the pool limits one such node counts. */
export function limitedBy({ type: { type } }: TypeOption, name: string): number {
  return amountOf(type.capacity, name);
}

/** Launch groups that suit a set of occupants; equal sets have one number. */
interface Mask {
  readonly id: number;
  readonly bits: Uint8Array;
  /** The bits as a text, which is the same in every problem of these groups. */
  readonly text: string;
}

/** Pods of one problem ask for what those of the last one did; more would be memory for little. */
const REMEMBERED_MAX = 32;
const kept = new Remembered<Problem['groups'], readonly TypeOption[]>(REMEMBERED_MAX);
const sortedLists = new WeakMap<readonly TypeOption[], readonly TypeOption[]>();

/** What else could be launched, by the chosen launch option. */
interface Lists {
  readonly wide: Map<LaunchOption, readonly TypeOption[]>;
  readonly narrow: Map<LaunchOption, readonly TypeOption[]>;
}

function idsOf(occupants: readonly Occupant[]): readonly number[] {
  const ids = new Set(occupants.map(({ podClass }) => podClass.id));
  return [...ids].sort((a, b) => a - b);
}

/**
 * What else could be launched instead of a launch option; nodes with like pods share the answer.
 */
export class TypeOptions {
  private readonly problem: Problem;
  private offered: ReadonlyMap<PoolVariant, ByType> | undefined;
  private readonly places = new Map<PoolVariant, PlacesByType>();
  private readonly masks = new Map<string, Mask>();
  private readonly masksByBits = new Map<string, Mask>();
  private readonly known = new Map<string, readonly TypeOption[]>();
  private readonly types = new Map<readonly TypeOption[], ReadonlyMap<TypeVariant, TypeOption>>();
  /** By the ids of the classes on a node, and by their list: most are asked for many launches. */
  private readonly byIds = new Map<string, Lists>();
  private readonly byOccupants = new WeakMap<readonly Occupant[], Lists>();

  constructor(problem: Problem) {
    this.problem = problem;
  }

  /**
   * The types that suit everybody on a node that has `used` so much, cheapest first; the chosen one
   * is among them. Where it has room in the chosen place only (an overlay or a DaemonSet takes room
   * elsewhere), no other place is open.
   */
  holding(
    chosen: LaunchOption,
    occupants: readonly Occupant[],
    used: Float64Array,
  ): readonly TypeOption[] {
    const wide = this.of(chosen, occupants, false);
    const own = this.byType(wide).get(chosen.type);
    return own !== undefined && canHold(own, used) ? wide : this.of(chosen, occupants, true);
  }

  private byType(typeOptions: readonly TypeOption[]): ReadonlyMap<TypeVariant, TypeOption> {
    let types = this.types.get(typeOptions);
    if (types === undefined) {
      types = new Map(typeOptions.map((each) => [each.type, each]));
      this.types.set(typeOptions, types);
    }
    return types;
  }

  /**
   * The types that suit everybody in the open places, or in the chosen one only; cheapest first.
   */
  private of(
    chosen: LaunchOption,
    occupants: readonly Occupant[],
    isNarrow: boolean,
  ): readonly TypeOption[] {
    const lists = this.listsFor(occupants)[isNarrow ? 'narrow' : 'wide'];
    let list = lists.get(chosen);
    if (list === undefined) {
      list = this.find(chosen, occupants, isNarrow);
      lists.set(chosen, list);
    }
    return list;
  }

  private listsFor(occupants: readonly Occupant[]): Lists {
    let lists = this.byOccupants.get(occupants);
    if (lists === undefined) {
      const text = idsOf(occupants).join();
      lists = this.byIds.get(text) ?? { wide: new Map(), narrow: new Map() };
      this.byIds.set(text, lists);
      this.byOccupants.set(occupants, lists);
    }
    return lists;
  }

  private find(
    chosen: LaunchOption,
    occupants: readonly Occupant[],
    isNarrow: boolean,
  ): readonly TypeOption[] {
    const mask = this.maskOf(chosen, occupants);
    const ports = occupants.flatMap(({ host }) => host.ports);
    const { zone, capacityType, reservationId } = chosen.domain;
    const place = [chosen.pool.id, zone, capacityType, reservationId ?? '', isNarrow].join('|');
    const text = `${place}|${mask.id}|${ports.length === 0 ? '' : JSON.stringify(ports)}`;
    let typeOptions = this.known.get(text);
    if (typeOptions === undefined) {
      const make = () => this.prepare(chosen, mask.bits, ports, isNarrow);
      // Ports are those of this problem's DaemonSets.
      typeOptions =
        ports.length > 0 ? make() : kept.of(this.problem.groups, `${place}|${mask.text}`, make);
      this.known.set(text, typeOptions);
    }
    return typeOptions;
  }

  /** The same, those first that take least of what the pool limits. */
  leastFirst(
    chosen: LaunchOption,
    occupants: readonly Occupant[],
    used: Float64Array,
  ): readonly TypeOption[] {
    const typeOptions = this.holding(chosen, occupants, used);
    let sorted = sortedLists.get(typeOptions);
    if (sorted === undefined) {
      const names = Object.keys(chosen.pool.pool.limits).sort();
      sorted = names.length === 0 ? typeOptions : typeOptions.toSorted(byLimits(names));
      sortedLists.set(typeOptions, sorted);
    }
    return sorted;
  }

  /** By group: whether it is allowed to all the classes, with the labels that they depend on. */
  private maskOf(chosen: LaunchOption, occupants: readonly Occupant[]): Mask {
    const pinKeys = [...new Set(occupants.flatMap((each) => each.pinKeys))];
    const { pool, type, domain } = chosen.group;
    const labels = pinKeys.map((key) => launchLabel(pool, type, domain, key));
    const { weight } = chosen.pool.pool;
    const text = JSON.stringify([weight, labels, idsOf(occupants)]);
    const known = this.masks.get(text);
    if (known !== undefined) return known;
    const bits = Uint8Array.from(this.problem.groups, (group) => {
      if (group.pool.pool.weight !== weight) return 0;
      if (!occupants.every((each) => each.allowed[group.id] === 1)) return 0;
      const agrees = pinKeys.every(
        (key, at) => launchLabel(group.pool, group.type, group.domain, key) === labels[at],
      );
      return agrees ? 1 : 0;
    });
    const joined = bits.join('');
    const mask = this.masksByBits.get(joined) ?? { id: this.masksByBits.size, bits, text: joined };
    this.masksByBits.set(joined, mask);
    this.masks.set(text, mask);
    return mask;
  }

  private offeredBy(pool: PoolVariant): ByType {
    this.offered ??= offeredByPool(this.problem.groups);
    return this.offered.get(pool) ?? new Map();
  }

  private placesOf(pool: PoolVariant): PlacesByType {
    let places = this.places.get(pool);
    if (places === undefined) {
      places = placesOf(pool, this.problem.settings.reservedCapacity);
      this.places.set(pool, places);
    }
    return places;
  }

  private prepare(
    chosen: LaunchOption,
    mask: Uint8Array,
    ports: HostRule['ports'],
    isNarrow: boolean,
  ): readonly TypeOption[] {
    const { reservationId, capacityType } = chosen.domain;
    const isUsable = ({ domain }: LaunchOption): boolean =>
      capacityType === RESERVED
        ? domain.reservationId === reservationId
        : domain.capacityType !== RESERVED;
    const offered = this.offeredBy(chosen.pool);
    const places = this.placesOf(chosen.pool);
    const suitable = new Map<TypeVariant, readonly LaunchOption[]>();
    for (const [type, options] of offered) {
      const fit = options.filter(
        (option) =>
          mask[option.group.id] === 1 &&
          isUsable(option) &&
          (ports.length === 0 || !portsClash(ports, daemonPortsOn(this.problem, option))),
      );
      if (fit.length > 0) suitable.set(type, fit);
    }
    const { zones, kinds } = isNarrow
      ? { zones: new Set([chosen.domain.zone]), kinds: new Set<string>([capacityType]) }
      : openDomains(chosen, suitable, places);
    const typeOptions: TypeOption[] = [];
    for (const [type, fit] of suitable) {
      const options = within(fit, zones, kinds);
      const there = within(places.get(type) ?? [], zones, kinds).filter(
        ({ domain }) => reservationId === undefined || domain.reservationId === reservationId,
      );
      if (options.length === 0 || options.length !== there.length) continue;
      const freeByPlace = freeByPlaceOf(options);
      typeOptions.push({
        type,
        options: options.toSorted(compareOptions),
        freeByPlace,
        offered: offered.get(type) ?? [],
      });
    }
    return typeOptions.sort((a, b) =>
      compareOptions(a.options[0] ?? missing(0), b.options[0] ?? missing(0)),
    );
  }
}

function byLimits(names: readonly string[]) {
  return (a: TypeOption, b: TypeOption): number => {
    for (const name of names) {
      const difference = limitedBy(a, name) - limitedBy(b, name);
      if (difference !== 0) return difference;
    }
    return 0;
  };
}

/** Problems of many plans have the same groups. */
const offeredOf = new WeakMap<Problem['groups'], ReadonlyMap<PoolVariant, ByType>>();

function offeredByPool(groups: Problem['groups']): ReadonlyMap<PoolVariant, ByType> {
  const before = offeredOf.get(groups);
  if (before !== undefined) return before;
  const offered = new Map<PoolVariant, Map<TypeVariant, LaunchOption[]>>();
  for (const option of groups.flatMap((group) => group.all)) {
    let byType = offered.get(option.pool);
    if (byType === undefined) {
      byType = new Map();
      offered.set(option.pool, byType);
    }
    const options = byType.get(option.type);
    if (options === undefined) byType.set(option.type, [option]);
    else options.push(option);
  }
  offeredOf.set(groups, offered);
  return offered;
}

function placesOf(pool: PoolVariant, reservedCapacity: boolean): PlacesByType {
  const domains = new Domains();
  const placeOf = (type: TypeVariant) =>
    type.type.offerings
      .filter((offering) => isOffered(offering, reservedCapacity))
      .map((offering) => ({ domain: domains.of(offering) }))
      .filter(({ domain }) => domainAllows(pool.requirements, domain));
  return new Map(pool.types.map((type) => [type, placeOf(type)]));
}

function within<Option extends { readonly domain: Domain }>(
  options: readonly Option[],
  zones: ReadonlySet<string>,
  kinds: ReadonlySet<string>,
): readonly Option[] {
  return options.filter(({ domain }) => zones.has(domain.zone) && kinds.has(domain.capacityType));
}

/**
 * Widens zones and capacity types as long as every type of the chosen offering's kind stays fit.
 */
function openDomains(chosen: LaunchOption, suitable: ByType, places: PlacesByType) {
  const zones = new Set([chosen.domain.zone]);
  const kinds = new Set<string>([chosen.domain.capacityType]);
  if (chosen.domain.capacityType === RESERVED) return { zones, kinds };
  const basis = [...suitable].filter(([, options]) => within(options, zones, kinds).length > 0);
  const isClosed = (): boolean =>
    basis.every(
      ([type, fit]) =>
        within(places.get(type) ?? [], zones, kinds).length === within(fit, zones, kinds).length,
    );
  const all = [...suitable.values()].flat();
  const widen = (open: Set<string>, values: readonly string[]): void => {
    for (const value of [...new Set(values)].sort()) {
      if (open.has(value)) continue;
      open.add(value);
      if (!isClosed()) open.delete(value);
    }
  };
  widen(
    kinds,
    all.map(({ domain }) => domain.capacityType),
  );
  widen(
    zones,
    all.map(({ domain }) => domain.zone),
  );
  return { zones, kinds };
}
