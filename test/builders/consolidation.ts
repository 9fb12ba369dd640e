import { evictionCostOf } from '../../shared/core/disruption/consolidation/eviction-cost.ts';
import type { Move } from '../../shared/core/disruption/consolidation/move.ts';
import {
  type ConsolidationCandidate,
  type ConsolidationSettings,
  DEFAULT_CONSOLIDATION_SETTINGS,
  disruptionOf,
  type PoolUse,
} from '../../shared/core/disruption/consolidation/payback.ts';
import type { Consolidation } from '../../shared/core/disruption/consolidation/search.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../shared/core/model/snapshot.ts';
import { claimOf, FAMILY, nodeOf, poolOf, snapshotOf, yes } from './scheduling.ts';

/** A node with its pods, whose `nodeName` is its name. */
export interface Used {
  readonly name: string;
  readonly type: string;
  readonly pods: readonly Pod[];
  readonly capacityType?: 'spot' | 'on-demand';
  readonly zone?: string;
  readonly pool?: string;
}

export interface Cluster {
  readonly snapshot: ClusterSnapshot;
  readonly usages: readonly ConsolidationCandidate[];
}

export function typeNamed(types: readonly InstanceType[], name: string): InstanceType {
  const found = types.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no type ${name}`);
  return found;
}

/** What the node costs an hour. */
function priceOf(types: readonly InstanceType[], used: Required<Omit<Used, 'pods' | 'pool'>>) {
  const { offerings } = typeNamed(types, used.type);
  const { capacityType, zone } = used;
  return (
    offerings.find((each) => each.capacityType === capacityType && each.zone === zone)?.price ?? 0
  );
}

/** A cluster at rest, and what consolidation knows of each of its nodes. */
export function clusterOf(
  nodes: readonly Used[],
  rest: {
    readonly types?: readonly InstanceType[];
    readonly pools?: readonly NodePool[];
    readonly pods?: readonly Pod[];
  } = {},
): Cluster {
  const { types = FAMILY, pools = [poolOf('general')], pods: waiting = [] } = rest;
  const found = nodes.map((used): { usage: ConsolidationCandidate } => {
    const {
      name,
      type,
      pods,
      zone = 'zone-a',
      capacityType = 'on-demand',
      pool = 'general',
    } = used;
    const { cpu = 0, memory = 0 } = typeNamed(types, type).capacity;
    const labels = {
      [NODE_POOL]: pool,
      [INSTANCE_TYPE]: type,
      [CAPACITY_TYPE]: capacityType,
      [ZONE]: zone,
    };
    const node = nodeOf(name, cpu / 1000, memory / 2 ** 30, { pool, zone, labels });
    const claim = claimOf(`claim-${name}`, {
      labels,
      providerId: node.providerId,
      nodeName: name,
      capacity: node.capacity,
      allocatable: node.allocatable,
      conditions: yes('Launched', 'Registered', 'Initialized'),
    });
    const own = pods.map((pod) => ({
      ...pod,
      nodeName: name,
      phase: 'Running' as const,
      unschedulable: false,
    }));
    return {
      usage: {
        claim,
        node,
        pods: own,
        pool: pools.find((each) => each.name === pool) ?? poolOf(pool),
        pricePerHour: priceOf(types, { name, type, capacityType, zone }),
        isSpot: capacityType === 'spot',
        isDrifted: false,
        evictionCost: evictionCostOf(own),
      },
    };
  });
  const usages = found.map(({ usage }) => usage);
  const snapshot = snapshotOf({
    types,
    nodePools: pools,
    nodes: usages.map(({ node }) => node),
    nodeClaims: usages.map(({ claim }) => claim),
    pods: [...usages.flatMap(({ pods }) => pods), ...waiting],
  });
  return { snapshot, usages };
}

export function poolUses(usages: readonly ConsolidationCandidate[]): ReadonlyMap<string, PoolUse> {
  const byPool = Map.groupBy(usages, ({ pool }) => pool.name);
  return new Map(
    [...byPool].map(([name, own]) => [
      name,
      {
        pricePerHour: own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
        disruption: own.reduce((sum, each) => sum + disruptionOf(each), 0),
      },
    ]),
  );
}

/** All may go at once, and 40 plans may be made. */
export function consolidationOf(
  { snapshot, usages }: Cluster,
  rest: Partial<Omit<Consolidation, 'settings'>> & {
    readonly settings?: Partial<ConsolidationSettings>;
  } = {},
): Consolidation {
  const { settings, ...more } = rest;
  return {
    snapshot,
    candidates: usages,
    allowance: new Map(usages.map(({ pool }) => [pool.name, usages.length])),
    nodesMax: usages.length,
    pools: poolUses(usages),
    quiet: new Set(),
    scheduling: DEFAULT_SCHEDULING_SETTINGS,
    settings: { ...DEFAULT_CONSOLIDATION_SETTINGS, ...settings },
    plansMax: 40,
    turn: 0,
    known: new Map(),
    ...more,
  };
}

/** The cluster once the moves are made: new nodes are there, pods are where the plans had them. */
export function applied(
  { snapshot, usages }: Cluster,
  moves: readonly Move[],
  types: readonly InstanceType[] = FAMILY,
): Cluster {
  const gone = new Set(moves.flatMap(({ nodes }) => nodes.map(({ node }) => node.name)));
  const elsewhere = new Map(moves.flatMap((each) => [...each.elsewhere]));
  const byKey = new Map(snapshot.pods.map((pod) => [podKey(pod), pod]));
  const pools = snapshot.nodePools;
  const stay = usages.filter(({ node }) => !gone.has(node.name));
  const kept = stay.map(({ node, claim, pods }): Used => {
    const coming = [...elsewhere].filter(([, name]) => name === node.name);
    const type = claim.labels[INSTANCE_TYPE] ?? '';
    const capacityType = claim.labels[CAPACITY_TYPE] === 'spot' ? 'spot' : 'on-demand';
    const { [ZONE]: zone = '', [NODE_POOL]: pool = '' } = node.labels;
    const own = [...pods, ...coming.flatMap(([pod]) => byKey.get(pod) ?? [])];
    return { name: node.name, type, capacityType, zone, pool, pods: own };
  });
  const made = moves.flatMap(({ replacements, nodes }) =>
    replacements.map(({ chosen, pods, nodePool }, at): Used => {
      const capacityType = chosen.capacityType === 'spot' ? 'spot' : 'on-demand';
      const name = `${nodes[0]?.node.name ?? ''}-${at}`;
      const own = pods.flatMap((pod) => byKey.get(pod) ?? []);
      return { ...chosen, name, capacityType, pool: nodePool, pods: own };
    }),
  );
  const waiting = snapshot.pods.filter(({ nodeName }) => nodeName === undefined);
  return clusterOf([...kept, ...made], { types, pools, pods: waiting });
}
