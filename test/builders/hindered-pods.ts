import fc from 'fast-check';
import { withGroupCaps } from '../../shared/core/limit-groups/group-room.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { HOSTNAME, INSTANCE_TYPE, ZONE } from '../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { Resources } from '../../shared/core/model/resources.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { ofApp, spreadOver, termOver } from './affinity.ts';
import {
  daemonSetOf,
  FAMILY,
  GI,
  nodeOf,
  PLAIN_SPEC,
  podOf,
  poolOf,
  typeOf,
  ZONES,
} from './scheduling.ts';

/** A flaw of a NodePool: what it changes of the pool and of its types. */
interface Flaw {
  readonly pool?: Partial<NodePool> & Parameters<typeof poolOf>[1];
  readonly types?: (types: readonly InstanceType[]) => readonly InstanceType[];
}

const notReady = {
  type: 'NodeClassReady',
  status: 'False',
  reason: 'NotFound',
  message: '',
  lastTransitionAtMs: 0,
} as const;

const team = { key: 'team', value: 'a', effect: 'NoSchedule' } as const;
const gpu = { key: 'gpu', value: '', effect: 'NoExecute' } as const;
const soft = { key: 'soft', value: '', effect: 'PreferNoSchedule' } as const;

function unavailable(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) => ({ ...each, available: false })),
  }));
}

const EBS = 'ebs.csi.aws.com';

/** No more than one volume of the driver on a node. */
function oneVolume(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((type) => ({ ...type, attachLimits: { [EBS]: 1 } }));
}

const FLAWS: readonly Flaw[] = [
  { pool: { isDeleting: true } },
  { pool: { replicas: 2 } },
  { pool: { invalid: 'a budget cannot be read' } },
  { pool: { conditions: [notReady] } },
  { pool: { conditions: [notReady], isDeleting: true } },
  { types: () => [] },
  { pool: { requirements: [{ key: INSTANCE_TYPE, operator: 'In', values: ['x.large'] }] } },
  { pool: { requirements: [{ key: ZONE, operator: 'In', values: ['zone-a'] }] } },
  { types: unavailable },
  { types: oneVolume },
  { pool: { taints: [team] } },
  { pool: { taints: [team, gpu, soft] } },
  { pool: { limits: { cpu: 2000 } } },
  { pool: { limits: { cpu: 0, memory: 0 } } },
  { pool: { limits: { nodes: 1 } } },
  {
    pool: { requirements: [{ key: INSTANCE_TYPE, operator: 'Exists', values: [], minValues: 9 }] },
  },
];

const web = ofApp('web');
const absent = ofApp('absent');

function inZones(...values: readonly string[]) {
  return { matchExpressions: [{ key: ZONE, operator: 'In' as const, values }], matchFields: [] };
}

const port = { ip: '', port: 8080, protocol: 'TCP' };

const ofClaim = (claimName: string) => ({ kind: 'claim' as const, claimName });

/** PersistentVolumeClaims with something wrong with them; `missing` is not there. */
const FAULTY_CLAIMS = [
  'missing',
  'lost',
  'classless',
  'of-no-class',
  'immediate',
  'deleting',
  'binding',
  'of-no-volume',
] as const;

/** What keeps pods from nodes. */
const HINDRANCES: readonly Partial<PodSpec>[] = [
  { nodeSelector: { disk: 'fast' } },
  { nodeSelector: { disk: 'fast', rack: 'r1' } },
  { nodeSelector: { [ZONE]: 'zone-b' } },
  { nodeSelector: { [ZONE]: 'zone-x' } },
  { requiredNodeAffinity: [inZones('zone-x'), inZones('zone-y')] },
  { requiredNodeAffinity: [inZones('zone-b'), inZones('zone-x')] },
  { nodeSelector: { [ZONE]: 'zone-a' }, requiredNodeAffinity: [inZones('zone-b')] },
  { volumes: [ofClaim('far')] },
  { volumes: [ofClaim('in-b')] },
  { volumes: [ofClaim('anywhere'), ofClaim('anywhere-else')] },
  ...FAULTY_CLAIMS.map((name) => ({ volumes: [ofClaim(name)] })),
  { hostPorts: [port] },
  { topologySpread: [spreadOver('rack', web)] },
  { topologySpread: [spreadOver(ZONE, web)] },
  { podAffinity: [termOver(ZONE, absent)] },
  { podAffinity: [termOver(HOSTNAME, absent)] },
  { podAffinity: [termOver(HOSTNAME, web)] },
  { podAntiAffinity: [termOver(ZONE, web)] },
  { podAntiAffinity: [termOver(HOSTNAME, web)] },
  { hasResourceClaims: true },
  { unreadable: 'spec.overhead: a negative quantity' },
];

