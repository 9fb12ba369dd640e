import { describe, expect, it } from 'vitest';
import { consistentState } from '../../../shared/core/lifecycle/consistency.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, nodeOf } from '../../builders/scheduling.ts';

const promised: Partial<NodeClaim> = {
  labels: { team: 'web' },
  taints: [{ key: 'team', value: 'web', effect: 'NoSchedule' }],
  capacity: { cpu: 2000 },
  allocatable: { cpu: 1900 },
};

function messageOf(rest: Partial<Node>, claim: Partial<NodeClaim> = {}): string {
  const node = nodeOf('n', 2, 8, { labels: { team: 'web' }, ...rest });
  const { status, message } = consistentState(claimOf('c', { ...promised, ...claim }), node);
  return `${status} ${message}`.trim();
}

const taint = (key: string, value = '') => ({ key, value, effect: 'NoSchedule' as const });

describe('what a node has become', () => {
  it.each<[string, Partial<Node>, string]>([
    ['as promised', {}, 'True'],
    ["the claim's own taint", { taints: [taint('team', 'web')] }, 'True'],
    ['a taint that goes by itself', { taints: [taint('node.kubernetes.io/not-ready')] }, 'True'],
    ['cordoned by somebody', { taints: [taint('node.kubernetes.io/unschedulable')] }, 'True'],
    [
      'another taint',
      { taints: [taint('agent', 'x')] },
      'False the node has the taint agent=x:NoSchedule, which its NodeClaim does not have',
    ],
    [
      'another label',
      { labels: { team: 'db' } },
      'False the node has the label team=db instead of team=web',
    ],
    ['a little less than promised', { allocatable: { cpu: 1800 } }, 'True'],
    [
      'much less than promised',
      { allocatable: { cpu: 1700 } },
      'False the node has 1700m cpu allocatable instead of 1900m',
    ],
    [
      'a resource that is not there',
      { capacity: {} },
      'False the node has 0 cpu capacity instead of 2',
    ],
  ])('%s', (_, node, expected) => {
    expect(messageOf(node)).toBe(expected);
  });

  it('a label that the node lacks', () => {
    expect(messageOf({}, { labels: { rack: '1' } })).toBe('False the node has no label rack=1');
  });

  it('names all that differs', () => {
    const found = messageOf({ labels: { team: 'db' }, allocatable: {}, taints: [taint('x')] });
    expect(found.split(';')).toHaveLength(3);
  });
});
