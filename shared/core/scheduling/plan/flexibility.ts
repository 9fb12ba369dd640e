import type { InstanceType } from '../../model/instance-type.ts';
import { RESERVED } from '../../model/labels.ts';
import { amountOf } from '../../model/resources.ts';
import { type Column, compareColumns } from '../problem/columns.ts';
import { portsClash } from '../problem/host-ports.ts';
import {
  launchLabel,
  type PoolVariant,
  type TypeVariant,
  typeLabel,
} from '../problem/launch-space.ts';
import { minValuesOf, valuesAmong } from '../world/min-values.ts';
import { type Bin, type ClassView, daemonPortsOn, type Ground } from '../world/world.ts';

/** The launches that a claim leaves open: every offering of its types in its zones and capacity types. */
export interface Flexibility {
  readonly types: readonly InstanceType[];
  readonly zones: readonly string[];
  readonly capacityTypes: readonly string[];
  /** Values of labels that some of the types leave open and that were chosen for them. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  readonly chosen: Column;
  readonly runnerUp: Column | undefined;
  readonly isRelaxed: boolean;
}

/** A type whose every offering in the open zones and capacity types suits, whatever is on the node. */
interface Opening {
  readonly type: TypeVariant;
  /** Cheapest first. */
  readonly columns: readonly Column[];
  readonly rooms: readonly Float64Array[];
}

type ByType = ReadonlyMap<TypeVariant, readonly Column[]>;

/** The classes on a bin. */
export function viewsIn(ground: Ground, bin: Bin): readonly ClassView[] {
  return [...bin.content.keys()].map((each) => ground.views[each.id] as ClassView);
}

/** Limited resources of which the type takes no more than the one the budget was counted with. */
function isWithin(type: InstanceType, cover: Column): boolean {
  return Object.keys(cover.pool.pool.limits).every(
    (name) => amountOf(type.capacity, name) <= amountOf(cover.type.type.capacity, name),
  );
}

function holds(room: Float64Array, used: Float64Array): boolean {
  for (let r = 0; r < used.length; r++) {
    if ((used[r] ?? 0) > 0 && (used[r] ?? 0) > (room[r] ?? 0)) return false;
  }
  return true;
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

/** Finds what else could be launched for the pods of bins; bins with like pods share most of it. */
export class Flexibilities {
  private readonly ground: Ground;
  private readonly offered = new Map<PoolVariant, Map<TypeVariant, Column[]>>();
  private readonly openings = new Map<string, readonly Opening[]>();
  /** By openings: what was found for the same use of a node. */
  private readonly found = new Map<readonly Opening[], Map<string, Flexibility>>();

  constructor(ground: Ground) {
    this.ground = ground;
    for (const column of ground.problem.groups.flatMap((group) => group.all)) {
      let byType = this.offered.get(column.pool);
      if (byType === undefined) {
        byType = new Map();
        this.offered.set(column.pool, byType);
      }
      const known = byType.get(column.type);
      if (known === undefined) byType.set(column.type, [column]);
      else known.push(column);
    }
  }

  of(bin: Bin): Flexibility {
    const openings = this.openingsOf(bin);
    let found = this.found.get(openings);
    if (found === undefined) {
      found = new Map();
      this.found.set(openings, found);
    }
    const { pool, type } = bin.cover;
    const isLimited = Object.keys(pool.pool.limits).length > 0;
    const text = `${bin.used.join()}|${isLimited ? type.type.name : ''}`;
    let flexibility = found.get(text);
    if (flexibility === undefined) {
      flexibility = this.find(bin, openings);
      found.set(text, flexibility);
    }
    return flexibility;
  }

  private find(bin: Bin, openings: readonly Opening[]): Flexibility {
    const { held, used } = bin;
    const { instanceTypesMax } = this.ground.problem.settings;
    const needs = minValuesOf(held.pool.pool);
    const kept: Opening[] = [];
    for (const opening of openings) {
      if (!isWithin(opening.type.type, bin.cover)) continue;
      if (!opening.rooms.every((room) => holds(room, used))) continue;
      kept.push(opening);
      if (kept.length === instanceTypesMax && needs.size === 0) break;
    }
    const { cut, isRelaxed } = truncate(kept, needs, instanceTypesMax);
    const columns = cut.flatMap((each) => each.columns);
    const chosen = columns[0] ?? held;
    return {
      types: cut.map(({ type }) => type.type),
      zones: [...new Set(columns.map(({ domain }) => domain.zone))].sort(),
      capacityTypes: [...new Set(columns.map(({ domain }) => domain.capacityType))].sort(),
      labels: chosenValues(cut.map(({ type }) => type)),
      chosen,
      runnerUp: cut[1]?.columns[0] ?? columns[1],
      isRelaxed,
    };
  }

  private openingsOf(bin: Bin): readonly Opening[] {
    const { held } = bin;
    const views = viewsIn(this.ground, bin);
    const mask = this.maskOf(held, views);
    const ports = views.flatMap((view) => view.host.ports);
    const { zone, capacityType, reservationId } = held.domain;
    const text = [
      held.pool.id,
      zone,
      capacityType,
      reservationId ?? '',
      mask.join(''),
      JSON.stringify(ports),
    ].join('|');
    let openings = this.openings.get(text);
    if (openings === undefined) {
      openings = this.prepare(held, mask, ports);
      this.openings.set(text, openings);
    }
    return openings;
  }

  /** By group: whether it is allowed to all the classes, with the labels that they depend on. */
  private maskOf(held: Column, views: readonly ClassView[]): Uint8Array {
    const pinKeys = [...new Set(views.flatMap((view) => view.pinKeys))];
    const labels = pinKeys.map((key) =>
      launchLabel(held.group.pool, held.group.type, held.group.domain, key),
    );
    return Uint8Array.from(this.ground.problem.groups, (group) => {
      if (group.pool.pool.weight !== held.pool.pool.weight) return 0;
      if (!views.every((view) => view.allowed[group.id] === 1)) return 0;
      const agrees = pinKeys.every(
        (key, at) => launchLabel(group.pool, group.type, group.domain, key) === labels[at],
      );
      return agrees ? 1 : 0;
    });
  }

  private prepare(
    held: Column,
    mask: Uint8Array,
    ports: ClassView['host']['ports'],
  ): readonly Opening[] {
    const { problem } = this.ground;
    const { reservationId, capacityType } = held.domain;
    const isUsable = ({ domain }: Column): boolean =>
      capacityType === RESERVED
        ? domain.reservationId === reservationId
        : domain.capacityType !== RESERVED;
    const offered = this.offered.get(held.pool) ?? new Map<TypeVariant, readonly Column[]>();
    const suitable = new Map<TypeVariant, readonly Column[]>();
    for (const [type, columns] of offered) {
      const fit = columns.filter(
        (column) =>
          mask[column.group.id] === 1 &&
          isUsable(column) &&
          (ports.length === 0 || !portsClash(ports, daemonPortsOn(problem, column))),
      );
      if (fit.length > 0) suitable.set(type, fit);
    }
    const { zones, kinds } = openDomains(held, suitable, offered);
    const openings: Opening[] = [];
    for (const [type, fit] of suitable) {
      const columns = within(fit, zones, kinds);
      const there = within(offered.get(type) ?? [], zones, kinds).filter(
        ({ domain }) => reservationId === undefined || domain.reservationId === reservationId,
      );
      if (columns.length === 0 || columns.length !== there.length) continue;
      const rooms = [...new Set(columns.map(({ room }) => room))];
      openings.push({ type, columns: columns.toSorted(compareColumns), rooms });
    }
    return openings.sort((a, b) => compareColumns(a.columns[0] as Column, b.columns[0] as Column));
  }
}

function chosenValues(types: readonly TypeVariant[]): ReadonlyMap<string, readonly string[]> {
  const keys = new Set(types.flatMap(({ chosen }) => [...chosen.keys()]));
  return new Map(
    [...keys].map((key) => {
      const values = new Set(types.flatMap((type) => typeLabel(type, key) ?? []));
      return [key, [...values].sort()] as const;
    }),
  );
}

/** The cheapest types, and beyond them those that minValues still needs. */
function truncate(
  ranked: readonly Opening[],
  needs: ReadonlyMap<string, number>,
  most: number,
): { readonly cut: readonly Opening[]; readonly isRelaxed: boolean } {
  const cut: Opening[] = [];
  const types: InstanceType[] = [];
  const isShort = (key: string, least: number) => valuesAmong(types, key).size < least;
  for (const opening of ranked) {
    const { type } = opening.type;
    const adds =
      types.length < most ||
      [...needs].some(
        ([key, least]) =>
          isShort(key, least) &&
          valuesAmong([...types, type], key).size > valuesAmong(types, key).size,
      );
    if (!adds || types.includes(type)) continue;
    cut.push(opening);
    types.push(type);
  }
  return { cut, isRelaxed: [...needs].some(([key, least]) => isShort(key, least)) };
}