const TOLERANT = [{ key: 'team', operator: 'Exists', value: '', effect: undefined }] as const;

/** What the pods of a group request. */
const REQUESTS: readonly PodSpec['requests'][] = [
  { cpu: 500, memory: GI, pods: 1 },
  { cpu: 3000, memory: GI, pods: 1 },
  { cpu: 70_000, memory: GI, pods: 1 },
  { cpu: 200_000, memory: GI, pods: 1 },
  { cpu: 500, memory: 900 * GI, pods: 1 },
  { cpu: 200_000, memory: 900 * GI, pods: 1 },
  { cpu: 500, memory: GI, pods: 1, 'nvidia.com/gpu': 1 },
];

const poolArbitrary = fc.record({
  weight: fc.constantFrom(0, 0, 10),
  flaws: fc.uniqueArray(fc.integer({ min: 0, max: FLAWS.length - 1 }), { maxLength: 2 }),
});

const groupArbitrary = fc.record({
  count: fc.constantFrom(1, 1, 2),
  app: fc.constantFrom('web', 'db'),
  requests: fc.constantFrom(...REQUESTS),
  hindrances: fc.uniqueArray(fc.integer({ min: 0, max: HINDRANCES.length - 1 }), { maxLength: 2 }),
  isTolerant: fc.boolean(),
});

/** Ways in which something stands in every cluster, or in some. */
const surroundings = fc.record({
  pools: fc.array(poolArbitrary, { maxLength: 3 }),
  groups: fc.array(groupArbitrary, { minLength: 1, maxLength: 4 }),
  daemons: fc.constantFrom<'none' | 'port' | 'huge'>('none', 'port', 'none', 'huge'),
  around: fc.constantFrom<'nobody' | 'lonely' | 'webs'>('nobody', 'lonely', 'webs'),
  nodes: fc.constantFrom(0, 1),
  /** Of a limit group with the first pool. */
  caps: fc.constantFrom<Resources | undefined>(
    undefined,
    undefined,
    undefined,
    undefined,
    { nodes: 0 },
    { cpu: 1000, memory: 0 },
  ),
});

function poolsOf(all: readonly { readonly weight: number; readonly flaws: readonly number[] }[]) {
  const nodePools: NodePool[] = [];
  const instanceTypes = new Map<string, readonly InstanceType[]>();
  const large = typeOf('x.32xlarge', 128, 512, 6);
  for (const [at, { weight, flaws }] of all.entries()) {
    const own = flaws.flatMap((each) => FLAWS[each] ?? []);
    const changes = Object.assign({}, ...own.map(({ pool }) => pool));
    const requirements = own.flatMap(({ pool }) => pool?.requirements ?? []);
    const name = `pool-${at}`;
    nodePools.push(poolOf(name, { weight, ...changes, requirements }));
    const types = own.reduce<readonly InstanceType[]>(
      (each, flaw) => flaw.types?.(each) ?? each,
      at === 0 ? FAMILY : [...FAMILY, large],
    );
    instanceTypes.set(name, types);
  }
  return { nodePools, instanceTypes };
}

type Group = ReturnType<typeof groupArbitrary.generate>['value'];

function podsOfGroup({ count, app, requests, hindrances, isTolerant }: Group, at: number): Pod[] {
  const own = hindrances.flatMap((each) => HINDRANCES[each] ?? []);
  const merged: Partial<PodSpec> = {
    ...Object.assign({}, ...own),
    nodeSelector: Object.assign({}, ...own.map(({ nodeSelector }) => nodeSelector)),
    volumes: own.flatMap(({ volumes }) => volumes ?? []),
    topologySpread: own.flatMap(({ topologySpread }) => topologySpread ?? []),
    podAffinity: own.flatMap(({ podAffinity }) => podAffinity ?? []),
    podAntiAffinity: own.flatMap(({ podAntiAffinity }) => podAntiAffinity ?? []),
  };
  const tolerations = isTolerant ? [...TOLERANT] : [];
  const { cpu = 0, memory = 0 } = requests;
  const first = podOf(`g${at}`, { cpu, memory, ...merged, tolerations, requests });
  return Array.from({ length: count }, (_, each) => ({
    ...first,
    name: `g${at}-${each}`,
    uid: `uid-g${at}-${each}`,
    labels: { app },
  }));
}

