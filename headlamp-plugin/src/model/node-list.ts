import { lifeOf } from '../../../shared/core/lifecycle/node-life.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import type { Currency } from '../../../shared/core/model/currency.ts';
import { claimOfNode, nodeOfClaim } from '../../../shared/core/model/joins.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { blockersSaid, eventsAround } from './blockers.ts';
import type { Cluster } from './cluster.ts';
import type { JoinerEvent } from './events.ts';
import { type Look, lookOf, type ShownLife, withoutNodes } from './node-view.ts';
import { hourText, instanceOf, monthText, type Price, priceOf } from './offering.ts';
import { type Target, target } from './target.ts';

/** A node, or a NodeClaim that has none yet. */
export interface NodeRow {
  readonly name: string;
  readonly target: Target;
  /** Empty: somebody else's node. */
  readonly nodePool: string;
  readonly instanceType: string;
  readonly capacityType: string;
  readonly zone: string;
  readonly price: Price | undefined;
  /** `-` where it is not known. */
  readonly priceText: string;
  readonly state: string;
  readonly look: Look;
  /** What it waits for, or what keeps it; empty: nobody said. */
  readonly detail: string;
}

/** What nodes of a NodePool cost together. */
export interface PoolTotal {
  /** Empty: nodes of others. */
  readonly nodePool: string;
  readonly nodes: number;
  readonly hour: string;
  readonly month: string;
  /** Nodes whose price is not known: they are not in the sum. */
  readonly unpriced: number;
}

type Read = Pick<Cluster, 'nodes' | 'nodeClaims' | 'unread'>;

/** Pods are not read for the list: an empty node is Ready like any other. */
function stateOf(
  claim: NodeClaim | undefined,
  node: Node | undefined,
  { unread }: Read,
  nowMs: number,
): ShownLife {
  const life = lifeOf({ node, claim, pods: [] }, [], nowMs);
  if (node === undefined && unread.has('Node')) return withoutNodes(life);
  const isOfPool = node?.labels[NODE_POOL] !== undefined;
  if (claim === undefined && isOfPool && life.state === 'Ready' && unread.has('NodeClaim')) {
    return { state: 'Unknown', detail: 'NodeClaims were not read' };
  }
  return life.state === 'Empty' ? { ...life, state: 'Ready' } : life;
}

function rowOf(
  claim: NodeClaim | undefined,
  node: Node | undefined,
  read: Read,
  events: readonly JoinerEvent[],
  nowMs: number,
): NodeRow {
  const { state, detail } = stateOf(claim, node, read, nowMs);
  const labels = { ...claim?.labels, ...node?.labels };
  const instance = claim === undefined ? undefined : instanceOf(claim);
  const price = claim === undefined ? undefined : priceOf(claim);
  const [blocker] = claim === undefined ? [] : blockersSaid(eventsAround({ claim, node }, events));
  const name = node?.name ?? claim?.name ?? '';
  return {
    name,
    target: node === undefined ? target('NodeClaim', name) : target('Node', name),
    nodePool: labels[NODE_POOL] ?? '',
    instanceType: instance?.type ?? labels[INSTANCE_TYPE] ?? '-',
    capacityType: instance?.capacityType ?? labels[CAPACITY_TYPE] ?? '-',
    zone: instance?.zone ?? labels[ZONE] ?? '-',
    price,
    priceText: price === undefined ? '-' : hourText(price.amount, price.currency),
    state,
    look: lookOf(state),
    detail: detail === '' ? (blocker?.why.text ?? '') : detail,
  };
}

/** By NodePool, then by name; nodes of others last. */
function byPool(a: NodeRow, b: NodeRow): number {
  const [one, other] = [a, b].map(({ nodePool, name }) =>
    [nodePool === '' ? '\uffff' : nodePool, name].join('\n'),
  );
  return (one ?? '') < (other ?? '') ? -1 : 1;
}

/** Every node, and every NodeClaim without one. */
export function nodeRows(
  read: Read,
  events: readonly JoinerEvent[],
  nowMs: number,
): readonly NodeRow[] {
  const { nodes, nodeClaims } = read;
  const joined = nodes.map((node) =>
    rowOf(claimOfNode(nodeClaims, node), node, read, events, nowMs),
  );
  const waiting = nodeClaims
    .filter((claim) => nodeOfClaim(nodes, claim) === undefined)
    .map((claim) => rowOf(claim, undefined, read, events, nowMs));
  return [...joined, ...waiting].sort(byPool);
}

function totalOf(nodePool: string, rows: readonly NodeRow[]): PoolTotal {
  const prices = rows.flatMap(({ price }) => price ?? []);
  const amount = prices.reduce((sum, price) => sum + price.amount, 0);
  const currency: Currency = prices[0]?.currency ?? 'USD';
  const isKnown = prices.length > 0;
  return {
    nodePool,
    nodes: rows.length,
    hour: isKnown ? hourText(amount, currency) : '-',
    month: isKnown ? monthText(amount, currency) : '-',
    unpriced: rows.length - prices.length,
  };
}

/** What the nodes of each NodePool cost, in the order of the rows, and of all of them. */
export function totalsOf(rows: readonly NodeRow[]): {
  readonly byPool: readonly PoolTotal[];
  readonly all: PoolTotal;
} {
  const pools = [...Map.groupBy(rows, ({ nodePool }) => nodePool)];
  return { byPool: pools.map(([pool, own]) => totalOf(pool, own)), all: totalOf('', rows) };
}
