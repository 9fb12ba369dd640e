import type {
  Condition,
  DaemonSet,
  Node,
  PodDisruptionBudget,
} from '../../shared/core/model/cluster.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import {
  ARCH,
  type CapacityType,
  INITIALIZED,
  INSTANCE_TYPE,
  NODE_POOL,
  OS,
  REGISTERED,
  ZONE,
} from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { Pod, PodSpec } from '../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
  type SchedulingSettings,
} from '../../shared/core/model/snapshot.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';

export const GI = 2 ** 30;
export const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

const NOTHING_RESERVED = { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} };

/** A pod that asks for nothing but its place. */
export const PLAIN_SPEC: PodSpec = {
  requests: { pods: 1 },
  limits: {},
  nodeSelector: {},
  requiredNodeAffinity: undefined,
  preferredNodeAffinity: [],
  podAffinity: [],
  podAntiAffinity: [],
  preferredPodAffinity: [],
  preferredPodAntiAffinity: [],
  tolerations: [],
  topologySpread: [],
  hostPorts: [],
  volumes: [],
  priority: 0,
  priorityClassName: undefined,
  preempts: true,
  schedulerName: 'default-scheduler',
  hasSchedulingGates: false,
  hasResourceClaims: false,
  terminationGracePeriodSeconds: 30,
};

/** A DaemonSet whose pods have the spec. */
export function daemonSetOf(
  name: string,
  podSpec: PodSpec,
  rest: Partial<DaemonSet> = {},
): DaemonSet {
  const plain = { namespace: 'kube-system', name, uid: name, podLabels: {}, podSpec };
  return { ...plain, templateGeneration: undefined, ...rest };
}

/** A pending pod that kube-scheduler found unschedulable; cpu in milli-cores, memory in bytes. */
export function podOf(
  name: string,
  spec: Partial<PodSpec> & { readonly cpu?: number; readonly memory?: number } = {},
  rest: Partial<Pod> = {},
): Pod {
  const { cpu = 1000, memory = GI, ...more } = spec;
  return {
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    labels: { app: 'web' },
    annotations: {},
    createdAtMs: 0,
    startedAtMs: undefined,
    deletedAtMs: undefined,
    spec: { ...PLAIN_SPEC, requests: { cpu, memory, pods: 1 }, ...more },
    nodeName: undefined,
    nominatedNodeName: undefined,
    phase: rest.nodeName === undefined ? 'Pending' : 'Running',
    unschedulable: rest.nodeName === undefined,
    ready: true,
    isMirror: false,
    controller: undefined,
    ...rest,
  };
}

/** `count` pods with one spec. */
export function podsOf(
  count: number,
  name: string,
  spec: Parameters<typeof podOf>[1] = {},
  rest: Partial<Pod> = {},
): readonly Pod[] {
  const first = podOf(name, spec, rest);
  return Array.from({ length: count }, (_, index) => ({
    ...first,
    name: `${name}-${index}`,
    uid: `uid-${name}-${String(index).padStart(4, '0')}`,
  }));
}

/** A type at one on-demand price in every zone, spot at 40 % of it where `spot` says so. */
export function typeOf(
  name: string,
  cpu: number,
  memoryGi: number,
  price: number,
  rest: Partial<InstanceType> & {
    readonly spot?: boolean;
    readonly zones?: readonly string[];
  } = {},
): InstanceType {
  const { spot = false, zones = ZONES, labels, ...more } = rest;
  const offering = (zone: string, capacityType: CapacityType, paid: number) => ({
    zone,
    zoneId: undefined,
    capacityType,
    price: paid,
    listPrice: paid,
    priceOverlay: undefined,
    available: true,
    reservation: undefined,
    capacityOverride: undefined,
    overheadOverride: undefined,
  });
  return {
    name,
    labels: { [INSTANCE_TYPE]: [name], [ARCH]: ['amd64'], [OS]: ['linux'], ...labels },
    capacity: { cpu: cpu * 1000, memory: memoryGi * GI, pods: 110 },
    overhead: NOTHING_RESERVED,
    offerings: zones.flatMap((zone) => [
      offering(zone, 'on-demand', price),
      ...(spot ? [offering(zone, 'spot', price * 0.4)] : []),
    ]),
    capacityOverlays: [],
    attachLimits: undefined,
    ...more,
  };
}

