/**
 * Valid and invalid objects of our kinds: one table for our decoders, for our CRDs on a real API
 * server, and for comparing our CRDs with Karpenter's. A row changes one thing of a valid object.
 */

type Json = Readonly<Record<string, unknown>>;

export interface ApiRow {
  readonly kind: keyof typeof BASES;
  readonly title: string;
  readonly object: Json;
  /** Undefined: valid. Otherwise a part of what both verdicts say, or '' where texts differ. */
  readonly refused: string | undefined;
}

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };

const BASES = {
  NodePool: {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'sample' },
    spec: { template: { spec: { nodeClassRef, requirements: [] } } },
  },
  NodeClaim: {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'sample' },
    spec: { nodeClassRef, requirements: [] },
  },
  NodeOverlay: {
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name: 'sample' },
    spec: { requirements: [] },
  },
  EC2NodeClass: {
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name: 'sample' },
    spec: {
      role: 'nodes',
      amiSelectorTerms: [{ alias: 'al2023@latest' }],
      subnetSelectorTerms: [{ tags: { team: 'a' } }],
      securityGroupSelectorTerms: [{ tags: { team: 'a' } }],
    },
  },
  CapacityBuffer: {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name: 'sample', namespace: 'default' },
    spec: { podTemplateRef: { name: 'slot' }, replicas: 1 },
  },
} as const;

const ABSENT = Symbol('absent');

/** The object with the value at the dotted path; ABSENT removes it. */
function withValue(object: unknown, path: readonly string[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const fields: Record<string, unknown> = { ...(object as Record<string, unknown> | undefined) };
  const next = withValue(fields[step], rest, value);
  if (next === ABSENT) delete fields[step];
  else fields[step] = next;
  return fields;
}

const LONG = 'x'.repeat(64);

type Change = readonly [path: string, value: unknown, refused?: string];

function rows(kind: keyof typeof BASES, changes: readonly Change[]): readonly ApiRow[] {
  return changes.map(([path, value, refused]) => {
    const shown = value === ABSENT ? 'absent' : JSON.stringify(value);
    return {
      kind,
      title: `${kind} ${path} ${shown.slice(0, 100)}`,
      object: withValue(BASES[kind], path.split('.'), value) as Json,
      refused,
    };
  });
}

const NUMERIC_MESSAGE = "'Gt', 'Lt', 'Gte', or 'Lte' must have a single";

/** Requirements that NodePools and NodeClaims treat alike. */
function requirementChanges(path: string): readonly Change[] {
  const one = (requirement: Json, refused?: string): Change =>
    refused === undefined ? [path, [requirement]] : [path, [requirement], refused];
  const memory = 'karpenter.k8s.aws/instance-memory';
  return [
    one({ key: 'team', operator: 'In', values: ['a', 'b'] }),
    one({ key: 'team', operator: 'NotIn', values: ['a'] }),
    one({ key: 'team', operator: 'In', values: Array.from({ length: 1344 }, (_, at) => `v${at}`) }),
    one({ key: `example.com/${LONG}`, operator: 'Exists' }),
    one({ key: 'team', operator: 'NotIn' }),
    one({ key: 'team', operator: 'Exists' }),
    one({ key: 'team', operator: 'DoesNotExist' }),
    one({ key: memory, operator: 'Gt', values: ['2048'] }),
    one({ key: memory, operator: 'Gte', values: ['0'] }),
    one({ key: memory, operator: 'Lte', values: ['4096'] }),
    one({ key: 'example.com/team', operator: 'Exists' }),
    one({ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] }),
    one({ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['us-east-1a'] }),
    one({ key: 'karpenter.k8s.aws/instance-tenancy', operator: 'In', values: ['default'] }),
    one({ key: 'team', operator: 'In', values: ['a', 'b'], minValues: 2 }),
    one({ key: 'team', operator: 'Exists', minValues: 50 }),
    one({ key: 'team', operator: 'In' }, "'In' must have a value"),
    one({ key: 'team', operator: 'In', values: [] }, "'In' must have a value"),
    one({ key: memory, operator: 'Gt', values: ['m5.large'] }, NUMERIC_MESSAGE),
    one({ key: memory, operator: 'Lt', values: ['1', '2'] }, NUMERIC_MESSAGE),
    one({ key: memory, operator: 'Gte', values: ['-1'] }, NUMERIC_MESSAGE),
    one({ key: memory, operator: 'Lte', values: [] }, NUMERIC_MESSAGE),
    one({ key: memory, operator: 'Gt' }, NUMERIC_MESSAGE),
    one({ key: memory, operator: 'Gt', values: [2048] }, 'string'),
    one({ key: 'team', operator: 'In', values: ['a'], minValues: 2 }, "'minValues'"),
    one({ key: 'team', operator: 'Exists', minValues: 0 }, ''),
    one({ key: 'team', operator: 'Exists', minValues: 51 }, ''),
    one({ key: 'team', operator: 'Exists', minValues: '2' }, ''),
    one({ key: 'team', operator: 'Equals', values: ['a'] }, ''),
    one({ key: 'team', operator: 'in', values: ['a'] }, ''),
    one({ key: 'team' }, ''),
    one({ operator: 'Exists' }, ''),
    one({ key: '', operator: 'Exists' }, ''),
    one({ key: 'a/b/c', operator: 'Exists' }, ''),
    one({ key: '-team', operator: 'Exists' }, ''),
    one({ key: 'karpenter.sh/team', operator: 'Exists' }, '"karpenter.sh" is restricted'),
    one({ key: 'karpenter.sh/registered', operator: 'Exists' }, '"karpenter.sh" is restricted'),
    one({ key: 'sub.karpenter.sh/team', operator: 'Exists' }, '"karpenter.sh" is restricted'),
    one({ key: 'kubernetes.io/hostname', operator: 'Exists' }, 'hostname" is restricted'),
    one({ key: 'karpenter.k8s.aws/team', operator: 'Exists' }, '"karpenter.k8s.aws" is restricted'),
    [path, Array.from({ length: 101 }, () => ({ key: 'team', operator: 'Exists' })), ''],
    [path, ABSENT, ''],
    [path, 'team', ''],
  ];
}

