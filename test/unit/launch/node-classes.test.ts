import { describe, expect, it } from 'vitest';
import {
  isAwaited,
  isOurs,
  isStatusCurrent,
  isUsable,
  nodeClassLabels,
  nodeClassOf,
} from '../../../shared/core/launch/node-classes.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';
import type { NodeClass } from '../../../shared/core/model/node-class.ts';
import { aNodeClass } from '../../builders/launches.ts';

const reference = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };

describe('a reference', () => {
  it('is ours by its group', () => {
    expect(isOurs(reference)).toBe(true);
    expect(isOurs({ ...reference, group: 'eks.amazonaws.com' })).toBe(false);
  });

  it('gives nodes the label of its class', () => {
    expect(nodeClassLabels(reference)).toEqual({ 'karpenter.k8s.aws/ec2nodeclass': 'default' });
    expect(nodeClassLabels({ group: 'eks.amazonaws.com', kind: 'NodeClass', name: 'a' })).toEqual({
      'eks.amazonaws.com/nodeclass': 'a',
    });
  });

  it('names a class of ours by group, kind and name', () => {
    const nodeClasses = [aNodeClass(), { ...aNodeClass(), name: 'other' }];
    const found = (changes: Partial<typeof reference>) =>
      nodeClassOf({ nodeClasses }, { ...reference, ...changes });
    expect(found({})).toBe(nodeClasses[0]);
    expect(found({ name: 'other' })).toBe(nodeClasses[1]);
    expect(found({ name: 'none' })).toBeUndefined();
    expect(found({ group: 'eks.amazonaws.com' })).toBeUndefined();
    expect(found({ kind: 'NodeClass' })).toBeUndefined();
  });
});

const ready = (status: Condition['status']) => ({
  conditions: [{ type: 'Ready', status, reason: 'Ready', message: '', lastTransitionAtMs: 0 }],
});

function classWith(changes: Partial<NodeClass>, status: object): NodeClass {
  return { ...aNodeClass({}, status), generation: 2, ...changes };
}

describe('a class', () => {
  it.each([
    ['ready', {}, ready('True'), { usable: true, awaited: false }],
    ['not ready', {}, ready('False'), { usable: false, awaited: false }],
    ['unknown', {}, ready('Unknown'), { usable: false, awaited: true }],
    ['new', {}, { conditions: [] }, { usable: false, awaited: true }],
    [
      'looked at',
      {},
      { ...ready('True'), observedGeneration: 2 },
      { usable: true, awaited: false },
    ],
    ['changed', {}, { ...ready('True'), observedGeneration: 1 }, { usable: false, awaited: true }],
    [
      'changed, and wrong before',
      {},
      { ...ready('False'), observedGeneration: 1 },
      { usable: false, awaited: true },
    ],
    ['deleted', { isDeleting: true }, ready('True'), { usable: false, awaited: false }],
    [
      'new and deleted',
      { isDeleting: true },
      { conditions: [] },
      { usable: false, awaited: false },
    ],
  ])('that is %s', (_, changes, status, { usable, awaited }) => {
    const nodeClass = classWith(changes, status);
    expect(isUsable(nodeClass)).toBe(usable);
    expect(isAwaited(nodeClass)).toBe(awaited);
  });

  it('has a status of its spec unless it has changed since', () => {
    const isCurrent = (observedGeneration: number | undefined) =>
      isStatusCurrent(classWith({}, { observedGeneration }));
    expect([undefined, 1, 2, 3].map(isCurrent)).toEqual([true, false, true, true]);
  });
});