const claimOf = (name: string, rest: object) => ({
  namespace: 'default',
  name,
  isDeleting: false,
  isLost: false,
  bindCompleted: true,
  volumeName: undefined,
  storageClassName: undefined,
  ...rest,
});

const volumeIn = (name: string, ...zones: readonly string[]) => ({
  name,
  isLocal: false,
  csiDriver: EBS,
  csiVolumeHandle: name,
  requiredNodeAffinity: zones.length === 0 ? undefined : [inZones(...zones)],
});

const STORAGE = {
  persistentVolumeClaims: [
    claimOf('far', { volumeName: 'far' }),
    claimOf('in-b', { volumeName: 'in-b' }),
    claimOf('anywhere', { volumeName: 'anywhere' }),
    claimOf('anywhere-else', { volumeName: 'anywhere-else' }),
    claimOf('lost', { isLost: true }),
    claimOf('deleting', { isDeleting: true }),
    claimOf('binding', { volumeName: 'far', bindCompleted: false }),
    claimOf('of-no-volume', { volumeName: 'nowhere' }),
    claimOf('classless', {}),
    claimOf('of-no-class', { storageClassName: 'nowhere' }),
    claimOf('immediate', { storageClassName: 'now' }),
  ],
  persistentVolumes: [
    volumeIn('far', 'zone-x'),
    volumeIn('in-b', 'zone-b'),
    volumeIn('anywhere'),
    volumeIn('anywhere-else'),
  ],
  storageClasses: [
    { name: 'now', volumeBindingMode: 'Immediate', allowedTopologies: [], provisioner: 'ebs' },
  ],
} as unknown as Pick<
  ClusterSnapshot,
  'persistentVolumeClaims' | 'persistentVolumes' | 'storageClasses'
>;

function daemonSetsOf(kind: 'none' | 'port' | 'huge'): ClusterSnapshot['daemonSets'] {
  if (kind === 'none') return [];
  const requests = kind === 'huge' ? { cpu: 500_000, pods: 1 } : { cpu: 100, pods: 1 };
  const tolerations = [{ key: '', operator: 'Exists', value: '', effect: undefined }] as const;
  const hostPorts = kind === 'port' ? [port] : [];
  return [
    daemonSetOf('agent', { ...PLAIN_SPEC, requests, tolerations: [...tolerations], hostPorts }),
  ];
}

/**
 * A pod on a node of its own in each zone: one of `web`, or one that wants none of `web` in its zone.
 */
function around(who: 'nobody' | 'lonely' | 'webs'): Pick<ClusterSnapshot, 'nodes' | 'pods'> {
  if (who === 'nobody') return { nodes: [], pods: [] };
  const nodes = ZONES.map((zone) => nodeOf(`${who}-${zone}`, 1, 1, { zone, pool: 'other' }));
  const podAntiAffinity = who === 'lonely' ? [termOver(ZONE, web)] : [];
  const labels = { app: who === 'lonely' ? who : 'web' };
  const pods = nodes.map(({ name }) =>
    podOf(name, { cpu: 1000, memory: GI, podAntiAffinity }, { nodeName: name, labels }),
  );
  return { nodes, pods };
}

/** Clusters in which pods are hindered in one way or several, by themselves and by NodePools. */
export const hinderedClusters: fc.Arbitrary<ClusterSnapshot> = surroundings.map(
  ({ pools, groups, daemons, around: who, nodes: full, caps }) => {
    const others = around(who);
    const fullNodes = Array.from({ length: full }, (_, at) => nodeOf(`full-${at}`, 0, 0));
    const snapshot: ClusterSnapshot = {
      ...poolsOf(pools),
      nodeOverlays: [],
      nodeClaims: [],
      nodes: [...others.nodes, ...fullNodes],
      pods: [...others.pods, ...groups.flatMap(podsOfGroup)],
      daemonSets: daemonSetsOf(daemons),
      namespaces: [],
      ...STORAGE,
      csiNodes: [],
      podDisruptionBudgets: [],
    };
    if (caps === undefined || pools.length === 0) return snapshot;
    return withGroupCaps(snapshot, [{ group: 'batch', pools: ['pool-0'], caps }]);
  },
);
