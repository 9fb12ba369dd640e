import { LIMIT_GROUP, NODE_POOL, PRICE } from '../../../shared/core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';

import { GROUP } from './more-pools.ts';
import type { Setting } from './setting.ts';

interface Pools {
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
}

/** What caps of limit groups count; cpu in cores. */
export interface Amounts {
  readonly nodes: number;
  readonly cpu: number;
  readonly price: number;
}

export const AMOUNTS = ['nodes', 'cpu', 'price'] as const;

/** By rules of their own: what NodeClaims take, as launched. */
export function amountsOf(nodeClaims: readonly NodeClaim[]): Amounts {
  const sum = (amounts: readonly number[]) => amounts.reduce((all, each) => all + each, 0);
  return {
    nodes: nodeClaims.length,
    cpu: sum(nodeClaims.map(({ capacity }) => (capacity['cpu'] ?? 0) / 1000)),
    price: sum(nodeClaims.map(({ annotations }) => Number(annotations[PRICE] ?? 0))),
  };
}

/** Of a text such as `nodes=6 cpu=32`. */
export function capsOf(text: string): Partial<Amounts> {
  return Object.fromEntries(
    text.split(' ').map((each) => {
      const [name = '', value] = each.split('=');
      return [name, Number(value)];
    }),
  );
}

/** What limits of the claim's NodePool and caps of its groups leave; infinite: nothing limits it. */
export function roomOf(
  claim: Pick<NodeClaim, 'labels' | 'annotations'>,
  { nodePools, nodeClaims }: Pools,
  { nodesMax, groupCaps }: Pick<Setting, 'nodesMax' | 'groupCaps'>,
): Pick<Amounts, 'nodes' | 'cpu'> {
  const pool = claim.labels[NODE_POOL];
  const limits = nodePools.find(({ name }) => name === pool)?.limits ?? {};
  const inGroup = nodeClaims.filter(({ annotations }) => annotations[LIMIT_GROUP] === GROUP);
  const isInGroup = claim.annotations[LIMIT_GROUP] === GROUP && groupCaps !== undefined;
  const own = nodeClaims.filter(({ labels }) => labels[NODE_POOL] === pool);
  const most = [
    { of: own, nodes: limits['nodes'], cpu: (limits['cpu'] ?? Number.POSITIVE_INFINITY) / 1000 },
    { of: nodeClaims, nodes: nodesMax },
    ...(isInGroup ? [{ of: inGroup, ...capsOf(groupCaps) }] : []),
  ];
  const left = (name: 'nodes' | 'cpu'): number =>
    Math.min(
      ...most.map((each) => (each[name] ?? Number.POSITIVE_INFINITY) - amountsOf(each.of)[name]),
    );
  return { nodes: left('nodes'), cpu: left('cpu') };
}

/** Of the largest type that there is. */
export const CORES_OF_LARGEST = 8;

/** Whether limits and caps of any NodePool leave less than two of the largest nodes. */
export function isAnyFull(pools: Pools, setting: Pick<Setting, 'nodesMax' | 'groupCaps'>): boolean {
  const { nodesMax, groupCaps } = setting;
  const isCapped = nodesMax !== undefined || groupCaps !== undefined;
  return pools.nodePools.some(({ name, annotations, replicas, limits }) => {
    if (replicas !== undefined || (!isCapped && Object.keys(limits).length === 0)) return false;
    const { nodes, cpu } = roomOf({ labels: { [NODE_POOL]: name }, annotations }, pools, setting);
    return nodes < 2 || cpu < 2 * CORES_OF_LARGEST;
  });
}
