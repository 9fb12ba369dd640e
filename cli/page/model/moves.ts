import { isJson, type Json, listAt, numberAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import type { PackedNode } from '../../packing/packing.ts';
import { count, type Prices } from '../draw/text.ts';
import { price } from './facts.ts';
import type { DecisionModel } from './model.ts';

/** Nodes by the names of their NodeClaims. */
export type ByClaim = ReadonlyMap<string, PackedNode>;

export function claimsOf(nodes: readonly PackedNode[]): ByClaim {
  return new Map(nodes.map((node) => [node.nodeClaim ?? node.name, node]));
}

/** What the nodes of these objects cost an hour; undefined: not known of all. */
function priceOf(objects: readonly string[], byClaim: ByClaim): number | undefined {
  const prices = objects.map((each) => byClaim.get(each.replace(/^NodeClaim\//, ''))?.listPrice);
  const known = prices.filter((each) => typeof each === 'number');
  if (known.length < prices.length) return undefined;
  return known.reduce((sum, each) => sum + each, 0);
}

export function reasonIn(record: Json, ...codes: readonly string[]): Json | undefined {
  const reasons = listAt(record, 'reasons').filter(isJson);
  return reasons.find((each) => codes.includes(textAt(each, 'code') ?? ''));
}

/** Records of the nodes that go together in one move follow one another. */
export function movesOf(records: readonly Json[]): readonly (readonly [Json, ...Json[]])[] {
  const moves: [Json, ...Json[]][] = [];
  for (const each of records) {
    const last = moves.at(-1);
    const why = reasonIn(each, 'pods-cheaper-elsewhere');
    const nodes = numberAt(why, 'parameters', 'nodes') ?? 1;
    const keyOf = (record: Json): string =>
      JSON.stringify([
        record['atMs'],
        record['action'],
        reasonIn(record, 'pods-cheaper-elsewhere'),
      ]);
    const isOfLast = last !== undefined && keyOf(last[0]) === keyOf(each);
    if (isOfLast && last.length < nodes) last.push(each);
    else moves.push([each]);
  }
  return moves;
}

/** Why several nodes go in one move, and what comes in their place. */
export function moveText(move: readonly Json[], byClaim: ByClaim, prices: Prices): string {
  const [first] = move;
  const parameters = objectAt(reasonIn(first ?? {}, 'pods-cheaper-elsewhere'), 'parameters');
  const money = (key: string): string => prices.perHour(price(parameters, key, 'amount'));
  const costing = (objects: readonly string[]): string => {
    const cost = priceOf(objects, byClaim);
    return cost === undefined ? '' : ` (${prices.perHour(cost)} an hour)`;
  };
  const gone = move.map((each) => textAt(each, 'object') ?? '');
  const come = [
    ...new Set(move.flatMap((each) => listAt(each, 'detail', 'replacements').map(String))),
  ];
  const hosts = listAt(parameters, 'hosts').map(String);
  const nodes = `${count(gone.length, 'node')}${costing(gone)}`;
  const what =
    come.length === 0
      ? `deleting ${nodes}`
      : `replacing ${nodes} with ${come.length}${costing(come)}`;
  return [
    `Underutilized: ${what} saves ${money('saving')} an hour together.`,
    ...(hosts.length === 0 ? [] : [`Their pods move to ${hosts.join(', ')}.`]),
    `The cost of the move, ${money('cost')}, is repaid in ${price(parameters, 'minutes')} min.`,
    ...(come.length === 0 ? [] : [`Replacements: ${come.join(', ')}.`]),
  ].join(' ');
}

/** What nodes cost that go because they are empty. */
export function withSavings(
  decision: DecisionModel,
  record: Json,
  byClaim: ByClaim,
  prices: Prices,
): DecisionModel {
  if (reasonIn(record, 'node-empty', 'node-empty-since') === undefined) return decision;
  const saved = priceOf([decision.object, ...decision.others], byClaim);
  if (saved === undefined) return decision;
  return { ...decision, why: `${decision.why}; saves ${prices.perHour(saved)} an hour` };
}
