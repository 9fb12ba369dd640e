import { type Currency, currencyOf } from '../../../shared/core/model/currency.ts';
import { isJson, type Json, listAt, numberAt, textAt, valueAt } from '../../../shared/sim/json.ts';
import { count, type Prices } from '../draw/text.ts';
import type { DecisionModel, Ladder, NodeModel, Scene, Unplaced } from './model.ts';

/** The region that the JSON or its zones name. */
export function currencyIn(json: Json, scenes: readonly Scene[]): Currency {
  const zone = scenes.flatMap(({ nodes }) => nodes.map((node) => node.zone))[0];
  return currencyOf(textAt(json, 'region') ?? zone ?? '');
}

/** What is said of a lower bound that took too much work to compute well. */
export function weakerNote(json: Json): string {
  return valueAt(json, 'bound', 'weaker') === true ? '; of sums of resources alone' : '';
}

/** Pods by the reason why they have no node, the most first. */
export function unplacedBy(pairs: readonly (readonly [pod: string, why: string])[]) {
  const byWhy = Map.groupBy(pairs, ([, why]) => why);
  return [...byWhy]
    .map(([why, list]): Unplaced => ({ why, pods: list.map(([pod]) => pod).sort() }))
    .sort((a, b) => b.pods.length - a.pods.length || (a.why < b.why ? -1 : 1));
}

/** `errors` and `ignored` of a plan. */
export function leftBy(json: Json): readonly Unplaced[] {
  const pairs = ['errors', 'ignored'].flatMap((key) => {
    const found = json[key];
    return isJson(found) ? Object.entries(found) : [];
  });
  return unplacedBy(pairs.map(([pod, why]) => [pod, String(why)] as const));
}

export function textsIn(json: Json, key: string): readonly string[] {
  return listAt(json, key).filter((each) => typeof each === 'string');
}

/** Objects with one message are one decision. */
export function together(list: readonly DecisionModel[]): readonly DecisionModel[] {
  const alike = Map.groupBy(list, ({ at, action, why }) => JSON.stringify([at, action, why]));
  return [...alike.values()].flatMap((each) => {
    const [first, ...rest] = each;
    if (first === undefined) return [];
    const others = rest.flatMap(({ object, others: own }) => [object, ...own]);
    return [{ ...first, others: [...first.others, ...others] }];
  });
}

/** What a NodeClaim was written for is a plan: its pods may be elsewhere. */
export function plannedText(why: string): string {
  return why.replace(/^(\S+ \S+ in \S+ at \S+\/h) for /, '$1, planned for ');
}

/** Why all offerings are of some zones; empty: there are no others. */
export function boundText({ zones, otherZones }: Pick<Ladder, 'zones' | 'otherZones'>): string {
  if (otherZones.length === 0) return '';
  return `the NodeClaim is for ${zones.join(', ')}, not ${otherZones.join(', ')}, by its NodePool or by spread, affinity or volumes of its pods`;
}

/** What kind of another offering the runner-up is. */
export function runnerUpKind(
  node: Pick<NodeModel, 'type' | 'capacityType'>,
  next: Pick<NodeModel, 'type' | 'capacityType'>,
): string {
  if (next.type !== node.type) return 'another instance type';
  return next.capacityType === node.capacityType
    ? 'the same instance type in another zone'
    : 'the same instance type of another capacity type';
}

/** Why a node that a plan adds is what it is. */
export function choiceText(node: NodeModel, prices: Prices): string {
  const { type, capacityType, zone, price, runnerUp } = node;
  const pods = node.pods.reduce((sum, [, each]) => sum + each, 0);
  const cost = price === null ? ', price unknown' : ` at ${prices.perHour(price)}/h`;
  const chosen = `${type} ${capacityType} in ${zone}${cost}, planned for ${count(pods, 'pod')}`;
  if (runnerUp === null) return node.ladder === null ? chosen : `${chosen}; no other offering fits`;
  const next = `${runnerUp.type} ${runnerUp.capacityType} in ${runnerUp.zone}`;
  return `${chosen}; runner-up ${next} at ${prices.perHour(runnerUp.price)}/h: ${runnerUp.why}`;
}

/** What a plan adds, equal nodes together. */
export function launchesIn(scene: Scene, prices: Prices): readonly DecisionModel[] {
  return together(
    scene.nodes
      .filter(({ state }) => state === 'new')
      .map((node) => ({
        at: undefined,
        action: 'launch',
        object: node.name,
        others: [],
        why: node.why === '' || node.runnerUp !== null ? choiceText(node, prices) : node.why,
      })),
  );
}

export function price(json: Json, ...path: readonly string[]): number {
  return numberAt(json, ...path) ?? 0;
}

/** A pair of a name and a value, where there is one. */
export function fact(name: string, value: string | number | undefined) {
  return value === undefined || value === '' ? [] : [[name, String(value)] as const];
}
