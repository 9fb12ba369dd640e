import type { InstanceType } from '../../model/instance-type.ts';
import { RESERVED } from '../../model/labels.ts';
import { amountOf } from '../../model/resources.ts';
import { Remembered } from '../../remembered.ts';
import { type Column, compareColumns } from '../problem/columns.ts';
import { daemonPortsOn, portsClash } from '../problem/host-ports.ts';
import { launchLabel, type PoolVariant, type TypeVariant } from '../problem/launch-space.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import type { HostRule } from './host.ts';

/** What pods of a class ask of the launch that they are on. */
export interface Occupant {
  readonly podClass: PodClass;
  readonly host: HostRule;
  /** By column group: 1 where the class may go. */
  readonly allowed: Uint8Array;
  /** Topology keys whose value must be decided where the class goes. */
  readonly pinKeys: readonly string[];
}

/** A type whose every offering in the open zones and capacity types suits, whatever is on the node. */
export interface Opening {
  readonly type: TypeVariant;
  /** Cheapest first. */
  readonly columns: readonly Column[];
  /** By place: what its offerings leave room for; overrides make them differ within one place. */
  readonly rooms: readonly (readonly Float64Array[])[];
  /** Whatever the pool could launch of the type, in places that are not open, too. */
  readonly offered: readonly Column[];
}

type ByType = ReadonlyMap<TypeVariant, readonly Column[]>;

export function holds(room: Float64Array, used: Float64Array): boolean {
  return used.every((amount, r) => amount <= 0 || amount <= (room[r] ?? 0));
}

/** Whether the opening has room for so much, in whichever of its places it is launched. */
export function opensTo({ rooms }: Opening, used: Float64Array): boolean {
  return rooms.every((ofPlace) => ofPlace.some((room) => holds(room, used)));
}

/** What the columns leave room for, by place; each answer once. */
function roomsOf(columns: readonly Column[]): Opening['rooms'] {
  const places = new Map<Column['domain'], Float64Array[]>();
  for (const { domain, room } of columns) {
    const rooms = places.get(domain);
    if (rooms === undefined) places.set(domain, [room]);
    else if (!rooms.includes(room)) rooms.push(room);
  }
  const single = new Set<Float64Array>();
  return [...places.values()].filter((rooms) => {
    const [only, other] = rooms;
    if (only === undefined || other !== undefined) return true;
    const isNew = !single.has(only);
    single.add(only);
    return isNew;
  });
}

/** Limited resources of which the type takes no more than the one the budget was counted with. */
export function isWithin(type: InstanceType, cover: Column): boolean {
  return Object.keys(cover.pool.pool.limits).every(
    (name) => amountOf(type.capacity, name) <= amountOf(cover.type.type.capacity, name),
  );
}

/** How much of a resource that the pool limits one such node counts. */
export function limitedBy({ type: { type } }: Opening, name: string): number {
  return amountOf(type.capacity, name);
}

/** Column groups that suit a set of occupants; equal sets have one number. */
interface Mask {
  readonly id: number;
  readonly bits: Uint8Array;
  /** The bits as a text, which is the same in every problem of these groups. */
  readonly text: string;
}

/** Pods of one problem ask for what those of the last one did; more would be memory for little. */
const KEPT_MAX = 32;
const kept = new Remembered<Problem['groups'], readonly Opening[]>(KEPT_MAX);

/** What else could be launched instead of a column; nodes with like pods share the answer. */
export class Openings {
  private readonly problem: Problem;
  private offered: ReadonlyMap<PoolVariant, ByType> | undefined;
  private readonly masks = new Map<string, Mask>();
  private readonly masksByBits = new Map<string, Mask>();
  private readonly known = new Map<string, readonly Opening[]>();
  private readonly types = new Map<readonly Opening[], ReadonlyMap<TypeVariant, Opening>>();
  private readonly sorted = new Map<readonly Opening[], readonly Opening[]>();

  constructor(problem: Problem) {
    this.problem = problem;
  }

  /**
   * The types that suit everybody on a node that has `used` so much, cheapest first; the held one
   * is among them. Where it has room in the held place only (an overlay or a DaemonSet takes room
   * elsewhere), no other place is open.
   */
  holding(held: Column, occupants: readonly Occupant[], used: Float64Array): readonly Opening[] {
    const wide = this.of(held, occupants, false);
    const own = this.byType(wide).get(held.type);
    return own !== undefined && opensTo(own, used) ? wide : this.of(held, occupants, true);
  }

  private byType(openings: readonly Opening[]): ReadonlyMap<TypeVariant, Opening> {
    let types = this.types.get(openings);
    if (types === undefined) {
      types = new Map(openings.map((each) => [each.type, each]));
      this.types.set(openings, types);
    }
    return types;
  }

