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
    ['short of memory', { taints: [taint('node.kubernetes.io/memory-pressure')] }, 'True'],
    ['short of disk', { taints: [taint('node.kubernetes.io/disk-pressure')] }, 'True'],
    ['short of processes', { taints: [taint('node.kubernetes.io/pid-pressure')] }, 'True'],
    ['without a network', { taints: [taint('node.kubernetes.io/network-unavailable')] }, 'True'],
    ['out of service', { taints: [taint('node.kubernetes.io/out-of-service')] }, 'True'],
    [
      "the claim's own taint with another effect",
      { taints: [{ ...taint('team', 'web'), effect: 'NoExecute' }] },
      'False the node has the taint team=web:NoExecute, which its NodeClaim does not have',
    ],
    [
      'a taint without a value',
      { taints: [taint('agent')] },
      'False the node has the taint agent:NoSchedule, which its NodeClaim does not have',
    ],
    ['nine tenths of what was promised', { allocatable: { cpu: 1710 } }, 'True'],
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

  it('one of several taints of its claim', () => {
    const taints = [taint('a'), taint('b')];
    expect(messageOf({ taints: [taint('b')] }, { taints })).toBe('True');
  });

  it('names all that differs, taints first, labels and amounts in order', () => {
    const promises = {
      labels: { b: '1', a: '1', c: '1' },
      capacity: { 'x.io/b': 1, cpu: 9000, 'x.io/a': 2 },
    };
    expect(messageOf({ labels: {}, allocatable: {}, taints: [taint('x')] }, promises)).toBe(
      'False ' +
        [
          'the node has the taint x:NoSchedule, which its NodeClaim does not have',
          'the node has no label a=1',
          'the node has no label b=1',
          'the node has no label c=1',
          'the node has 2 cpu capacity instead of 9',
          'the node has 0 x.io/a capacity instead of 2',
          'the node has 0 x.io/b capacity instead of 1',
          'the node has 0 cpu allocatable instead of 1900m',
        ].join('; '),
    );
  });

  it('is a condition of its own', () => {
    const said = (node: Partial<Node>) => {
      const { message: _, ...rest } = consistentState(claimOf('c'), nodeOf('n', 2, 8, node));
      return rest;
    };
    const type = 'ConsistentStateFound';
    expect(said({ taints: [] })).toEqual({ type, status: 'True', reason: type });
    const reason = 'ConsistencyCheckFailed';
    expect(said({ taints: [taint('x')] })).toEqual({ type, status: 'False', reason });
  });
});