function taintChanges(path: string): readonly Change[] {
  return [
    [path, [{ key: 'gpu', effect: 'NoSchedule' }]],
    [path, [{ key: 'gpu', value: 'a100', effect: 'NoExecute' }]],
    [path, [{ key: 'example.com/gpu', value: '', effect: 'PreferNoSchedule' }]],
    [path, [{ key: 'gpu', effect: 'Schedule' }], ''],
    [path, [{ key: 'gpu' }], ''],
    [path, [{ effect: 'NoSchedule' }], ''],
    [path, [{ key: 'a b', effect: 'NoSchedule' }], ''],
    [path, [{ key: 'gpu', value: 'a b', effect: 'NoSchedule' }], ''],
  ];
}

function templateChanges(path: string): readonly Change[] {
  return [
    ...requirementChanges(`${path}.requirements`),
    ...taintChanges(`${path}.taints`),
    ...taintChanges(`${path}.startupTaints`),
    [`${path}.nodeClassRef`, ABSENT, ''],
    [`${path}.nodeClassRef.group`, '', ''],
    [`${path}.nodeClassRef.kind`, '', ''],
    [`${path}.nodeClassRef.name`, '', ''],
    [`${path}.nodeClassRef.name`, ABSENT, ''],
    [`${path}.nodeClassRef.group`, 'karpenter.k8s.aws/v1', ''],
    [`${path}.expireAfter`, 'Never'],
    [`${path}.expireAfter`, '24h'],
    [`${path}.expireAfter`, '1h30m10s'],
    [`${path}.expireAfter`, '30d', ''],
    [`${path}.expireAfter`, 'never', ''],
    [`${path}.expireAfter`, 3600, ''],
    [`${path}.terminationGracePeriod`, '30m'],
    [`${path}.terminationGracePeriod`, 'Never', ''],
    [`${path}.terminationGracePeriod`, '', ''],
  ];
}

