import { describe, expect, it } from 'vitest';
import {
  adoptionStamps,
  compared,
  type Drift,
  type DriftParts,
  type DriftTarget,
  driftTarget,
} from '../../../shared/core/disruption/drift.ts';
import type { NodeClass, NodeClassStatus } from '../../../shared/core/model/node-class.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { claimOf, poolOf, typeOf, yes } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;

function driftsOf(claim: NodeClaim, to: DriftTarget, nowMs: number): readonly Drift[] {
  return compared(claim, to, nowMs).drifts;
}

function imageOf(id: string, arch: string) {
  const requirements: readonly RequirementExpression[] = [
    { key: 'kubernetes.io/arch', operator: 'In', values: [arch] },
  ];
  return { id, name: undefined, deprecated: false, requirements };
}

const STATUS = {
  images: [imageOf('ami-amd64', 'amd64'), imageOf('ami-arm64', 'arm64')],
  securityGroups: [
    { id: 'sg-b', name: undefined },
    { id: 'sg-a', name: undefined },
  ],
  subnets: [{ id: 'subnet-a', zone: 'zone-a', zoneId: undefined }],
} as const;

function target(
  pool: Parameters<typeof poolOf>[1] = {},
  rest: Partial<DriftParts> = {},
): DriftTarget {
  return driftTarget({
    pool: poolOf('general', pool),
    poolHash: 'pool-hash',
    nodeClass: aNodeClass({}, STATUS),
    nodeClassHash: 'class-hash',
    hashVersion: 'ours',
    types: [typeOf('m.large', 2, 8, 0.1)],
    isCatalogCurrent: true,
    ...rest,
  });
}

const status = (changes: Partial<NodeClassStatus>): NodeClass =>
  aNodeClass({}, { ...STATUS, ...changes });

const labels = {
  'karpenter.sh/nodepool': 'general',
  'karpenter.sh/capacity-type': 'on-demand',
  'node.kubernetes.io/instance-type': 'm.large',
  'topology.kubernetes.io/zone': 'zone-a',
  'kubernetes.io/arch': 'amd64',
};
const annotations = {
  'karpenter.sh/nodepool-hash': 'pool-hash',
  'karpenter.sh/nodepool-hash-version': 'ours',
  'karpenter.k8s.aws/ec2nodeclass-hash': 'class-hash',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'ours',
  'joiner.dev/security-groups': 'sg-a,sg-b',
  'joiner.dev/subnet': 'subnet-a',
};

function claim(changes: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('general-abcde', {
    imageId: 'ami-amd64',
    ...changes,
    labels: { ...labels, ...changes.labels },
    annotations: { ...annotations, ...changes.annotations },
  });
}

const only = (key: string, ...values: readonly string[]): RequirementExpression => ({
  key,
  operator: 'In',
  values,
});

type Row = readonly [string, Partial<NodeClaim>, DriftTarget, readonly string[]];

