import { describe, expect, it } from 'vitest';
import {
  adoptionStamps,
  compared,
  type Drift,
  type DriftTarget,
} from '../../../shared/core/disruption/drift.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import { claim, classWith, imageOf, labels, only, STATUS, target } from '../../builders/drift.ts';
import { claimOf, poolOf, typeOf, yes } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;

function driftsOf(claim: NodeClaim, to: DriftTarget, nowMs: number): readonly Drift[] {
  return compared(claim, to, nowMs).drifts;
}

/** What the claim is like, and the arguments of `target`. */
type Row = readonly [string, Partial<NodeClaim>, Parameters<typeof target>, readonly string[]];

const ROWS: readonly Row[] = [
  ['is as it should be', {}, [], []],
  ['was made from another template', {}, [{}, { poolHash: 'new' }], ['NodePoolDrifted']],
  [
    'carries a hash of another tool',
    { annotations: { 'karpenter.sh/nodepool-hash-version': 'v3' } },
    [{}, { poolHash: 'new' }],
    [],
  ],
  ['was launched from another class', {}, [{}, { nodeClassHash: 'new' }], ['NodeClassDrift']],
  [
    'carries a class hash of another tool',
    { annotations: { 'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v6' } },
    [{}, { nodeClassHash: 'new' }],
    [],
  ],
  [
    'has a label that the pool does not allow any more',
    {},
    [{ requirements: [only('topology.kubernetes.io/zone', 'zone-b')] }],
    ['RequirementsDrifted'],
  ],
  [
    'lacks a label that the pool asks for now',
    {},
    [{ requirements: [only('team', 'red')] }],
    ['RequirementsDrifted'],
  ],
  [
    'lacks a label that it was asked for itself',
    { requirements: [only('team', 'red', 'blue')] },
    [{ requirements: [only('team', 'red')] }],
    [],
  ],
  [
    'lacks a label that it was asked for otherwise',
    { requirements: [only('team', 'blue')] },
    [{ requirements: [only('team', 'red')] }],
    ['RequirementsDrifted'],
  ],
  [
    'has a label that the pool does not allow, though it was asked for otherwise as well',
    { requirements: [only('topology.kubernetes.io/zone', 'zone-a', 'zone-b')] },
    [{ requirements: [only('topology.kubernetes.io/zone', 'zone-b')] }],
    ['RequirementsDrifted'],
  ],
  ['has another image', { imageId: 'ami-old' }, [], ['AMIDrift']],
  ['has the image of the other architecture', { imageId: 'ami-arm64' }, [], ['AMIDrift']],
  [
    'has an image while the class has found none',
    { imageId: 'ami-old' },
    [{}, { nodeClass: classWith({ images: [] }) }],
    [],
  ],
  [
    'has an image while the class selects images of the other architecture alone',
    {},
    [{}, { nodeClass: classWith({ images: [imageOf('ami-arm64', 'arm64')] }) }],
    ['AMIDrift'],
  ],
  [
    'has an unknown type, and the image of its architecture',
    { labels: { 'node.kubernetes.io/instance-type': 'x.large', 'kubernetes.io/arch': 'arm64' } },
    [],
    ['AMIDrift'],
  ],
  ['does not say which image it has', { imageId: undefined }, [], []],
  [
    'has a type that the catalog describes otherwise than its labels do',
    { labels: { 'kubernetes.io/arch': 'arm64' } },
    [],
    [],
  ],
  [
    'has security groups while the class has found none',
    {},
    [{}, { nodeClass: classWith({ securityGroups: [] }) }],
    [],
  ],
  [
    'has a subnet while the class has found none',
    {},
    [{}, { nodeClass: classWith({ subnets: [] }) }],
    [],
  ],
  [
    'has a security group less',
    { annotations: { 'joiner.dev/security-groups': 'sg-a' } },
    [],
    ['SecurityGroupDrift'],
  ],
  [
    'has a subnet that is not selected any more',
    { annotations: { 'joiner.dev/subnet': 'subnet-z' } },
    [],
    ['SubnetDrift'],
  ],
  [
    'has a reservation that is not selected any more',
    { labels: { 'karpenter.k8s.aws/capacity-reservation-id': 'cr-1' } },
    [],
    ['CapacityReservationDrift'],
  ],
  [
    'has an image of a class that is gone',
    { imageId: 'ami-old' },
    [{}, { nodeClass: undefined, nodeClassHash: '' }],
    [],
  ],
  [
    'differs in several things: the first is its reason',
    { imageId: 'ami-old' },
    [{}, { poolHash: 'new', nodeClassHash: 'new' }],
    ['NodePoolDrifted', 'NodeClassDrift', 'AMIDrift'],
  ],
];

