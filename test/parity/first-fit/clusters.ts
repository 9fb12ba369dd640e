import { type Json, listAt, objectAt, textAt } from '../../../shared/sim/json.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import { instanceTypes, pool, requirement } from './cases.ts';

/** How many clusters there are, made from the numbers from 1 on. */
export const CLUSTERS = 60;

const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

/** Milli-cores and MiB that pods may have of the type. */
function roomOf(type: Json): { readonly cpu: number; readonly memory: number } {
  const [capacity, reserved] = [
    objectAt(type, 'capacity'),
    objectAt(type, 'overhead', 'kubeReserved'),
  ];
  const memory = (of: Json) => Number.parseInt(String(of['memory']), 10);
  return {
    cpu: Number(capacity['cpu']) * 1000 - Number.parseInt(String(reserved['cpu']), 10),
    memory: memory(capacity) - memory(reserved),
  };
}

/** A node of the type that runs, and its NodeClaim. */
export function runningNode(
  type: Json,
  name: string,
  zone: string,
  capacityType: string,
): { readonly node: Json; readonly claim: Json } {
  const required = objectAt(type, 'requirements');
  const labels = {
    ...Object.fromEntries(Object.keys(required).map((key) => [key, listAt(required, key)[0]])),
    'karpenter.sh/nodepool': 'general',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
    'karpenter.sh/capacity-type': capacityType,
    'node.kubernetes.io/instance-type': textAt(type, 'name'),
    'topology.kubernetes.io/zone': zone,
    'kubernetes.io/hostname': name,
  };
  const providerID = `aws:///${zone}/${name}`;
  const { cpu, memory } = roomOf(type);
  const capacity = objectAt(type, 'capacity');
  const allocatable = { ...capacity, cpu: `${cpu}m`, memory: `${memory}Mi` };
  const time = '2025-12-01T00:00:00Z';
  const conditions = ['Launched', 'Registered', 'Initialized', 'Consolidatable', 'Ready'].map(
    (each) => ({ type: each, status: 'True', reason: each, lastTransitionTime: time }),
  );
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const metadata = { creationTimestamp: time, labels };
  return {
    node: {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { ...metadata, name },
      spec: { providerID },
      status: { capacity, allocatable },
    },
    claim: {
      apiVersion: 'karpenter.sh/v1',
      kind: 'NodeClaim',
      metadata: { ...metadata, name: `claim-${name}`, uid: `uid-claim-${name}` },
      spec: { nodeClassRef, requirements: [], expireAfter: 'Never' },
      status: { nodeName: name, providerID, capacity, allocatable, conditions },
    },
  };
}

function podOf(name: string, nodeName: string, cpu: number, memory: number): Json {
  const resources = { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: '2025-12-01T00:00:00Z',
      labels: { app: name.split('-')[0] },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'app',
          uid: 'uid-app',
          controller: true,
        },
      ],
    },
    spec: { nodeName, containers: [{ name: 'app', image: 'app', resources }] },
    status: { phase: 'Running' },
  };
}

/** A cluster whose nodes are used badly, each in its own way; the same number gives the same bytes. */
export function clusterOf(seed: number): Json {
  const random = new Prng(seed, 'clusters');
  const types = instanceTypes(random);
  const capacityTypes = seed % 3 === 0 ? ['spot', 'on-demand'] : ['on-demand'];
  const nodePool = pool(
    'general',
    [
      requirement('karpenter.sh/capacity-type', ...capacityTypes),
      requirement('kubernetes.io/arch', 'amd64'),
      requirement('karpenter.k8s.aws/instance-category', 'c', 'm', 'r'),
    ],
    { disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] } },
  );
  const usable = types.filter((type) =>
    /^[cmr][67][ai]\.(x|2x|4x)?large$/.test(textAt(type, 'name') ?? ''),
  );
  const one = <Value>(values: readonly Value[]) => values[random.between(0, values.length - 1)];
  const [nodes, nodeClaims, pods]: Json[][] = [[], [], []];
  const count = random.between(2, seed % 4 === 0 ? 40 : 12);
  for (let at = 0; at < count; at++) {
    const type = one(usable) ?? {};
    const name = `node-${String(at).padStart(2, '0')}`;
    const made = runningNode(type, name, one(ZONES) ?? '', one(capacityTypes) ?? '');
    nodes?.push(made.node);
    nodeClaims?.push(made.claim);
    const room = roomOf(type);
    let left = { cpu: room.cpu * random.next(), memory: room.memory * random.next() };
    for (let pod = 0; pod < 30; pod++) {
      const cpu = one([100, 250, 500, 1000, 2000]) ?? 100;
      const memory = Math.round((cpu / 1000) * 1024 * (one([1, 2, 4]) ?? 1));
      if (cpu > left.cpu || memory > left.memory) break;
      left = { cpu: left.cpu - cpu, memory: left.memory - memory };
      pods?.push(podOf(`app-${at}-${pod}`, name, cpu, memory));
    }
  }
  return {
    name: `cluster-${seed}`,
    instanceTypes: types,
    nodePools: [nodePool],
    nodes,
    nodeClaims,
    pods,
    options: { timeoutSeconds: -1 },
  };
}