const ROWS: readonly Row[] = [
  ['is as it should be', {}, target(), []],
  ['was made from another template', {}, target({}, { poolHash: 'new' }), ['NodePoolDrifted']],
  [
    'carries a hash of another tool',
    { annotations: { 'karpenter.sh/nodepool-hash-version': 'v3' } },
    target({}, { poolHash: 'new' }),
    [],
  ],
  ['was launched from another class', {}, target({}, { nodeClassHash: 'new' }), ['NodeClassDrift']],
  [
    'carries a class hash of another tool',
    { annotations: { 'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v6' } },
    target({}, { nodeClassHash: 'new' }),
    [],
  ],
  [
    'has a label that the pool does not allow any more',
    {},
    target({ requirements: [only('topology.kubernetes.io/zone', 'zone-b')] }),
    ['RequirementsDrifted'],
  ],
  [
    'lacks a label that the pool asks for now',
    {},
    target({ requirements: [only('team', 'red')] }),
    ['RequirementsDrifted'],
  ],
  [
    'lacks a label that it was asked for itself',
    { requirements: [only('team', 'red', 'blue')] },
    target({ requirements: [only('team', 'red')] }),
    [],
  ],
  [
    'lacks a label that it was asked for otherwise',
    { requirements: [only('team', 'blue')] },
    target({ requirements: [only('team', 'red')] }),
    ['RequirementsDrifted'],
  ],
  ['has another image', { imageId: 'ami-old' }, target(), ['AMIDrift']],
  ['has the image of the other architecture', { imageId: 'ami-arm64' }, target(), ['AMIDrift']],
  [
    'has an image while the class has found none',
    { imageId: 'ami-old' },
    target({}, { nodeClass: status({ images: [] }) }),
    [],
  ],
  [
    'has an image while the class selects images of the other architecture alone',
    {},
    target({}, { nodeClass: status({ images: [imageOf('ami-arm64', 'arm64')] }) }),
    ['AMIDrift'],
  ],
  [
    'has an unknown type, and the image of its architecture',
    { labels: { 'node.kubernetes.io/instance-type': 'x.large', 'kubernetes.io/arch': 'arm64' } },
    target(),
    ['AMIDrift'],
  ],
  [
    'has a security group less',
    { annotations: { 'joiner.dev/security-groups': 'sg-a' } },
    target(),
    ['SecurityGroupDrift'],
  ],
  [
    'has a subnet that is not selected any more',
    { annotations: { 'joiner.dev/subnet': 'subnet-z' } },
    target(),
    ['SubnetDrift'],
  ],
  [
    'has a reservation that is not selected any more',
    { labels: { 'karpenter.k8s.aws/capacity-reservation-id': 'cr-1' } },
    target(),
    ['CapacityReservationDrift'],
  ],
  [
    'has an image of a class that is gone',
    { imageId: 'ami-old' },
    target({}, { nodeClass: undefined, nodeClassHash: '' }),
    [],
  ],
  [
    'differs in several things: the first is its reason',
    { imageId: 'ami-old' },
    target({}, { poolHash: 'new', nodeClassHash: 'new' }),
    ['NodePoolDrifted', 'NodeClassDrift', 'AMIDrift'],
  ],
];

