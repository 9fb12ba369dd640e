import { describe, expect, it } from 'vitest';
import { nodesWithoutClaim, orphanedInstances } from '../../../shared/core/lifecycle/garbage.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const MINUTE = 60_000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';

describe('an instance that is garbage', () => {
  it('is an instance that is old enough and that nobody stands for or is launching', () => {
    const instance = (id: string, launchedAtMs: number, fleet: string) => ({
      id,
      launchedAtMs,
      state: 'running',
      tags: { 'joiner.dev/fleet': fleet },
    });
    const token = 'a'.repeat(64);
    const instances = [
      instance('i-0123456789abcdef0', 0, 'x'),
      instance('i-launching', 0, token),
      instance('i-young', MINUTE, 'x'),
      instance('i-orphan', 0, 'x'),
    ];
    const launching = aNodeClaim({ annotations: { 'joiner.dev/fleet': `${token}/1/0` } });
    const found = orphanedInstances(instances, [aNodeClaim({ providerId }), launching], MINUTE);
    expect(found.map((each) => each.id)).toEqual(['i-orphan']);
  });

  it('is an instance without a fleet tag, also while a claim waits for its fleet', () => {
    const untagged = { id: 'i-untagged', launchedAtMs: 0, state: 'running', tags: {} };
    const found = orphanedInstances([untagged], [aNodeClaim()], MINUTE);
    expect(found.map((each) => each.id)).toEqual(['i-untagged']);
  });
});

describe('instances', () => {
  const instance = (id: string, rest: object = {}) => ({
    id,
    launchedAtMs: 0,
    state: 'running',
    tags: {},
    ...rest,
  });
  const orphans = (
    instances: readonly ReturnType<typeof instance>[],
    claims: Parameters<typeof orphanedInstances>[1] = [],
    nowMs = MINUTE,
  ) => orphanedInstances(instances, claims, nowMs).map(({ id }) => id);

  it('are garbage in the order of their ids', () => {
    expect(orphans(['i-2', 'i-3', 'i-1'].map((id) => instance(id)))).toEqual(['i-1', 'i-2', 'i-3']);
  });

  it('are none while they shut down, nor half a minute after their launch', () => {
    expect(orphans([instance('i-1', { state: 'shutting-down' })])).toEqual([]);
    expect(orphans([instance('i-1', { launchedAtMs: 1000 })], [], 31_000)).toEqual([]);
    expect(orphans([instance('i-1', { launchedAtMs: 1000 })], [], 31_001)).toEqual(['i-1']);
  });

  const token = 'a'.repeat(64);
  const ofFleet = [instance('i-1', { tags: { 'joiner.dev/fleet': token } })];
  it.each([
    ['waits for them', {}, []],
    ['has another', { providerId: 'aws:///us-east-1a/i-2' }, ['i-1']],
    ['is deleted', { deletedAtMs: 1 }, ['i-1']],
  ])('of a fleet whose claim %s', (_, rest, expected) => {
    const annotations = { 'joiner.dev/fleet': `${token}/1/0` };
    expect(orphans(ofFleet, [aNodeClaim({ annotations, ...rest })])).toEqual(expected);
  });
});

describe('a node that is being deleted', () => {
  const closed = [{ key: 'karpenter.sh/unregistered', value: '', effect: 'NoExecute' }] as const;
  it.each<[string, Partial<Node>, boolean]>([
    ['of a NodePool', {}, true],
    ['of a claim of no NodePool', { labels: { 'karpenter.sh/registered': 'true' } }, true],
    ['of an EC2NodeClass', { labels: { 'karpenter.k8s.aws/ec2nodeclass': 'default' } }, true],
    ['that had not opened yet', { labels: {}, taints: closed }, true],
    [
      'of EKS Auto Mode',
      { labels: { 'eks.amazonaws.com/nodeclass': 'default', 'karpenter.sh/nodepool': 'system' } },
      false,
    ],
    ['of a class whose label only ends so', { labels: { 'a/b/nodeclass': 'x' } }, false],
    ['of a class whose label only begins so', { labels: { 'a/nodeclasses': 'x' } }, false],
    [
      'of no class, with another taint',
      { labels: {}, taints: [{ key: 'other', value: '', effect: 'NoSchedule' }] },
      false,
    ],
    [
      'of another class too',
      { labels: { 'a/nodeclass': 'x', 'karpenter.k8s.aws/ec2nodeclass': 'default' } },
      true,
    ],
    ['of a node group', { labels: { 'eks.amazonaws.com/nodegroup': 'a' } }, false],
    ['that is not being deleted', { deletedAtMs: undefined }, false],
    ['whose claim is there', { providerId }, false],
  ])('and has no claim is let go: %s', (_, changes, expected) => {
    const node = aNode({ deletedAtMs: 1, providerId: 'aws:///us-east-1a/i-1', ...changes });
    const claims = [aNodeClaim({ providerId }), aNodeClaim({ name: 'not-launched' })];
    expect(nodesWithoutClaim([node], claims)).toEqual(expected ? [node] : []);
  });

  it('and has no provider id is let go, too, while a claim waits for its own', () => {
    const node = aNode({ deletedAtMs: 1, providerId: undefined });
    expect(nodesWithoutClaim([node], [aNodeClaim()])).toEqual([node]);
  });

  it('is found in the order of names', () => {
    const nodes = ['b', 'c', 'a'].map((name) =>
      aNode({ name, deletedAtMs: 1, providerId: undefined }),
    );
    expect(nodesWithoutClaim(nodes, []).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });
});