const TEMPLATE = 'spec.template.spec';
const BUDGETS = 'spec.disruption.budgets';
const LABELS = 'spec.template.metadata.labels';

const NODE_POOLS = rows('NodePool', [
  ...templateChanges(TEMPLATE),
  [`${TEMPLATE}.requirements`, [{ key: 'karpenter.sh/nodepool', operator: 'Exists' }], 'nodepool"'],
  [`${TEMPLATE}.requirements`, [{ key: 'constructor', operator: 'In', values: ['a'] }]],
  [LABELS, { team: 'a', 'example.com/tier': 'b' }],
  [LABELS, { 'topology.kubernetes.io/zone': 'us-east-1a' }],
  [LABELS, { 'karpenter.sh/capacity-type': 'spot' }],
  [LABELS, { 'karpenter.sh/nodepool': 'x' }, '"karpenter.sh/nodepool" is restricted'],
  [LABELS, { 'karpenter.sh/custom': 'x' }, '"karpenter.sh" is restricted'],
  [LABELS, { 'kubernetes.io/hostname': 'x' }, 'hostname" is restricted'],
  [LABELS, { 'karpenter.k8s.aws/custom': 'x' }, '"karpenter.k8s.aws" is restricted'],
  [LABELS, { team: LONG }, ''],
  [LABELS, { team: 'a b' }, ''],
  [LABELS, { team: 1 }, ''],
  [LABELS, Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`l${at}`, 'x'])), ''],
  ['spec.weight', 1],
  ['spec.weight', 100],
  ['spec.weight', 0, ''],
  ['spec.weight', 101, ''],
  ['spec.weight', 1.5, ''],
  ['spec.weight', '10', ''],
  ['spec.limits', { cpu: '1000', memory: '1000Gi', nodes: 10 }],
  ['spec.limits', { 'nvidia.com/gpu': '2' }],
  ['spec.limits', { cpu: 'lots' }, ''],
  ['spec.limits', { memory: '10 Gi' }, ''],
  ['spec.limits', { cpu: '-1' }, ''],
  ['spec.limits', { cpu: -1 }, ''],
  ['spec.replicas', 0],
  ['spec.replicas', 5],
  ['spec.replicas', -1, ''],
  ['spec', { ...BASES.NodePool.spec, replicas: 2, limits: { nodes: '3' } }],
  ['spec', { ...BASES.NodePool.spec, replicas: 2, limits: { cpu: '3' } }, "only 'limits.nodes'"],
  ['spec', { ...BASES.NodePool.spec, replicas: 2, weight: 3 }, "'weight' is not supported"],
  ['spec.disruption', { consolidateAfter: 'Never' }],
  ['spec.disruption', { consolidateAfter: '30s', consolidationPolicy: 'WhenEmpty' }],
  ['spec.disruption', { consolidateAfter: '1m', consolidationPolicy: 'Balanced' }],
  ['spec.disruption', { consolidationPolicy: 'WhenEmpty' }],
  [BUDGETS, [{ nodes: '1', reasons: ['Unhealthy'] }]],
  [BUDGETS, [{ nodes: '1', reasons: ['Sick'] }], ''],
  ['spec.disruption', { consolidateAfter: '1d' }, ''],
  ['spec.disruption', { consolidateAfter: '0s', consolidationPolicy: 'WhenIdle' }, ''],
  [BUDGETS, [{ nodes: '10%' }, { nodes: '0', schedule: '@daily', duration: '10m' }]],
  [BUDGETS, [{ nodes: '5', schedule: '0 9 * * mon-fri', duration: '8h' }]],
  [BUDGETS, [{ nodes: '100%', reasons: ['Empty', 'Drifted', 'Underutilized'] }]],
  [BUDGETS, []],
  [BUDGETS, [{ nodes: '101%' }], ''],
  [BUDGETS, [{ nodes: '-1' }], ''],
  [BUDGETS, [{ nodes: 10 }], ''],
  [BUDGETS, [{ nodes: 'some' }], ''],
  [BUDGETS, [{ nodes: '1', schedule: '@daily' }], "'schedule' must be set with 'duration'"],
  [BUDGETS, [{ nodes: '1', duration: '1h' }], "'schedule' must be set with 'duration'"],
  [BUDGETS, [{ nodes: '1', schedule: '@often', duration: '1h' }], ''],
  [BUDGETS, [{ nodes: '1', schedule: '0 9 * *', duration: '1h' }], ''],
  [BUDGETS, [{ nodes: '1', schedule: '@daily', duration: '90s' }], ''],
  [BUDGETS, [{ nodes: '1', reasons: ['Bored'] }], ''],
  [BUDGETS, Array.from({ length: 51 }, () => ({ nodes: '1' })), ''],
  ['spec.template', ABSENT, ''],
  ['spec.template.spec', ABSENT, ''],
  ['spec', ABSENT, ''],
]);

