import { describe, expect, it } from 'vitest';
import { DRAIN } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { withSuccessor } from '../../../shared/core/rollouts/successors.ts';
import { podOf } from '../../builders/scheduling.ts';

/** A pod of the ReplicaSet of a Deployment. */
function ofSet(name: string, set: string, createdAtMs: number, change: Partial<Pod> = {}): Pod {
  const controller = { kind: 'ReplicaSet', name: set, uid: set };
  const annotations = { [DRAIN]: 'rollout' };
  return podOf(name, {}, { controller, annotations, createdAtMs, ready: false, ...change });
}

const [first, second] = [ofSet('a', 'web-1', 1, { ready: true }), ofSet('b', 'web-1', 2)];

const namesOf = (moving: readonly Pod[], others: readonly Pod[]) =>
  withSuccessor(moving, [...moving, ...others]).map(({ name }) => name);

describe('of pods on nodes that are going away', () => {
  it.each<readonly [string, readonly Pod[], readonly string[]]>([
    ['none has a successor before the rollout', [], []],
    ['one has the successor that waits', [ofSet('c', 'web-2', 3)], ['a']],
    ['each has its own', [ofSet('c', 'web-2', 3), ofSet('d', 'web-2', 4)], ['a', 'b']],
    ['a ready successor is past: its pod goes', [ofSet('c', 'web-2', 3, { ready: true })], []],
    ['one that is deleted is none', [ofSet('c', 'web-2', 3, { deletedAtMs: 9 })], []],
    ['an older pod is none', [ofSet('c', 'web-0', 0)], []],
    ['a pod of the same ReplicaSet is none', [ofSet('c', 'web-1', 3)], []],
    ['a pod of another Deployment is none', [ofSet('c', 'web-api-2', 3)], []],
    ['nor of one in another namespace', [ofSet('c', 'web-2', 3, { namespace: 'other' })], []],
  ])('%s', (_, others, expected) => {
    expect(namesOf([first, second], others)).toEqual(expected);
    expect(namesOf([second, first], others.toReversed())).toEqual(expected);
  });

  it('a pod without the annotation is evicted, and comes back beside what there is', () => {
    const plain = { ...first, annotations: {} };
    expect(namesOf([plain], [ofSet('c', 'web-2', 3)])).toEqual([]);
  });
});
