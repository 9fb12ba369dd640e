import { runnerUpText } from '../../explain/reasons/provisioning.ts';
import { typeValues } from '../../instance-types/type-requirements.ts';
import { invariant } from '../../invariant.ts';
import type { Currency } from '../../model/currency.ts';
import {
  CAPACITY_OVERLAY_APPLIED,
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  MIN_VALUES_RELAXED,
  normalizeLabelKey,
  PRICE_OVERLAY_APPLIED,
  RESERVATION_ID,
  ZONE,
} from '../../model/labels.ts';
import type { OfferingChoice, PlannedNodeClaim, RunnerUp } from '../../model/plan.ts';
import { podKey } from '../../model/pod.ts';
import type { RequirementExpression } from '../../model/requirement.ts';
import { addResources, type Resources } from '../../model/resources.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { isDomainKey, poolLabels } from '../problem/launch-space.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { minValuesOf } from '../search/min-values.ts';
import { type Bin, resolvedIn, type SearchContext } from '../search/search-state.ts';
import { holds } from '../search/type-options.ts';
import type { Flexibility } from './flexibility.ts';

function choiceOf(option: LaunchOption): OfferingChoice {
  return {
    type: option.type.type.name,
    zone: option.domain.zone,
    capacityType: option.domain.capacityType,
    reservationId: option.domain.reservationId,
    price: option.price,
    listPrice: option.offering.listPrice,
  };
}

function runnerUpOf(
  chosen: LaunchOption,
  option: LaunchOption | undefined,
  currency: Currency,
): RunnerUp | undefined {
  if (option === undefined) return undefined;
  const priceDifference = option.price - chosen.price;
  const why = runnerUpText(priceDifference, currency);
  return { ...choiceOf(option), priceDifference, why };
}

/**
 * Labels by which DaemonSets stay away from the bin's node: without the label they would run there,
 * and take the room that the plan has given to others.
 */
function avoidedBy({ problem }: SearchContext, { chosen }: Bin): readonly string[] {
  const away = problem.daemons.filter(({ rule }) => chosen.group.allowed[rule.id] !== 1);
  const sets = away.flatMap(({ rule }) => rule.terms.flatMap((term) => [...term]));
  return sets.flatMap(([key, set]) => (set.absent ? [key] : []));
}

/** Labels that pods of the bin ask for or prefer and that the pool or the types leave open. */
function chosenLabels(
  context: SearchContext,
  bin: Bin,
  { labels }: Flexibility,
): ReadonlyMap<string, readonly string[]> {
  const asked = new Set<string>();
  for (const resolved of resolvedIn(context, bin)) {
    for (const key of resolved.placeKeys) asked.add(key);
    for (const { terms } of [resolved.podClass.rule, ...resolved.wanted.map(({ rule }) => rule)]) {
      for (const term of terms) for (const key of term.keys()) asked.add(key);
    }
  }
  const avoided = new Set(avoidedBy(context, bin));
  const ofPool = [...bin.chosen.pool.chosen].flatMap(([key, value]) =>
    asked.has(key) || avoided.has(key) ? [[key, [value]] as const] : [],
  );
  return new Map([...ofPool, ...[...labels].filter(([key]) => asked.has(key))]);
}

/**
 * Labels that the pool lets nodes have or not, and that some pod of the bin wants to be absent.
 * Those of types and offerings are as these are: the pod may be there by another of its terms.
 */
function absentLabels(context: SearchContext, bin: Bin): ReadonlySet<string> {
  const { pool, type } = bin.chosen;
  const isOfPool = (key: string) =>
    !isDomainKey(key) && typeValues(type.type, key) === undefined && !pool.labels.has(key);
  const wanted = new Set<string>();
  for (const { podClass } of resolvedIn(context, bin)) {
    for (const term of podClass.rule.terms) {
      for (const [key, set] of term) {
        const isAbsent = set.absent && !set.complement && set.values.size === 0;
        const isOpen = pool.requirements.get(key)?.absent === true && isOfPool(key);
        if (isAbsent && isOpen) wanted.add(key);
      }
    }
  }
  return wanted;
}

