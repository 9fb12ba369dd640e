import { eksCluster } from '../cli/simulate/eks-cluster.ts';
import { decodeDaemonSet } from '../shared/api/kubernetes/cluster.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import { catalogPort } from '../shared/catalog/port.ts';
import type { DaemonSet } from '../shared/core/model/cluster.ts';
import type { InstanceType } from '../shared/core/model/instance-type.ts';
import type { Pod } from '../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { aNodeClass, IMAGE } from '../test/builders/launches.ts';
import { GI, podsOf, snapshotOf } from '../test/builders/scheduling.ts';

const NODE_PRICES = [0, 0.003, 0.01, 0.03];

function daemonSets(): readonly DaemonSet[] {
  return eksCluster([]).objects.flatMap((object) => {
    if (object['kind'] !== 'DaemonSet') return [];
    const decoded = decodeDaemonSet(object);
    if (!decoded.ok) throw new Error(decoded.issues.map(({ message }) => message).join('; '));
    return [decoded.value];
  });
}

/** Deployments of so many pods each, from 100m and 128 MiB up to `cpuMax` and `memoryMax`. */
function deployments(count: number, pods: number, cpuMax: number, memoryMax: number) {
  return Array.from({ length: count }, (_, index): readonly Pod[] => {
    const share = ((index * 37) % count) / count;
    const cpu = Math.round(100 + share * (cpuMax - 100));
    const memory = Math.round(GI / 8 + ((index * 23) % count) * ((memoryMax * GI) / count));
    return podsOf(pods, `app-${index}`, { cpu, memory });
  }).flat();
}

function workloads(types: readonly InstanceType[]): Readonly<Record<string, ClusterSnapshot>> {
  const cluster = (pods: readonly Pod[]) => snapshotOf({ pods, types, daemonSets: daemonSets() });
  return {
    '10 pods of 250m': cluster(podsOf(10, 'web', { cpu: 250, memory: GI / 4 })),
    '200 small pods of 20 Deployments': cluster(deployments(20, 10, 1000, 2)),
    '2,000 pods of 100 Deployments': cluster(deployments(100, 20, 2000, 6)),
  };
}

/** Nodes and their price for what a node counts as beyond its instance; with EKS's DaemonSets. */
export async function run(): Promise<void> {
  const catalog = await loadCatalog('us-east-1');
  const subnets = catalog.zones.map(({ zone, zoneId }) => ({ id: zone, zone, zoneId }));
  const images = [{ id: IMAGE, name: 'image', deprecated: false, requirements: [] }];
  const nodeClass = aNodeClass({}, { subnets, images });
  const types = await catalogPort('us-east-1', () => catalog).instanceTypes(nodeClass);
  process.stdout.write('| nodePrice | workload | nodes | $/h |\n|---|---|---|---|\n');
  for (const [name, snapshot] of Object.entries(workloads(types))) {
    for (const nodePrice of NODE_PRICES) {
      const plan = solve(snapshot, { ...DEFAULT_SCHEDULING_SETTINGS, nodePrice });
      const price = plan.pricePerHour.toFixed(4);
      process.stdout.write(
        `| ${nodePrice} | ${name} | ${plan.newNodeClaims.length} | ${price} |\n`,
      );
    }
  }
}
