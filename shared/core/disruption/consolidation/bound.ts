import { allocatable } from '../../instance-types/allocatable.ts';
import { isBufferPod, type Pod } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { stateNodes } from '../../scheduling/problem/state-node.ts';
import { isReschedulable } from '../candidates.ts';
import { settingsFor } from './consolidation-guard.ts';
import { paidEvictionsOf } from './eviction-cost.ts';
import type { MoveContext } from './move.ts';
import { type ConsolidationCandidate, type ConsolidationSettings, gainOf } from './payback.ts';

/** By resource, an amount. */
type Amounts = Map<string, number>;

function add(amounts: Amounts, requests: Readonly<Record<string, number>>, times = 1): void {
  for (const [name, amount] of Object.entries(requests)) {
    amounts.set(name, (amounts.get(name) ?? 0) + times * amount);
  }
}

/** Worked out once for the same lists: each search, and each move that is taken, asks for them. */
const unitPricesOf = new WeakMap<ClusterSnapshot['instanceTypes'], ReadonlyMap<string, number>>();

/** The least that one unit of each resource costs an hour on anything that can be launched. */
function unitPrices({ instanceTypes }: ClusterSnapshot): ReadonlyMap<string, number> {
  const before = unitPricesOf.get(instanceTypes);
  if (before !== undefined) return before;
  const least: Amounts = new Map();
  const types = new Set([...instanceTypes.values()].flat());
  for (const type of types) {
    for (const offering of type.offerings) {
      if (!offering.available) continue;
      for (const [name, amount] of Object.entries(allocatable(type, offering))) {
        if (amount <= 0) continue;
        const price = offering.price / amount;
        least.set(name, Math.min(least.get(name) ?? Number.POSITIVE_INFINITY, price));
      }
    }
  }
  unitPricesOf.set(instanceTypes, least);
  return least;
}

function isRunning({ phase }: Pod): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed';
}

/** What nodes that stay have left, and what new ones would cost at the least: no plan is needed. */
export class GainBound {
  private readonly settings: ConsolidationSettings;
  private readonly pools: MoveContext['pools'];
  private readonly units: ReadonlyMap<string, number>;
  /** By the node's name; what is overcommitted has nothing left. */
  private readonly free = new Map<string, Amounts>();
  private readonly total: Amounts = new Map();

  constructor(
    snapshot: ClusterSnapshot,
    closed: ReadonlySet<string>,
    { settings, pools }: Pick<MoveContext, 'settings' | 'pools'>,
  ) {
    this.settings = settings;
    this.pools = pools;
    this.units = unitPrices(snapshot);
    const byNode = Map.groupBy(snapshot.pods.filter(isRunning), ({ nodeName }) => nodeName);
    for (const { name, isLeaving, allocatable: room } of stateNodes(snapshot)) {
      if (isLeaving || closed.has(name)) continue;
      const left: Amounts = new Map(Object.entries(room));
      for (const { spec } of byNode.get(name) ?? []) add(left, spec.requests, -1);
      for (const [resource, amount] of left) left.set(resource, Math.max(0, amount));
      this.free.set(name, left);
      add(this.total, Object.fromEntries(left));
    }
  }

  /** USD that doing without the nodes saves at most at the horizon. */
  of(nodes: readonly ConsolidationCandidate[]): number {
    const needs: Amounts = new Map();
    const left: Amounts = new Map(this.total);
    for (const { node, pods } of nodes) {
      for (const pod of pods)
        if (isReschedulable(pod) && !isBufferPod(pod)) add(needs, pod.spec.requests);
      add(left, Object.fromEntries(this.free.get(node.name) ?? []), -1);
    }
    const atLeast = [...needs].map(([name, amount]) => {
      const short = Math.max(0, amount - (left.get(name) ?? 0));
      return short * (this.units.get(name) ?? 0);
    });
    const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
    const evictions = nodes.reduce((sum, { pods }) => sum + paidEvictionsOf(pods), 0);
    const cost = evictions * this.settings.evictionPrice;
    const saving = before - Math.max(0, ...atLeast);
    return gainOf({ saving, cost }, settingsFor(nodes, this.settings, this.pools));
  }
}
