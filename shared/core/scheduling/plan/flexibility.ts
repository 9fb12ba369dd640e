import type { InstanceType } from '../../model/instance-type.ts';
import { amountOf } from '../../model/resources.ts';
import type { Column } from '../problem/columns.ts';
import { type TypeVariant, typeLabel } from '../problem/launch-space.ts';
import { minValuesOf, valuesOf } from '../world/min-values.ts';
import { holds, isWithin, type Opening, opensTo } from '../world/openings.ts';
import { type Bin, type Ground, viewsIn } from '../world/world.ts';

/** The launches that a claim leaves open: every offering of its types in its zones and capacity types. */
export interface Flexibility {
  readonly types: readonly InstanceType[];
  readonly zones: readonly string[];
  readonly capacityTypes: readonly string[];
  /** Values of labels that some of the types leave open and that were chosen for them. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  readonly chosen: Column;
  readonly runnerUp: Column | undefined;
  /** By key of which there are too few values for minValues: how many there are. */
  readonly relaxed: ReadonlyMap<string, number>;
}

/** Finds what else could be launched for the pods of bins; bins with like pods share most of it. */
export class Flexibilities {
  private readonly ground: Ground;
  /** By openings: what was found for the same use of a node. */
  private readonly found = new Map<readonly Opening[], Map<string, Flexibility>>();

  constructor(ground: Ground) {
    this.ground = ground;
  }

  of(bin: Bin): Flexibility {
    const openings = this.ground.openings.holding(bin.held, viewsIn(this.ground, bin), bin.used);
    let found = this.found.get(openings);
    if (found === undefined) {
      found = new Map();
      this.found.set(openings, found);
    }
    const { pool, type } = bin.cover;
    const limits = Object.keys(pool.pool.limits).map((name) => amountOf(type.type.capacity, name));
    const text = `${bin.used.join()}|${limits.join()}`;
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
      if (!opensTo(opening, used)) continue;
      kept.push(opening);
      if (kept.length === instanceTypesMax && needs.size === 0) break;
    }
    const { cut, relaxed } = truncate(kept, needs, instanceTypesMax);
    const inCut = cut.map(({ columns }) => columns.filter(({ room }) => holds(room, used)));
    const columns = inCut.flat();
    const chosen = columns[0] ?? held;
    return {
      types: cut.map(({ type }) => type.type),
      zones: [...new Set(columns.map(({ domain }) => domain.zone))].sort(),
      capacityTypes: [...new Set(columns.map(({ domain }) => domain.capacityType))].sort(),
      labels: chosenValues(cut.map(({ type }) => type)),
      chosen,
      runnerUp: inCut[1]?.[0] ?? columns[1],
      relaxed,
    };
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
export function truncate(
  ranked: readonly Opening[],
  needs: ReadonlyMap<string, number>,
  most: number,
): { readonly cut: readonly Opening[]; readonly relaxed: Flexibility['relaxed'] } {
  const cut: Opening[] = [];
  const types = new Set<InstanceType>();
  const open = [...needs].map(([key, least]) => ({ key, least, values: new Set<string>() }));
  const adds = (opening: Opening) =>
    open.some(
      ({ key, least, values }) =>
        values.size < least && valuesOf(opening, key).some((value) => !values.has(value)),
    );
  for (const opening of ranked) {
    const { type } = opening.type;
    if (types.has(type) || (types.size >= most && !adds(opening))) continue;
    cut.push(opening);
    types.add(type);
    for (const { key, values } of open) {
      for (const value of valuesOf(opening, key)) values.add(value);
    }
  }
  const short = open.filter(({ least, values }) => values.size < least);
  return { cut, relaxed: new Map(short.map(({ key, values }) => [key, values.size])) };
}
