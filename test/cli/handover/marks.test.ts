import { describe, expect, it } from 'vitest';
import {
  cleanedNode,
  isDisruptionOpen,
  isOurHash,
  removedFromClaim,
  removedFromClass,
  removedFromPool,
} from '../../../cli/handover/marks.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { claimOf, nodeOf } from '../../builders/scheduling.ts';

const OURS = {
  'karpenter.sh/nodepool-hash': 'a',
  'karpenter.sh/nodepool-hash-version': 'joiner-v2',
  'karpenter.k8s.aws/ec2nodeclass-hash': 'b',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'joiner-v2',
};

const THEIRS = {
  'karpenter.sh/nodepool-hash': '1',
  'karpenter.sh/nodepool-hash-version': 'v3',
  'karpenter.k8s.aws/ec2nodeclass-hash': '2',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'v5',
};

/** Facts about a node: they stay. */
const FACTS = {
  'joiner.dev/plan': '{}',
  'joiner.dev/decision': 'd',
  'joiner.dev/fleet': 'f',
  'joiner.dev/price': '0.0816',
  'joiner.dev/subnet': 's',
  'joiner.dev/security-groups': 'g',
  'karpenter.k8s.aws/instance-profile-name': 'p',
  'example.com/mine': 'x',
};

const UNDER_WAY = [
  'joiner.dev/adopted-hashes',
  'joiner.dev/approved',
  'joiner.dev/eviction-order',
  'joiner.dev/launched-for',
  'joiner.dev/launch-tried',
  'joiner.dev/nominated-until',
  'joiner.dev/planned-pods',
  'joiner.dev/pods-hash',
  'joiner.dev/replaced-by',
  'joiner.dev/replaced-for',
  'joiner.dev/replaces',
  'joiner.dev/tries',
];

function drifted(reason: string): readonly Condition[] {
  return [{ type: 'Drifted', status: 'True', reason, message: '', lastTransitionAtMs: 0 }];
}

const gone = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, null]));

describe('what is removed from a NodeClaim', () => {
  it('facts stay, and so do hashes of Karpenter', () => {
    const annotations = { ...FACTS, ...THEIRS };
    expect(removedFromClaim(claimOf('a', { annotations }))).toEqual({});
  });

  it('whatever is under way goes', () => {
    const annotations = { ...FACTS, ...Object.fromEntries(UNDER_WAY.map((key) => [key, 'x'])) };
    expect(removedFromClaim(claimOf('a', { annotations }))).toEqual(gone(UNDER_WAY));
  });

  it.each<readonly [string, readonly string[]]>([
    ['AMIDrift', Object.keys(OURS)],
    ['NodePoolDrifted', Object.keys(OURS).filter((key) => key !== 'karpenter.sh/nodepool-hash')],
    [
      'NodeClassDrift',
      Object.keys(OURS).filter((key) => key !== 'karpenter.k8s.aws/ec2nodeclass-hash'),
    ],
  ])('hashes of ours go, but for the one that keeps the drift: %s', (reason, keys) => {
    const claim = claimOf('a', { annotations: OURS, conditions: drifted(reason) });
    expect(removedFromClaim(claim)).toEqual(gone(keys));
  });

  it('without drift both hashes and both versions go', () => {
    expect(removedFromClaim(claimOf('a', { annotations: OURS }))).toEqual(gone(Object.keys(OURS)));
  });
});

it.each([
  ['joiner-v1', true],
  ['joiner-v2', true],
  ['joiner-v30', true],
  ['v3', false],
  [undefined, false],
])('the hash version %s is ours: %s', (version, isOurs) => {
  expect(isOurHash(version)).toBe(isOurs);
});

it('of pools and classes the hash goes, whoever wrote it; what people have set stays', () => {
  const pool = {
    ...THEIRS,
    'joiner.dev/failed-canaries': 'x',
    'joiner.dev/failed-moves': 'x',
    'joiner.dev/unconfirmed-interruptions': 'x',
    'joiner.dev/undone-moves': 'x',
    'joiner.dev/limits-guard': 'cpu=4',
    'joiner.dev/consolidation-guard': 'age=1h',
  };
  expect(removedFromPool(pool)).toEqual(
    gone([
      'joiner.dev/failed-canaries',
      'joiner.dev/failed-moves',
      'joiner.dev/unconfirmed-interruptions',
      'joiner.dev/undone-moves',
      'karpenter.sh/nodepool-hash',
      'karpenter.sh/nodepool-hash-version',
    ]),
  );
  expect(removedFromClass(OURS)).toEqual(
    gone(['karpenter.k8s.aws/ec2nodeclass-hash', 'karpenter.k8s.aws/ec2nodeclass-hash-version']),
  );
  expect(removedFromPool({ 'example.com/mine': 'x' })).toEqual({});
});

describe('nodes', () => {
  const other = { key: 'team', value: 'a', effect: 'NoSchedule' } as const;

  it('a taint that a disruption has left goes, others stay', () => {
    const node = nodeOf('n', 1, 1, { taints: [other, DISRUPTED] });
    expect(cleanedNode(node, claimOf('c'))).toEqual({ annotations: {}, taints: [other] });
  });

  it.each([
    ['its claim is being deleted', claimOf('c', { deletedAtMs: 1 })],
    ['it has no claim', undefined],
  ])('the taint stays where %s', (_, claim) => {
    expect(cleanedNode(nodeOf('n', 1, 1, { taints: [DISRUPTED] }), claim)).toBeUndefined();
  });

  it('a nomination goes', () => {
    const annotations = { 'joiner.dev/nominated-until': 'x', 'example.com/mine': 'x' };
    expect(cleanedNode(nodeOf('n', 1, 1, { annotations }), claimOf('c'))).toEqual({
      annotations: gone(['joiner.dev/nominated-until']),
      taints: undefined,
    });
  });
});

it.each([
  ['open', {}, true],
  ['of one that goes', { deletedAtMs: 1 }, false],
])('a disruption: %s', (_, change, isOpen) => {
  const conditions = drifted('Drifted').map((each) => ({ ...each, type: 'DisruptionReason' }));
  expect(isDisruptionOpen(claimOf('c', { conditions, ...change }))).toBe(isOpen);
  expect(isDisruptionOpen(claimOf('c'))).toBe(false);
});
