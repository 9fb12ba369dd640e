import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { withoutEnding } from '../../../shared/core/rollouts/ending-pods.ts';
import { podOf } from '../../builders/scheduling.ts';

const NOW_MS = 1_000_000_000;

/** Whether a pod takes room in the plans of now. */
function takesRoom(rest: Partial<Pod>): boolean {
  const pod = { ...podOf('web'), phase: 'Running' as const, ...rest };
  return withoutEnding([pod], NOW_MS).length === 1;
}

describe('a pod takes room', () => {
  it.each<[string, Partial<Pod>, boolean]>([
    ['while it is not deleted', { nodeName: 'a' }, true],
    ['not where it ends within 30 s', { nodeName: 'a', deletedAtMs: NOW_MS + 30_000 }, false],
    ['where it may take longer to end', { nodeName: 'a', deletedAtMs: NOW_MS + 30_001 }, true],
    ['not just after its deadline', { nodeName: 'a', deletedAtMs: NOW_MS - 4_999 }, false],
    ['again where it outlasts that', { nodeName: 'a', deletedAtMs: NOW_MS - 5_000 }, true],
    ['without a node, for others to judge', { deletedAtMs: NOW_MS + 1 }, true],
  ])('%s', (_, rest, expected) => {
    expect(takesRoom(rest)).toBe(expected);
  });

  it.each([
    ['StatefulSet', true],
    ['DaemonSet', true],
    ['ReplicaSet', false],
    ['Job', false],
  ])('until the next one of a %s can be there: %s', (kind, expected) => {
    const controller = { kind, name: 'web', uid: 'web' };
    const deletedAtMs = NOW_MS + 20_000;
    expect(takesRoom({ nodeName: 'a', deletedAtMs, controller })).toBe(expected);
  });

  it('and nothing is copied where none ends', () => {
    const pods = [podOf('a'), podOf('b')];
    expect(withoutEnding(pods, NOW_MS)).toBe(pods);
  });
});
