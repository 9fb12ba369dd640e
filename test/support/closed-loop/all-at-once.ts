import { kindDecoders } from '../../../shared/api/kinds.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { catalogPort } from '../../../shared/catalog/port.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { Plan } from '../../../shared/core/model/plan.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { solve } from '../../../shared/core/scheduling/solve.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { clusterReader } from '../../../shared/kube/cluster-reader.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { REGION } from './functions.ts';

/** What the cluster costs, and what it would cost had all pods been known at once, USD an hour. */
export interface Comparison {
  readonly pricePerHour: number;
  readonly atOnce: Plan;
}

async function typesByPool(state: ClusterState) {
  const catalog = await loadCatalog(REGION);
  const port = catalogPort(REGION, () => catalog);
  const types = new Map<string, readonly InstanceType[]>();
  for (const pool of state.objects.nodePools) {
    const { name } = pool.template.nodeClassRef;
    const nodeClass = state.nodeClasses.find((each) => each.name === name);
    if (nodeClass !== undefined) types.set(pool.name, await port.instanceTypes(nodeClass));
  }
  return types;
}

/** The list price of what the claims stand for. */
function priceOf(
  { objects }: ClusterState,
  types: ReadonlyMap<string, readonly InstanceType[]>,
): number {
  return objects.nodeClaims.reduce((sum, { name, labels }) => {
    const type = types
      .get(labels[NODE_POOL] ?? '')
      ?.find((each) => each.name === labels[INSTANCE_TYPE]);
    const offering = type?.offerings.find(
      (each) => each.zone === labels[ZONE] && each.capacityType === labels[CAPACITY_TYPE],
    );
    if (offering === undefined) throw new Error(`NodeClaim ${name} has no price`);
    return sum + offering.price;
  }, 0);
}

/** Plans the cluster's pods anew, as if there were none of the pools' nodes yet. */
export async function comparedWithAllAtOnce(admin: KubeClient): Promise<Comparison> {
  const reader = clusterReader({
    client: admin,
    decoders: kindDecoders('server'),
    onInvalid: (object) => {
      throw new Error(`${object} cannot be read`);
    },
  });
  const state = await reader.read();
  const instanceTypes = await typesByPool(state);
  const { objects } = state;
  const snapshot = {
    ...objects,
    instanceTypes,
    nodeClaims: [],
    nodes: objects.nodes.filter((node) => node.labels[NODE_POOL] === undefined),
    pods: objects.pods.map((pod) => ({
      ...pod,
      nodeName: undefined,
      phase: 'Pending' as const,
      unschedulable: true,
    })),
  };
  return {
    pricePerHour: priceOf(state, instanceTypes),
    atOnce: solve(snapshot, DEFAULT_SCHEDULING_SETTINGS),
  };
}
