import { describe, expect, it } from 'vitest';
import { reason } from '../../../shared/core/explain/reason.ts';
import { hasToWait } from '../../../shared/core/lifecycle/action-order.ts';
import type { LifecycleAction } from '../../../shared/core/lifecycle/actions.ts';
import { aNode, aPod } from '../launch/builders.ts';

const node = aNode();
const ACTIONS: readonly LifecycleAction[] = [
  { kind: 'delete-claim', reason: 'expired', why: reason('nodeclaim-expired', {}) },
  { kind: 'register', node, pods: [], labels: {}, annotations: {}, taints: [] },
  { kind: 'nominate', node, pods: [] },
  { kind: 'confirm', node },
  { kind: 'initialize', node },
  { kind: 'conditions', set: [] },
  { kind: 'hold-claim' },
  { kind: 'annotate', annotations: {} },
  { kind: 'tag', instanceId: 'i-1', tags: {}, annotations: {} },
  { kind: 'demote', nodes: [] },
  { kind: 'delete-node', node },
  { kind: 'taint-node', node, taints: [] },
  { kind: 'evict', pods: [] },
  { kind: 'remove-pod', pod: aPod(), gracePeriodSeconds: 0 },
  { kind: 'terminate', instanceId: 'i-1', isPastDeadline: false },
  { kind: 'finalize-node', node },
  { kind: 'finalize-claim' },
];

describe('what waits where one of these was refused', () => {
  it.each<[LifecycleAction['kind'], readonly LifecycleAction['kind'][]]>([
    ['hold-claim', ['delete-claim']],
    ['taint-node', ['conditions', 'delete-node', 'evict', 'terminate']],
    ['initialize', ['conditions']],
    ['terminate', ['conditions']],
    ['delete-node', ['finalize-node', 'finalize-claim']],
    ['finalize-node', ['finalize-claim']],
    ['evict', []],
    ['register', []],
    ['tag', []],
  ])('%s: %j', (undone, expected) => {
    const waiting = ACTIONS.filter((action) => hasToWait(action, new Set([undone])));
    expect(waiting.map(({ kind }) => kind)).toEqual(expected);
  });

  it('nothing: nothing', () => {
    expect(ACTIONS.filter((action) => hasToWait(action, new Set()))).toEqual([]);
  });
});

it('past its deadline an instance is ended though its node could not be tainted', () => {
  const late = { kind: 'terminate', instanceId: 'i-1', isPastDeadline: true } as const;
  expect(hasToWait(late, new Set(['taint-node']))).toBe(false);
});