const NODE_CLAIMS = rows('NodeClaim', [
  ...templateChanges('spec'),
  ['spec.requirements', [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['a'] }]],
  [
    'spec.requirements',
    [{ key: 'karpenter.k8s.aws/ec2nodeclass', operator: 'In', values: ['default'] }],
  ],
  ['spec.resources', { requests: { cpu: '1', memory: '2Gi' } }],
  ['spec.resources', { requests: { cpu: 'one' } }, ''],
]);

const OVERLAY_KEY = 'karpenter.k8s.aws/instance-family';

const NODE_OVERLAYS = rows('NodeOverlay', [
  ['spec.requirements', [{ key: OVERLAY_KEY, operator: 'In', values: ['c8g'] }]],
  ['spec.requirements', [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['a'] }]],
  ['spec.requirements', [{ key: 'team', operator: 'NotIn', values: ['a'] }]],
  ['spec.requirements', [{ key: 'team', operator: 'NotIn' }], "'In' or 'NotIn'"],
  ['spec.requirements', [{ key: 'team', operator: 'NotIn', values: [] }], "'In' or 'NotIn'"],
  ['spec.requirements', [{ key: 'team', operator: 'In' }], "'In' or 'NotIn'"],
  ['spec.requirements', [{ key: 'team', operator: 'Gt', values: ['x'] }], NUMERIC_MESSAGE],
  ['spec.requirements', [{ key: 'team', operator: 'Lte', values: ['0'] }]],
  ['spec.requirements', [{ key: 'kubernetes.io/hostname', operator: 'Exists' }], 'is restricted'],
  ['spec.requirements', [{ key: 'karpenter.sh/custom', operator: 'Exists' }], 'is restricted'],
  ['spec.requirements', [{ key: 'karpenter.k8s.aws/custom', operator: 'Exists' }], 'is restricted'],
  ['spec.requirements', ABSENT, ''],
  ['spec.price', '0.25'],
  ['spec.price', '3'],
  ['spec.price', '.5', ''],
  ['spec.price', '-1', ''],
  ['spec.price', '$1', ''],
  ['spec.price', 5, ''],
  ['spec.priceAdjustment', '+10%'],
  ['spec.priceAdjustment', '-10%'],
  ['spec.priceAdjustment', '-100%'],
  ['spec.priceAdjustment', '+250.5%'],
  ['spec.priceAdjustment', '+0.05'],
  ['spec.priceAdjustment', '-.5'],
  ['spec.priceAdjustment', '10%', ''],
  ['spec.priceAdjustment', '0.05', ''],
  ['spec.priceAdjustment', '-101%', ''],
  ['spec.priceAdjustment', '+10 %', ''],
  ['spec.priceAdjustment', '++1', ''],
  ['spec.priceAdjustment', -0.5, ''],
  ['spec', { requirements: [], price: '1', priceAdjustment: '+1' }, "cannot set both 'price'"],
  ['spec.capacity', { 'smarter-devices/fuse': '20' }],
  ['spec.capacity', { 'nvidia.com/gpu': 4 }],
  ['spec.capacity', { 'hugepages-2Mi': '100Mi' }],
  ['spec.capacity', { 'aws.amazon.com/neuron': '1' }],
  ['spec.capacity', { cpu: '2' }, 'invalid resource restricted'],
  ['spec.capacity', { memory: '2Gi' }, 'invalid resource restricted'],
  ['spec.capacity', { 'ephemeral-storage': '2Gi' }, 'invalid resource restricted'],
  ['spec.capacity', { pods: '2' }, 'invalid resource restricted'],
  ['spec.capacity', { 'example.com/slots': 'many' }, ''],
  ['spec.capacity', { 'example.com/slots': '-1' }, ''],
  ['spec.weight', 1],
  ['spec.weight', 10_000],
  ['spec.weight', 0, ''],
  ['spec.weight', 10_001, ''],
  ['spec.weight', '1', ''],
]);