function requirementsOf(
  context: SearchContext,
  bin: Bin,
  flexibility: Flexibility,
): readonly RequirementExpression[] {
  const { pool } = bin.chosen;
  const { types, zones, capacityTypes, chosen } = flexibility;
  const replaced = new Map<string, readonly string[]>([
    ...Object.entries(poolLabels(pool.pool)).map(([key, value]) => [key, [value]] as const),
    ...chosenLabels(context, bin, flexibility),
    [INSTANCE_TYPE, types.map((type) => type.name)],
    [ZONE, zones],
    [CAPACITY_TYPE, capacityTypes],
    ...(chosen.domain.reservationId === undefined
      ? []
      : [[RESERVATION_ID, [chosen.domain.reservationId]] as const]),
  ]);
  const minimums = minValuesOf(pool.pool);
  const absent = absentLabels(context, bin);
  const kept = pool.pool.template.requirements
    .filter(({ key }) => !replaced.has(key) && !absent.has(normalizeLabelKey(key)))
    .map(({ minValues: _, ...rest }) => rest);
  const all: RequirementExpression[] = [
    ...kept,
    ...[...absent].map((key) => ({ key, operator: 'DoesNotExist' as const, values: [] })),
    ...[...replaced].map(([key, values]) => ({ key, operator: 'In' as const, values })),
  ];
  const sorted = all.sort((a, b) => {
    if (a.key !== b.key) return a.key < b.key ? -1 : 1;
    return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
  });
  const marked = new Set<string>();
  return sorted.map((each) => {
    const minValues = flexibility.relaxed.get(each.key) ?? minimums.get(each.key) ?? 0;
    if (minValues === 0 || marked.has(each.key)) return each;
    // The API refuses fewer values than minValues: pods may have narrowed the claim to one zone.
    if (each.operator === 'In' && each.values.length < minValues) return each;
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
    if (bin.chosen.group.allowed[daemon.rule.id] === 1) {
      requests = addResources(requests, daemon.total);
    }
  }
  return requests;
}

/** Takes the next pods of each class, in the order of the demand. */
export class PodAssigner {
  private readonly next = new Map<PodClass, number>();

  assign(content: ReadonlyMap<PodClass, number>): readonly string[] {
    const keys: string[] = [];
    for (const [podClass, amount] of content) {
      const from = this.next.get(podClass) ?? 0;
      invariant(from + amount <= podClass.pods.length, 'a plan places each pod once');
      keys.push(...podClass.pods.slice(from, from + amount).map(podKey));
      this.next.set(podClass, from + amount);
    }
    return keys.sort();
  }

  /** Pods of the class that were not assigned. */
  rest(podClass: PodClass): PodClass['pods'] {
    return podClass.pods.slice(this.next.get(podClass) ?? 0);
  }
}

function onlyValues(labels: ReadonlyMap<string, readonly string[]>): Record<string, string> {
  return Object.fromEntries(
    [...labels].flatMap(([key, [value, ...others]]) =>
      value === undefined || others.length > 0 ? [] : [[key, value]],
    ),
  );
}

/** The NodeClaim that a bin stands for. */
export function plannedClaim(
  context: SearchContext,
  bin: Bin,
  flexibility: Flexibility,
  pods: readonly string[],
): PlannedNodeClaim {
  const { chosen, runnerUp, types, relaxed } = flexibility;
  const { pool } = bin.chosen.pool;
  invariant(holds(chosen.free, bin.used), 'the pods of a new node fit on its instance type');
  const { priceOverlay } = chosen.offering;
  const { capacityOverlays } = chosen.type.type;
  const overlays = new Set([
    ...(priceOverlay === undefined ? [] : [priceOverlay]),
    ...capacityOverlays,
  ]);
  return {
    nodePool: pool.name,
    requirements: requirementsOf(context, bin, flexibility),
    instanceTypes: types.map((type) => type.name),
    chosen: choiceOf(chosen),
    runnerUp: runnerUpOf(chosen, runnerUp, context.problem.settings.currency),
    pods,
    requests: requestsOf(context.problem, bin, [...bin.content]),
    labels: { ...poolLabels(pool), ...onlyValues(chosenLabels(context, bin, flexibility)) },
    annotations: {
      ...pool.template.annotations,
      ...(relaxed.size > 0 ? { [MIN_VALUES_RELAXED]: 'true' } : {}),
      ...(priceOverlay === undefined ? {} : { [PRICE_OVERLAY_APPLIED]: 'true' }),
      ...(capacityOverlays.length === 0 ? {} : { [CAPACITY_OVERLAY_APPLIED]: 'true' }),
    },
    taints: pool.template.taints,
    overlays: [...overlays].sort(),
  };
}
