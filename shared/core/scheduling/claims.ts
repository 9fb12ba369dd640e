import type { InstanceType } from '../model/instance-type.ts';
import {
  CAPACITY_OVERLAY_APPLIED,
  CAPACITY_TYPE,
  type CapacityType,
  INSTANCE_TYPE,
  MIN_VALUES_RELAXED,
  PRICE_OVERLAY_APPLIED,
  RESERVATION_ID,
  RESERVED,
  ZONE,
} from '../model/labels.ts';
import type { OfferingChoice, PlannedNodeClaim, RunnerUp } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { RequirementExpression } from '../model/requirement.ts';
import { addResources, type Resources } from '../model/resources.ts';
import { type Column, type ColumnGroup, compareColumns } from './columns.ts';
import { portsClash } from './host-ports.ts';
import { launchLabel, poolLabels } from './launch-space.ts';
import { minValuesOf, valuesAmong } from './min-values.ts';
import type { PodClass, Problem } from './problem.ts';
import { type Bin, type ClassView, daemonPortsOn, type Ground } from './world.ts';

/** The launches that a claim leaves open: every offering of its types in its zones and capacity types. */
export interface Flexibility {
  readonly types: readonly InstanceType[];
  readonly zones: readonly string[];
  readonly capacityTypes: readonly string[];
  readonly chosen: Column;
  readonly runnerUp: Column | undefined;
  readonly isRelaxed: boolean;
}

function viewsIn(ground: Ground, bin: Bin): readonly ClassView[] {
  return [...bin.content.keys()].map((each) => ground.views[each.id] as ClassView);
}

function holds(column: Column, used: Float64Array): boolean {
  for (let r = 0; r < used.length; r++) {
    if ((used[r] ?? 0) > 0 && (used[r] ?? 0) > (column.room[r] ?? 0)) return false;
  }
  return true;
}

/** Limited resources of which the type takes no more than the one the budget was counted with. */
function isWithin(type: InstanceType, cover: Column): boolean {
  return Object.keys(cover.pool.pool.limits).every(
    (name) => (type.capacity[name] ?? 0) <= (cover.type.type.capacity[name] ?? 0),
  );
}

function labelsAgree(a: ColumnGroup, b: ColumnGroup, keys: readonly string[]): boolean {
  return keys.every(
    (key) =>
      launchLabel(a.pool, a.type, a.domain, key) === launchLabel(b.pool, b.type, b.domain, key),
  );
}

/** By type: the offerings that could be launched, and which of them suit every pod of the bin. */
interface Openings {
  readonly suitable: Map<Column['type'], Column[]>;
  readonly offered: Map<Column['type'], Column[]>;
}

function openings(ground: Ground, bin: Bin): Openings {
  const { held, used } = bin;
  const views = viewsIn(ground, bin);
  const pinKeys = [...new Set(views.flatMap((view) => view.pinKeys))];
  const ports = views.flatMap((view) => view.host.ports);
  const suitable = new Map<Column['type'], Column[]>();
  const offered = new Map<Column['type'], Column[]>();
  const isReserved = held.domain.capacityType === RESERVED;
  for (const group of ground.problem.groups) {
    if (group.pool.pool.weight !== held.pool.pool.weight) continue;
    const isAllowed =
      views.every((view) => view.allowed[group.id] === 1) &&
      labelsAgree(group, held.group, pinKeys);
    for (const column of group.all) {
      if (column.pool !== held.pool) continue;
      push(offered, column.type, column);
      const sameReservation = column.domain.reservationId === held.domain.reservationId;
      const isUsable = isReserved ? sameReservation : column.domain.capacityType !== RESERVED;
      if (!isAllowed || !isUsable || portsClash(ports, daemonPortsOn(ground.problem, column)))
        continue;
      if (isWithin(column.type.type, bin.cover) && holds(column, used)) {
        push(suitable, column.type, column);
      }
    }
  }
  return { suitable, offered };
}

function push<Key>(index: Map<Key, Column[]>, key: Key, column: Column): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, [column]);
  else known.push(column);
}

function within(
  columns: readonly Column[],
  zones: ReadonlySet<string>,
  kinds: ReadonlySet<string>,
) {
  return columns.filter(({ domain }) => zones.has(domain.zone) && kinds.has(domain.capacityType));
}