  /** The types that suit everybody in the open places, or in the held one only; cheapest first. */
  private of(held: Column, occupants: readonly Occupant[], isNarrow: boolean): readonly Opening[] {
    const mask = this.maskOf(held, occupants);
    const ports = occupants.flatMap(({ host }) => host.ports);
    const { zone, capacityType, reservationId } = held.domain;
    const place = [held.pool.id, zone, capacityType, reservationId ?? '', isNarrow].join('|');
    const text = `${place}|${mask.id}|${ports.length === 0 ? '' : JSON.stringify(ports)}`;
    let openings = this.known.get(text);
    if (openings === undefined) {
      const make = () => this.prepare(held, mask.bits, ports, isNarrow);
      // Ports are those of this problem's DaemonSets.
      openings =
        ports.length > 0 ? make() : kept.of(this.problem.groups, `${place}|${mask.text}`, make);
      this.known.set(text, openings);
    }
    return openings;
  }

  /** The same, those first that take least of what the pool limits. */
  leastFirst(held: Column, occupants: readonly Occupant[], used: Float64Array): readonly Opening[] {
    const openings = this.holding(held, occupants, used);
    let sorted = this.sorted.get(openings);
    if (sorted === undefined) {
      const names = Object.keys(held.pool.pool.limits).sort();
      sorted = names.length === 0 ? openings : openings.toSorted(byLimits(names));
      this.sorted.set(openings, sorted);
    }
    return sorted;
  }

  /** By group: whether it is allowed to all the classes, with the labels that they depend on. */
  private maskOf(held: Column, occupants: readonly Occupant[]): Mask {
    const pinKeys = [...new Set(occupants.flatMap((each) => each.pinKeys))];
    const { pool, type, domain } = held.group;
    const labels = pinKeys.map((key) => launchLabel(pool, type, domain, key));
    const { weight } = held.pool.pool;
    const ids = new Set(occupants.map(({ podClass }) => podClass.id));
    const text = JSON.stringify([weight, labels, [...ids].sort((a, b) => a - b)]);
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

  private prepare(
    held: Column,
    mask: Uint8Array,
    ports: HostRule['ports'],
    isNarrow: boolean,
  ): readonly Opening[] {
    const { reservationId, capacityType } = held.domain;
    const isUsable = ({ domain }: Column): boolean =>
      capacityType === RESERVED
        ? domain.reservationId === reservationId
        : domain.capacityType !== RESERVED;
    const offered = this.offeredBy(held.pool);
    const suitable = new Map<TypeVariant, readonly Column[]>();
    for (const [type, columns] of offered) {
      const fit = columns.filter(
        (column) =>
          mask[column.group.id] === 1 &&
          isUsable(column) &&
          (ports.length === 0 || !portsClash(ports, daemonPortsOn(this.problem, column))),
      );
      if (fit.length > 0) suitable.set(type, fit);
    }
    const { zones, kinds } = isNarrow
      ? { zones: new Set([held.domain.zone]), kinds: new Set<string>([capacityType]) }
      : openDomains(held, suitable, offered);
    const openings: Opening[] = [];
    for (const [type, fit] of suitable) {
      const columns = within(fit, zones, kinds);
      const all = offered.get(type) ?? [];
      const there = within(all, zones, kinds).filter(
        ({ domain }) => reservationId === undefined || domain.reservationId === reservationId,
      );
      if (columns.length === 0 || columns.length !== there.length) continue;
      const rooms = roomsOf(columns);
      openings.push({ type, columns: columns.toSorted(compareColumns), rooms, offered: all });
    }
    return openings.sort((a, b) => compareColumns(a.columns[0] as Column, b.columns[0] as Column));
  }
}

function byLimits(names: readonly string[]) {
  return (a: Opening, b: Opening): number => {
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
  const offered = new Map<PoolVariant, Map<TypeVariant, Column[]>>();
  for (const column of groups.flatMap((group) => group.all)) {
    let byType = offered.get(column.pool);
    if (byType === undefined) {
      byType = new Map();
      offered.set(column.pool, byType);
    }
    const columns = byType.get(column.type);
    if (columns === undefined) byType.set(column.type, [column]);
    else columns.push(column);
  }
  offeredOf.set(groups, offered);
  return offered;
}

function within(
  columns: readonly Column[],
  zones: ReadonlySet<string>,
  kinds: ReadonlySet<string>,
): readonly Column[] {
  return columns.filter(({ domain }) => zones.has(domain.zone) && kinds.has(domain.capacityType));
}

/** Widens zones and capacity types as long as every type of the held offering's kind stays fit. */
function openDomains(held: Column, suitable: ByType, offered: ByType) {
  const zones = new Set([held.domain.zone]);
  const kinds = new Set<string>([held.domain.capacityType]);
  if (held.domain.capacityType === RESERVED) return { zones, kinds };
  const basis = [...suitable].filter(([, columns]) => within(columns, zones, kinds).length > 0);
  const isClosed = (): boolean =>
    basis.every(
      ([type, fit]) =>
        within(offered.get(type) ?? [], zones, kinds).length === within(fit, zones, kinds).length,
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