describe('a claim that', () => {
  it.each(ROWS)('%s', (_, changes, to, reasons) => {
    expect(driftsOf(claim(changes), to, 0).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('has no facts of its network is not judged by them', () => {
    const { annotations: all } = claim();
    const { 'joiner.dev/subnet': _, 'joiner.dev/security-groups': __, ...rest } = all;
    const bare = claimOf('general-abcde', { labels, annotations: rest, imageId: 'ami-amd64' });
    const changed = status({ subnets: [], securityGroups: [{ id: 'sg-z', name: undefined }] });
    expect(driftsOf(bare, target({}, { nodeClass: changed }), 0)).toEqual([]);
  });

  it('has a type that is not sold any more drifts after an hour', () => {
    const gone = target({}, { types: [typeOf('m.xlarge', 4, 16, 0.2)] });
    expect(driftsOf(claim(), gone, HOUR - 1)).toEqual([]);
    expect(driftsOf(claim(), gone, HOUR).map(({ reason }) => reason)).toEqual([
      'InstanceTypeNotFound',
    ]);
    const elsewhere = target({}, { types: [typeOf('m.large', 2, 8, 0.1, { zones: ['zone-b'] })] });
    expect(driftsOf(claim(), elsewhere, HOUR)).toHaveLength(1);
    expect(driftsOf(claim(), target({}, { types: [] }), HOUR)).toEqual([]);
    const old = target({}, { types: [typeOf('m.xlarge', 4, 16, 0.2)], isCatalogCurrent: false });
    expect(driftsOf(claim(), old, HOUR)).toEqual([]);
  });
});

describe('a new state', () => {
  it('is what drifted claims lack and others have', () => {
    const to = target({}, { poolHash: 'new' });
    const [drift] = driftsOf(claim(), to, 0);
    expect(drift?.state).toBe('NodePool/general template new');
    const fresh = claim({ annotations: { 'karpenter.sh/nodepool-hash': 'new' } });
    expect(compared(fresh, to, 0).states).toContain(drift?.state);
    expect(compared(claim(), to, 0).states).not.toContain(drift?.state);
  });

  it('is undecided of what has drifted while nobody can tell', () => {
    const said = (reason: string) =>
      claim({ conditions: yes('Drifted').map((each) => ({ ...each, reason })) });
    const types = [typeOf('m.xlarge', 4, 16, 0.2)];
    const stale = target({}, { types, isCatalogCurrent: false });
    const isUndecided = (reason: string, to: DriftTarget): boolean =>
      compared(said(reason), to, 2 * HOUR).isUndecided;
    expect(isUndecided('InstanceTypeNotFound', stale)).toBe(true);
    expect(isUndecided('AMIDrift', stale)).toBe(false);
    expect(isUndecided('InstanceTypeNotFound', target({}, { types }))).toBe(false);
    const bare = target({}, { nodeClass: status({ images: [] }) });
    expect(isUndecided('AMIDrift', bare)).toBe(true);
    expect(compared(claim(), bare, 2 * HOUR).isUndecided).toBe(false);
  });

  it('of images is one for each architecture', () => {
    const state = (changes: Partial<NodeClaim>) => driftsOf(claim(changes), target(), 0)[0]?.state;
    const arm = {
      'kubernetes.io/arch': 'arm64',
      'node.kubernetes.io/instance-type': 'g.large',
    };
    expect(state({ imageId: 'old' })).toBe('EC2NodeClass/default image ami-amd64');
    expect(state({ imageId: 'old', labels: arm })).toBe('EC2NodeClass/default image ami-arm64');
  });

  it.each(['InstanceTypeNotFound', 'CapacityReservationDrift'])('is none for %s', (reason) => {
    const lost = claim({
      labels: {
        'node.kubernetes.io/instance-type': 'x.large',
        'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
      },
    });
    const found = driftsOf(lost, target(), HOUR).find((each) => each.reason === reason);
    expect(found).toMatchObject({ reason, state: undefined });
  });
});

describe('adoption', () => {
  const pool: NodePool = poolOf('general');

  it('stamps what another tool has written as current', () => {
    const theirs = claim({
      annotations: {
        'karpenter.sh/nodepool-hash-version': 'v3',
        'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v6',
      },
    });
    const stamps = adoptionStamps(theirs, target({ ...pool }, { poolHash: 'new' }));
    expect(stamps).toEqual({
      'karpenter.sh/nodepool-hash': 'new',
      'karpenter.sh/nodepool-hash-version': 'ours',
      'karpenter.k8s.aws/ec2nodeclass-hash': 'class-hash',
      'karpenter.k8s.aws/ec2nodeclass-hash-version': 'ours',
      'joiner.dev/adopted-hashes': 'ec2nodeclass,nodepool',
    });
    const adopted = claim({ annotations: stamps });
    expect(driftsOf(adopted, target({}, { poolHash: 'new' }), 0)).toEqual([]);
    const { states } = compared(adopted, target({}, { poolHash: 'new' }), 0);
    expect(states.filter((state) => /template|spec/.test(state))).toEqual([]);
  });

  it('does not forget a roll: what has drifted keeps its hash, and stays drifted', () => {
    const drifted = { type: 'Drifted', status: 'True', reason: 'NodePoolDrifted' } as const;
    const older = {
      'karpenter.sh/nodepool-hash': 'old',
      'karpenter.sh/nodepool-hash-version': 'older',
      'karpenter.k8s.aws/ec2nodeclass-hash': 'class-hash',
      'karpenter.k8s.aws/ec2nodeclass-hash-version': 'older',
    };
    const conditions = [{ ...drifted, message: '', lastTransitionAtMs: 0 }];
    const before = claim({ annotations: older, conditions });
    expect(driftsOf(before, target(), 0)).toMatchObject([{ reason: 'NodePoolDrifted' }]);
    const stamps = adoptionStamps(before, target());
    expect(stamps).toEqual({
      'karpenter.sh/nodepool-hash-version': 'ours',
      'karpenter.k8s.aws/ec2nodeclass-hash-version': 'ours',
    });
    const after = claim({ annotations: { ...older, ...stamps }, conditions });
    expect(driftsOf(after, target(), 0)).toMatchObject([{ reason: 'NodePoolDrifted' }]);
  });

  it('leaves our own stamps alone, old ones too', () => {
    expect(adoptionStamps(claim(), target({}, { poolHash: 'new', nodeClassHash: 'n' }))).toEqual(
      {},
    );
  });
});