/** Widens zones and capacity types as long as every type of the held offering's kind stays fit. */
function openDomains(held: Column, { suitable, offered }: Openings) {
  const zones = new Set([held.domain.zone]);
  const kinds = new Set<string>([held.domain.capacityType]);
  const basis = [...suitable].filter(([, columns]) => within(columns, zones, kinds).length > 0);
  const isClosed = (): boolean =>
    basis.every(([type, fit]) => {
      const open = within(offered.get(type) ?? [], zones, kinds);
      return open.length === within(fit, zones, kinds).length;
    });
  const all = [...suitable.values()].flat();
  if (held.domain.capacityType === RESERVED) return { zones, kinds };
  for (const kind of [...new Set(all.map(({ domain }) => domain.capacityType))].sort()) {
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    if (!isClosed()) kinds.delete(kind);
  }
  for (const zone of [...new Set(all.map(({ domain }) => domain.zone))].sort()) {
    if (zones.has(zone)) continue;
    zones.add(zone);
    if (!isClosed()) zones.delete(zone);
  }
  return { zones, kinds };
}

/** The cheapest types, and beyond them those that minValues still needs. */
function truncate(
  ranked: readonly Column[],
  held: Column,
  most: number,
): { readonly types: readonly InstanceType[]; readonly isRelaxed: boolean } {
  const types: InstanceType[] = [];
  const needs = minValuesOf(held.pool.pool);
  const isShort = (key: string, least: number) => valuesAmong(types, key).size < least;
  for (const { type } of ranked) {
    if (types.includes(type.type)) continue;
    if (types.length < most) types.push(type.type);
    else {
      const adds = [...needs].some(
        ([key, least]) =>
          isShort(key, least) &&
          valuesAmong([...types, type.type], key).size > valuesAmong(types, key).size,
      );
      if (adds) types.push(type.type);
    }
  }
  return { types, isRelaxed: [...needs].some(([key, least]) => isShort(key, least)) };
}

/** Everything that could be launched for the bin's pods instead of the held column. */
export function flexibilityOf(ground: Ground, bin: Bin): Flexibility {
  const open = openings(ground, bin);
  const { zones, kinds } = openDomains(bin.held, open);
  const ranked: Column[] = [];
  const { reservationId } = bin.held.domain;
  for (const [type, fit] of open.suitable) {
    const inside = within(fit, zones, kinds);
    const offered = within(open.offered.get(type) ?? [], zones, kinds).filter(
      (each) => reservationId === undefined || each.domain.reservationId === reservationId,
    );
    if (inside.length > 0 && inside.length === offered.length) ranked.push(...inside);
  }
  ranked.sort(compareColumns);
  const { settings } = ground.problem;
  const { types, isRelaxed } = truncate(ranked, bin.held, settings.instanceTypesMax);
  const chosen = ranked[0] ?? bin.held;
  return {
    types,
    zones: [...new Set(ranked.map(({ domain }) => domain.zone))].sort(),
    capacityTypes: [...new Set(ranked.map(({ domain }) => domain.capacityType))].sort(),
    chosen,
    runnerUp: ranked.find((each) => each.type !== chosen.type) ?? ranked[1],
    isRelaxed,
  };
}

function choiceOf(column: Column): OfferingChoice {
  return {
    type: column.type.type.name,
    zone: column.domain.zone,
    capacityType: column.domain.capacityType as CapacityType,
    reservationId: column.domain.reservationId,
    price: column.price,
    listPrice: column.offering.listPrice,
  };
}

function runnerUpOf(chosen: Column, column: Column | undefined): RunnerUp | undefined {
  if (column === undefined) return undefined;
  const priceDifference = column.price - chosen.price;
  const why =
    priceDifference > 0
      ? `holds the same pods for $${priceDifference.toFixed(4)} more an hour`
      : 'costs the same; the name comes later in the alphabet';
  return { ...choiceOf(column), priceDifference, why };
}

/** Labels that pods of the bin ask for or prefer and that the pool or the type left open. */
function chosenLabels(ground: Ground, bin: Bin): ReadonlyMap<string, string> {
  const asked = new Set<string>();
  for (const view of viewsIn(ground, bin)) {
    for (const key of view.pinKeys) asked.add(key);
    for (const { terms } of [view.podClass.rule, ...view.wanted.map(({ rule }) => rule)]) {
      for (const term of terms) for (const key of term.keys()) asked.add(key);
    }
  }
  const { pool, type } = bin.held;
  return new Map([...pool.chosen, ...type.chosen].filter(([key]) => asked.has(key)));
}

