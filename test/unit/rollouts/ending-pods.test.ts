import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { withoutEnding } from '../../../shared/core/rollouts/ending-pods.ts';
import { nodeOf, planOf, podOf } from '../../builders/scheduling.ts';

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

  it.each<[string, Parameters<typeof podOf>[1], boolean]>([
    ['for the pod that preempts it', { priority: 5 }, true],
    ['not for one that matters as much', { priority: 0 }, false],
    ['not for one that never preempts', { priority: 5, preempts: false }, false],
  ])('%s', (_, spec, expected) => {
    const ending = podOf('low', { priority: 0 }, { nodeName: 'a', deletedAtMs: NOW_MS + 20_000 });
    const nominated = podOf('high', { preempts: true, ...spec }, { nominatedNodeName: 'a' });
    const pods = withoutEnding([nominated, ending], NOW_MS);
    expect(pods.includes(ending)).toBe(expected);
  });

  it('and nothing is copied where none ends', () => {
    const pods = [podOf('a'), podOf('b')];
    expect(withoutEnding(pods, NOW_MS)).toBe(pods);
  });
});

it('no node is launched for a pod that preempts another, whose next pod gets one', () => {
  const controller = { kind: 'ReplicaSet', name: 'low', uid: 'low' };
  const low = { cpu: 1800, priority: 0 };
  const pods = [
    podOf('low', low, { nodeName: 'n', controller, deletedAtMs: NOW_MS + 20_000 }),
    podOf('next', low, { controller }),
    podOf('high', { cpu: 200, priority: 5, preempts: true }, { nominatedNodeName: 'n' }),
  ];
  const plan = planOf({ nodes: [nodeOf('n', 2, 8)], pods: withoutEnding(pods, NOW_MS) });
  expect(plan.existing).toEqual([]);
  expect(plan.newNodeClaims.map((claim) => claim.pods)).toEqual([['default/next']]);
});