export function poolOf(
  name: string,
  rest: Partial<NodePool> & {
    readonly requirements?: readonly RequirementExpression[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly taints?: NodePool['template']['taints'];
  } = {},
): NodePool {
  const { requirements = [], labels = {}, taints = [], ...more } = rest;
  return {
    name,
    uid: `uid-${name}`,
    annotations: {},
    isDeleting: false,
    weight: 0,
    limits: {},
    replicas: undefined,
    template: {
      labels,
      annotations: {},
      requirements,
      taints,
      startupTaints: [],
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      expireAfter: 'Never',
      terminationGracePeriodMs: undefined,
    },
    disruption: {
      consolidateAfter: 0,
      consolidationPolicy: 'WhenEmptyOrUnderutilized',
      budgets: [],
    },
    invalid: undefined,
    conditions: [],
    ...more,
  };
}

export function nodeOf(
  name: string,
  cpu: number,
  memoryGi: number,
  rest: Partial<Node> & { readonly pool?: string; readonly zone?: string } = {},
): Node {
  const { pool = 'general', zone = 'zone-a', labels, ...more } = rest;
  const amounts = { cpu: cpu * 1000, memory: memoryGi * GI, pods: 110 };
  return {
    name,
    uid: `uid-${name}`,
    labels: {
      [NODE_POOL]: pool,
      [ZONE]: zone,
      [REGISTERED]: 'true',
      [INITIALIZED]: 'true',
      [ARCH]: 'amd64',
      [OS]: 'linux',
      ...labels,
    },
    annotations: {},
    createdAtMs: 0,
    deletedAtMs: undefined,
    providerId: `aws:///${zone}/${name}`,
    taints: [],
    capacity: amounts,
    allocatable: amounts,
    conditions: [],
    ...more,
  };
}

export function claimOf(name: string, rest: Partial<NodeClaim> = {}): NodeClaim {
  return {
    name,
    uid: `uid-${name}`,
    labels: { [NODE_POOL]: 'general' },
    annotations: {},
    finalizers: [],
    createdAtMs: 0,
    deletedAtMs: undefined,
    requirements: [],
    requests: {},
    taints: [],
    startupTaints: [],
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
    expireAfter: 'Never',
    terminationGracePeriodMs: undefined,
    nodeName: undefined,
    providerId: undefined,
    imageId: undefined,
    capacity: {},
    allocatable: {},
    conditions: [],
    ...rest,
  };
}

/** Sizes of one family, the price in proportion; spot at 40 %. */
export const FAMILY: readonly InstanceType[] = [
  typeOf('m.large', 2, 8, 0.1, { spot: true }),
  typeOf('m.xlarge', 4, 16, 0.2, { spot: true }),
  typeOf('m.2xlarge', 8, 32, 0.4, { spot: true }),
  typeOf('m.4xlarge', 16, 64, 0.8, { spot: true }),
];

/** A cluster with one pool `general` and the types of FAMILY, unless said otherwise. */
export function snapshotOf(
  rest: Partial<Omit<ClusterSnapshot, 'instanceTypes'>> & {
    readonly types?: readonly InstanceType[];
  },
): ClusterSnapshot {
  const { types = FAMILY, nodePools = [poolOf('general')], ...more } = rest;
  return {
    nodePools,
    nodeOverlays: [],
    instanceTypes: new Map(nodePools.map((pool) => [pool.name, types])),
    nodeClaims: [],
    nodes: [],
    pods: [],
    daemonSets: [],
    namespaces: [],
    persistentVolumeClaims: [],
    persistentVolumes: [],
    storageClasses: [],
    csiNodes: [],
    podDisruptionBudgets: [],
    ...more,
  };
}

export function planOf(
  rest: Parameters<typeof snapshotOf>[0],
  settings: Partial<SchedulingSettings> = {},
): Plan {
  return solve(snapshotOf(rest), { ...DEFAULT_SCHEDULING_SETTINGS, ...settings });
}

/** A plan as text: maps become lists. */
export function textOf(plan: Plan): string {
  return JSON.stringify({
    ...plan,
    unplaced: [...plan.unplaced].sort(([a], [b]) => (a < b ? -1 : 1)),
    ignored: [...plan.ignored].sort(([a], [b]) => (a < b ? -1 : 1)),
  });
}

/** Number of pods in each zone, new nodes only. */
export function podsByZone(plan: Plan): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { chosen, pods } of plan.newNodeClaims) {
    counts[chosen.zone] = (counts[chosen.zone] ?? 0) + pods.length;
  }
  return counts;
}

/** A budget that lets no pod of `web` go. */
export function budgetOf(rest: Partial<PodDisruptionBudget> = {}): PodDisruptionBudget {
  return {
    namespace: 'default',
    name: 'web',
    selector: { matchLabels: { app: 'web' }, matchExpressions: [] },
    disruptionsAllowed: 0,
    maxUnavailable: undefined,
    minAvailable: undefined,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
    ...rest,
  };
}

/** Conditions that have been True from the beginning. */
export function yes(...types: readonly string[]): readonly Condition[] {
  return types.map((type) => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    lastTransitionAtMs: 0,
  }));
}