const AMIS = 'spec.amiSelectorTerms';
const BLOCKS = 'spec.blockDeviceMappings';
const INTERFACES = 'spec.networkInterfaces';
const main = { networkCardIndex: 0, deviceIndex: 0, interfaceType: 'interface' };

const classSpec = BASES.EC2NodeClass.spec;
const EXCLUSIVE = 'mutually exclusive';

const NODE_CLASSES = rows('EC2NodeClass', [
  ['spec', { ...classSpec, role: 'nodes', instanceProfile: 'p' }, 'exactly one of'],
  ['spec', { ...classSpec, role: '', instanceProfile: 'p' }, 'cannot be empty'],
  ['spec.role', '', 'role cannot be empty'],
  ['spec.role', ABSENT, 'exactly one of'],
  [AMIS, [], ''],
  [AMIS, ABSENT, ''],
  [AMIS, [{}], 'expected at least one'],
  [AMIS, [{ alias: 'bottlerocket@v1.21.0' }]],
  [AMIS, [{ alias: 'windows2022@latest' }]],
  [AMIS, [{ alias: 'windows2022@v1' }], "'latest'"],
  [AMIS, [{ alias: 'ubuntu@latest' }], 'family is not supported'],
  [AMIS, [{ alias: 'al2023' }], 'improperly formatted'],
  [AMIS, [{ alias: 'al2023@' }], 'improperly formatted'],
  [AMIS, [{ alias: 'al2023@v2025010101010101010101010101' }], ''],
  [AMIS, [{ alias: 'al2023@latest', id: 'ami-1' }], EXCLUSIVE],
  [AMIS, [{ alias: 'al2023@latest' }, { alias: 'al2023@v1' }], EXCLUSIVE],
  [AMIS, [{ id: 'ami-0abc', name: 'x' }], ''],
  [AMIS, [{ tags: { a: 'b' } }], 'must specify amiFamily'],
  ['spec', { ...classSpec, amiFamily: 'AL2023', amiSelectorTerms: [{ id: 'ami-0abc' }] }],
  ['spec', { ...classSpec, amiFamily: 'Custom', amiSelectorTerms: [{ tags: { a: '*' } }] }],
  ['spec', { ...classSpec, amiFamily: 'AL2', amiSelectorTerms: [{ ssmParameter: '/a/b' }] }],
  ['spec', { ...classSpec, amiFamily: 'AL2', amiSelectorTerms: [{ id: 'image-1' }] }, ''],
  ['spec', { ...classSpec, amiFamily: 'AL2', amiSelectorTerms: [{ tags: { '': 'b' } }] }, 'empty'],
  ['spec.amiFamily', 'AL2023'],
  ['spec.amiFamily', 'Custom'],
  ['spec.amiFamily', 'AL2', 'amiFamily'],
  ['spec.amiFamily', 'Ubuntu', ''],
  ['spec.subnetSelectorTerms', [], ''],
  ['spec.subnetSelectorTerms', ABSENT, ''],
  ['spec.subnetSelectorTerms', [{}], 'expected at least one'],
  ['spec.subnetSelectorTerms', [{ id: 'subnet-0abc' }]],
  ['spec.subnetSelectorTerms', [{ id: 'net-0abc' }], ''],
  ['spec.subnetSelectorTerms', [{ id: 'subnet-0abc', tags: { a: 'b' } }], EXCLUSIVE],
  ['spec.securityGroupSelectorTerms', [], ''],
  ['spec.securityGroupSelectorTerms', [{ name: 'nodes' }]],
  ['spec.securityGroupSelectorTerms', [{ id: 'sg-0abc' }]],
  ['spec.securityGroupSelectorTerms', [{ id: 'group' }], ''],
  ['spec.securityGroupSelectorTerms', [{ id: 'sg-0abc', name: 'nodes' }], EXCLUSIVE],
  ['spec.securityGroupSelectorTerms', [{ tags: { a: 'b' }, name: 'nodes' }], EXCLUSIVE],
  ['spec.capacityReservationSelectorTerms', [{ id: 'cr-0abc' }]],
  ['spec.capacityReservationSelectorTerms', [{ instanceMatchCriteria: 'open' }]],
  ['spec.capacityReservationSelectorTerms', [{ tags: { a: '*' }, ownerID: '123456789012' }]],
  ['spec.capacityReservationSelectorTerms', [{ ownerID: '123456789012' }], 'at least one'],
  ['spec.capacityReservationSelectorTerms', [{ tags: { a: 'b' }, ownerID: '12' }], ''],
  ['spec.capacityReservationSelectorTerms', [{ instanceMatchCriteria: 'all' }], ''],
  ['spec.placementGroupSelector', { name: 'group' }],
  ['spec.placementGroupSelector', { id: 'pg-0abc' }],
  ['spec.placementGroupSelector', {}, 'exactly one of'],
  ['spec.placementGroupSelector', { name: 'group', id: 'pg-0abc' }, 'exactly one of'],
  ['spec.tags', { team: 'a', Name: 'node' }],
  ['spec.tags', { '': 'a' }, 'empty tag keys'],
  ['spec.tags', { 'karpenter.sh/nodepool': 'a' }, 'restricted tag'],
  ['spec.tags', { 'karpenter.sh/nodeclaim': 'a' }, 'restricted tag'],
  ['spec.tags', { 'karpenter.k8s.aws/ec2nodeclass': 'a' }, 'restricted tag'],
  ['spec.tags', { 'eks:eks-cluster-name': 'a' }, 'restricted tag'],
  ['spec.tags', { 'kubernetes.io/cluster/demo': 'owned' }, 'restricted tag'],
  ['spec.kubelet', { maxPods: 20, anythingElse: { deep: true } }],
  ['spec.kubelet', { registryPullQPS: 20 }],
  ['spec.kubelet', { maxPods: 'min(110, vcpus * 12)' }],
  ['spec.kubelet', { kubeReserved: { memory: '9 * max_pods + 200' } }],
  ['spec.kubelet', { maxPods: -1 }],
  ['spec.kubelet', { imageGCHighThresholdPercent: 60, imageGCLowThresholdPercent: 70 }],
  ['spec.kubelet', { evictionSoft: { 'memory.available': '5%' } }],
  ['spec.kubelet', { kubeReserved: { gpu: '1' } }],
  ['spec.kubelet', { registerWithTaints: [] }],
  ['spec.enclaveOptions', { enabled: true }],
  ['spec.enclaveOptions', {}, ''],
  [BLOCKS, [{ deviceName: '/dev/xvda', ebs: { volumeSize: '100Gi', volumeType: 'gp3' } }]],
  [BLOCKS, [{ rootVolume: true, ebs: { snapshotID: 'snap-1', volumeInitializationRate: 200 } }]],
  [BLOCKS, [{ ebs: { volumeType: 'gp3' } }], 'snapshotID or volumeSize'],
  [BLOCKS, [{ ebs: { volumeSize: '100' } }], ''],
  [BLOCKS, [{ ebs: { volumeSize: '70000Gi' } }], ''],
  [BLOCKS, [{ ebs: { volumeSize: '10Gi', volumeType: 'gp9' } }], ''],
  [BLOCKS, [{ ebs: { volumeSize: '10Gi', volumeInitializationRate: 200 } }], 'snapshotID'],
  [BLOCKS, [{ ebs: { snapshotID: 'snap-1', volumeInitializationRate: 99 } }], ''],
  [BLOCKS, [{ rootVolume: true }, { rootVolume: true }], 'rootVolume'],
  ['spec.instanceStorePolicy', 'RAID0'],
  ['spec.instanceStorePolicy', 'RAID1', ''],
  [INTERFACES, [main]],
  [INTERFACES, [main, { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' }]],
  [INTERFACES, [{ networkCardIndex: 0, deviceIndex: 1, interfaceType: 'interface' }], ''],
  [INTERFACES, [main, main], ''],
  [
    INTERFACES,
    [
      main,
      { networkCardIndex: 0, deviceIndex: 1, interfaceType: 'efa-only' },
      { networkCardIndex: 0, deviceIndex: 2, interfaceType: 'efa-only' },
    ],
    '',
  ],
  ['spec.metadataOptions', { httpTokens: 'optional', httpPutResponseHopLimit: 2 }],
  ['spec.metadataOptions', { httpPutResponseHopLimit: 65 }, ''],
  ['spec.metadataOptions', { httpTokens: 'never' }, ''],
  ['spec.connectionTracking', { tcpEstablishedTimeout: 350 }],
  ['spec.connectionTracking', {}, ''],
  ['spec.connectionTracking', { udpTimeout: 61 }, ''],
  ['spec.cpuOptions', { nestedVirtualization: 'enabled' }],
  ['spec.cpuOptions', { nestedVirtualization: 'on' }, ''],
  ['spec.ipPrefixCount', 0],
  ['spec.ipPrefixCount', -1, ''],
  ['spec.detailedMonitoring', true],
  ['spec.detailedMonitoring', 'yes', ''],
  ['spec.userData', '#!/bin/bash\necho hello'],
]);

const scalableRef = { apiGroup: 'apps', kind: 'Deployment', name: 'web' };

const CAPACITY_BUFFERS = rows('CapacityBuffer', [
  ['spec.replicas', 3],
  ['spec.replicas', -1, ''],
  ['spec.limits', { cpu: '10' }],
  ['spec.provisioningStrategy', 'buffer.x-k8s.io/active-capacity'],
  ['spec', { scalableRef, percentage: 20 }],
  ['spec', { scalableRef, replicas: 2, percentage: 20 }],
  ['spec', { scalableRef: { ...scalableRef, name: '' } }, ''],
  [
    'spec',
    { scalableRef: { apiGroup: '', kind: 'ReplicationController', name: 'web' }, percentage: 20 },
  ],
  ['spec', { scalableRef: { ...scalableRef, kind: '' }, percentage: 20 }, ''],
  ['spec.podTemplateRef.name', 'slot-2.v1'],
  ['spec.podTemplateRef.name', 'a%b', ''],
  ['spec.podTemplateRef.name', '..', ''],
  ['spec.podTemplateRef.name', 'slot/status', ''],
  ['spec.podTemplateRef.name', `slot-${'x'.repeat(249)}`, ''],
  ['spec', { scalableRef: { ...scalableRef, name: 'Web' }, percentage: 20 }, ''],
  ['spec', { scalableRef, percentage: -1 }, ''],
  ['spec', { scalableRef, podTemplateRef: { name: 'a' } }, 'exactly one of'],
  ['spec.replicas', ABSENT, "'replicas' or 'limits'"],
  ['spec', { podTemplateRef: { name: 'slot' }, percentage: 10, replicas: 1 }, "'percentage'"],
  ['spec', {}, 'exactly one of'],
]);

export const API_ROWS: readonly ApiRow[] = [
  ...NODE_POOLS,
  ...NODE_CLAIMS,
  ...NODE_OVERLAYS,
  ...NODE_CLASSES,
  ...CAPACITY_BUFFERS,
];