describe('a claim that', () => {
  it.each(ROWS)('%s', (_, changes, to, reasons) => {
    expect(driftsOf(claim(changes), target(...to), 0).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('has no facts of its network is not judged by them', () => {
    const { annotations: all } = claim();
    const { 'joiner.dev/subnet': _, 'joiner.dev/security-groups': __, ...rest } = all;
    const bare = claimOf('general-abcde', { labels, annotations: rest, imageId: 'ami-amd64' });
    const changed = classWith({ subnets: [], securityGroups: [{ id: 'sg-z', name: undefined }] });
    expect(driftsOf(bare, target({}, { nodeClass: changed }), 0)).toEqual([]);
    expect(driftsOf(bare, target(), 0)).toEqual([]);
  });

  it('has a type that is not sold any more drifts after an hour', () => {
    const gone = target({}, { types: [typeOf('m.xlarge', 4, 16, 0.2)] });
    expect(driftsOf(claim(), target(), HOUR)).toEqual([]);
    expect(driftsOf(claim(), gone, HOUR - 1)).toEqual([]);
    expect(driftsOf(claim({ createdAtMs: HOUR }), gone, 2 * HOUR - 1)).toEqual([]);
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
  /** The states of a claim that is as it should be, hashes of what is asked for as `#`. */
  const statesOf = (to: DriftTarget): readonly string[] => compared(claim(), to, HOUR).states;

  it('is named by its object and what it asks for', () => {
    const hidden = statesOf(target()).map((state) => state.replace(/ [0-9a-f]{12}$/, ' #'));
    expect(hidden).toEqual([
      'NodePool/general template pool-hash',
      'NodePool/general requirements #',
      'EC2NodeClass/default spec class-hash',
      'EC2NodeClass/default image ami-amd64',
      'EC2NodeClass/default security groups #',
      'EC2NodeClass/default subnets #',
    ]);
  });

  it.each<[string, Parameters<typeof target>]>([
    ['requirements', [{ requirements: [only('kubernetes.io/arch', 'amd64')] }]],
    [
      'subnets',
      [
        {},
        {
          nodeClass: classWith({
            subnets: [...STATUS.subnets, { id: 'subnet-b', zone: 'zone-b', zoneId: undefined }],
          }),
        },
      ],
    ],
  ])('of %s is another one where they change', (kind, to) => {
    const [before, after] = [target(), target(...to)].map(statesOf);
    const added = after?.filter((state) => before?.includes(state) === false) ?? [];
    expect(added).toHaveLength(1);
    expect(added[0]).toContain(` ${kind} `);
  });

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
    const bare = target({}, { nodeClass: classWith({ images: [] }) });
    expect(isUndecided('AMIDrift', bare)).toBe(true);
    // Its reservation has ended, and is none of its any more.
    expect(isUndecided('CapacityReservationDrift', target({}, { types }))).toBe(false);
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

  it('stamps nothing of a class that is gone', () => {
    const theirs = claim({ annotations: { 'karpenter.sh/nodepool-hash-version': 'v3' } });
    const { 'karpenter.k8s.aws/ec2nodeclass-hash-version': _, ...rest } = theirs.annotations;
    const gone = target({}, { nodeClass: undefined, nodeClassHash: '' });
    expect(adoptionStamps({ ...theirs, annotations: rest }, gone)).toEqual({
      'karpenter.sh/nodepool-hash': 'pool-hash',
      'karpenter.sh/nodepool-hash-version': 'ours',
      'joiner.dev/adopted-hashes': 'nodepool',
    });
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