function requirementsOf(
  ground: Ground,
  bin: Bin,
  flexibility: Flexibility,
): readonly RequirementExpression[] {
  const { pool } = bin.held;
  const { types, zones, capacityTypes, chosen } = flexibility;
  const replaced = new Map<string, readonly string[]>([
    ...Object.entries(poolLabels(pool.pool)).map(([key, value]) => [key, [value]] as const),
    ...[...chosenLabels(ground, bin)].map(([key, value]) => [key, [value]] as const),
    [INSTANCE_TYPE, types.map((type) => type.name)],
    [ZONE, zones],
    [CAPACITY_TYPE, capacityTypes],
    ...(chosen.domain.reservationId === undefined
      ? []
      : [[RESERVATION_ID, [chosen.domain.reservationId]] as const]),
  ]);
  const minimums = minValuesOf(pool.pool);
  const kept = pool.pool.template.requirements
    .filter(({ key }) => !replaced.has(key))
    .map(({ minValues: _, ...rest }) => rest);
  const all: RequirementExpression[] = [
    ...kept,
    ...[...replaced].map(([key, values]) => ({ key, operator: 'In' as const, values })),
  ];
  const sorted = all.sort((a, b) => {
    const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
    return a.key < b.key || (a.key === b.key && left < right) ? -1 : 1;
  });
  const marked = new Set<string>();
  return sorted.map((each) => {
    const minValues = minimums.get(each.key);
    if (minValues === undefined || marked.has(each.key) || flexibility.isRelaxed) return each;
    marked.add(each.key);
    return { ...each, minValues };
  });
}

function requestsOf(problem: Problem, bin: Bin, pods: readonly (readonly [PodClass, number])[]) {
  let requests: Resources = {};
  for (const [podClass, amount] of pods) {
    const own = podClass.pods[0]?.spec.requests ?? {};
    const all = Object.entries(own).map(([name, each]) => [name, each * amount] as const);
    requests = addResources(requests, Object.fromEntries(all));
  }
  for (const daemon of problem.daemons) {
    if (bin.held.group.allowed[daemon.rule.id] === 1) {
      requests = addResources(requests, daemon.total);
    }
  }
  return requests;
}

/** Takes the next pods of each class, in the order of the demand. */
export class PodDealer {
  private readonly next = new Map<PodClass, number>();

  deal(content: ReadonlyMap<PodClass, number>): readonly string[] {
    const keys: string[] = [];
    for (const [podClass, amount] of content) {
      const from = this.next.get(podClass) ?? 0;
      keys.push(...podClass.pods.slice(from, from + amount).map(podKey));
      this.next.set(podClass, from + amount);
    }
    return keys.sort();
  }

  /** Pods of the class that were not dealt. */
  rest(podClass: PodClass): PodClass['pods'] {
    return podClass.pods.slice(this.next.get(podClass) ?? 0);
  }
}

/** The NodeClaim that a bin stands for. */
export function plannedClaim(ground: Ground, bin: Bin, pods: readonly string[]): PlannedNodeClaim {
  const flexibility = flexibilityOf(ground, bin);
  const { chosen, runnerUp, types, isRelaxed } = flexibility;
  const { pool } = bin.held.pool;
  const { priceOverlay } = chosen.offering;
  const { capacityOverlays } = chosen.type.type;
  const overlays = new Set([
    ...(priceOverlay === undefined ? [] : [priceOverlay]),
    ...capacityOverlays,
  ]);
  return {
    nodePool: pool.name,
    requirements: requirementsOf(ground, bin, flexibility),
    instanceTypes: types.map((type) => type.name),
    chosen: choiceOf(chosen),
    runnerUp: runnerUpOf(chosen, runnerUp),
    pods,
    requests: requestsOf(ground.problem, bin, [...bin.content]),
    labels: { ...poolLabels(pool), ...Object.fromEntries(chosenLabels(ground, bin)) },
    annotations: {
      ...pool.template.annotations,
      ...(isRelaxed ? { [MIN_VALUES_RELAXED]: 'true' } : {}),
      ...(priceOverlay === undefined ? {} : { [PRICE_OVERLAY_APPLIED]: 'true' }),
      ...(capacityOverlays.length === 0 ? {} : { [CAPACITY_OVERLAY_APPLIED]: 'true' }),
    },
    taints: pool.template.taints,
    overlays: [...overlays].sort(),
  };
}
