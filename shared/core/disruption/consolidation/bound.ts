import { isBufferPod, isOver, type Pod } from '../../model/pod.ts';
import type { Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { stateNodes } from '../../scheduling/problem/state-node.ts';
import { isReschedulable } from '../candidates.ts';
import { settingsFor } from './consolidation-guard.ts';
import { type LeastPrices, leastPrices } from './least-prices.ts';
import type { MoveContext } from './move.ts';
import {
  balanceOf,
  type ConsolidationCandidate,
  type ConsolidationSettings,
  gainOf,
} from './payback.ts';

/** By resource, an amount. */
type Amounts = Map<string, number>;

function add(amounts: Amounts, requests: Readonly<Record<string, number>>, times = 1): void {
  for (const [name, amount] of Object.entries(requests)) {
    amounts.set(name, (amounts.get(name) ?? 0) + times * amount);
  }
}

/** No node takes so many pods. */
const TIMES_MAX = 1_000_000;

/** How many pods of the requests fit into what is left, if it were for them alone. */
function timesIn(left: Amounts, requests: Resources): number {
  const times = Object.entries(requests).flatMap(([name, amount]) =>
    amount > 0 ? [Math.floor((left.get(name) ?? 0) / amount)] : [],
  );
  return Math.min(TIMES_MAX, ...times);
}

/** How many pods of one kind other nodes take in, together and by the node's name. */
interface Hosts {
  readonly all: number;
  readonly byNode: ReadonlyMap<string, number>;
}

/** What doing without nodes saves at most. */
interface Most {
  /** USD an hour. */
  readonly saving: number;
  /** USD at the horizon. */
  readonly gain: number;
}

/** What nodes that stay have left, and what new ones would cost at the least: no plan is needed. */
export class GainBound {
  private readonly settings: ConsolidationSettings;
  private readonly pools: MoveContext['pools'];
  private readonly prices: LeastPrices;
  /** By the node's name; what is overcommitted has nothing left. */
  private readonly free = new Map<string, Amounts>();
  private readonly total: Amounts = new Map();
  private readonly hosts = new Map<Resources, Hosts>();

  constructor(
    snapshot: ClusterSnapshot,
    closed: ReadonlySet<string>,
    { settings, pools }: Pick<MoveContext, 'settings' | 'pools'>,
  ) {
    this.settings = settings;
    this.pools = pools;
    this.prices = leastPrices(snapshot);
    const byNode = Map.groupBy(
      snapshot.pods.filter((pod) => !isOver(pod)),
      ({ nodeName }) => nodeName,
    );
    for (const { name, isLeaving, allocatable: room } of stateNodes(snapshot)) {
      if (isLeaving || closed.has(name)) continue;
      const left: Amounts = new Map(Object.entries(room));
      for (const { spec } of byNode.get(name) ?? []) add(left, spec.requests, -1);
      for (const [resource, amount] of left) left.set(resource, Math.max(0, amount));
      this.free.set(name, left);
      add(this.total, Object.fromEntries(left));
    }
  }

  /** Worked out once for pods whose specs read the same. */
  private hostsOf(requests: Resources): Hosts {
    const before = this.hosts.get(requests);
    if (before !== undefined) return before;
    const byNode = new Map<string, number>();
    let all = 0;
    for (const [name, left] of this.free) {
      const times = timesIn(left, requests);
      if (times > 0) byNode.set(name, times);
      all += times;
    }
    const made = { all, byNode };
    this.hosts.set(requests, made);
    return made;
  }

  /** What of the pods finds no room on nodes that stay, even if each kind of them were alone. */
  private homeless(
    nodes: readonly ConsolidationCandidate[],
    moving: readonly Pod[],
  ): { readonly amounts: Amounts; readonly kinds: readonly Resources[] } {
    const amounts: Amounts = new Map();
    const kinds: Resources[] = [];
    for (const [requests, pods] of Map.groupBy(moving, ({ spec }) => spec.requests)) {
      const { all, byNode } = this.hostsOf(requests);
      const own = nodes.reduce((sum, { node }) => sum + (byNode.get(node.name) ?? 0), 0);
      const left = pods.length - (all - own);
      if (left <= 0) continue;
      kinds.push(requests);
      add(amounts, requests, left);
    }
    return { amounts, kinds };
  }

  /** USD an hour of what has to be launched in the nodes' place at the least. */
  private after(nodes: readonly ConsolidationCandidate[]): number {
    const moving = nodes.flatMap(({ pods }) =>
      pods.filter((pod) => isReschedulable(pod) && !isBufferPod(pod)),
    );
    const needs: Amounts = new Map();
    for (const { spec } of moving) add(needs, spec.requests);
    const left: Amounts = new Map(this.total);
    for (const { node } of nodes) add(left, Object.fromEntries(this.free.get(node.name) ?? []), -1);
    const { amounts, kinds } = this.homeless(nodes, moving);
    const short: Amounts = new Map();
    for (const [name, amount] of needs) {
      const rest = amount - (left.get(name) ?? 0);
      short.set(name, Math.max(0, rest, amounts.get(name) ?? 0));
    }
    const { prices } = this;
    return Math.max(prices.ofAmounts(short), ...kinds.map((kind) => prices.ofPod(kind)));
  }

  /** What doing without the nodes saves at most. */
  of(nodes: readonly ConsolidationCandidate[]): Most {
    const settings = settingsFor(nodes, this.settings, this.pools);
    const balance = balanceOf(nodes, this.after(nodes), settings);
    return { saving: balance.saving, gain: gainOf(balance, settings) };
  }
}
