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
});
