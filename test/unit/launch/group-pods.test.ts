import { describe, expect, it } from 'vitest';
import { GroupPods, podsByGroup, ranMs } from '../../../shared/core/launch/group-pods.ts';
import { PodGroups } from '../../../shared/core/launch/pod-groups.ts';
import { isLive, type Pod } from '../../../shared/core/model/pod.ts';
import { claimOf, podOf } from '../../builders/scheduling.ts';

const NODE = { nodeName: 'n', startedAtMs: 1000 };

describe('a pod', () => {
  it.each<[string, Partial<Pod>, { live: boolean; ran: number }]>([
    ['that runs', NODE, { live: true, ran: 500 }],
    ['that has only just started', { ...NODE, startedAtMs: 2000 }, { live: true, ran: 0 }],
    ['whose start is not known', { nodeName: 'n' }, { live: true, ran: 0 }],
    ['that starts', { ...NODE, phase: 'Pending' }, { live: true, ran: 0 }],
    ['that has been told to go', { ...NODE, deletedAtMs: 9000 }, { live: false, ran: 0 }],
    ['that has succeeded', { ...NODE, phase: 'Succeeded' }, { live: false, ran: 0 }],
    ['that has failed', { ...NODE, phase: 'Failed' }, { live: false, ran: 0 }],
  ])('%s', (_, rest, { live, ran }) => {
    const pod = podOf('p', {}, rest);
    expect(isLive(pod)).toBe(live);
    expect(ranMs(pod, 1500)).toBe(ran);
  });
});

describe('the pods of a group', () => {
  const waiting = (uid: string, createdAtMs: number) => podOf(uid, {}, { uid, createdAtMs });

  it('have one that has waited longest, by uid where several have', () => {
    const pods = [waiting('c', 2), waiting('b', 1), waiting('a', 1), waiting('d', 3)];
    for (const order of [pods, pods.toReversed()]) {
      const group = new GroupPods();
      for (const pod of order) group.addWaiting(pod);
      expect(group.waiting?.uid).toBe('a');
      expect(group.waitingCount).toBe(4);
    }
    expect(new GroupPods()).toMatchObject({ waiting: undefined, waitingCount: 0 });
  });

  it('have for each look the one that has come last and is to go on', () => {
    const bound = (uid: string, createdAtMs: number, rest: Partial<Pod> = {}) =>
      podOf(uid, {}, { uid, createdAtMs, ...NODE, ...rest });
    const pods = [bound('a', 2), bound('c', 2), bound('b', 2), bound('d', 1)];
    for (const order of [pods, pods.toReversed()]) {
      const group = new GroupPods();
      for (const pod of order) group.addBound(pod, 'n', 'x');
      group.addBound(bound('e', 9), 'n', 'y');
      group.addBound(bound('f', 9, { phase: 'Failed' }), 'n', 'x');
      expect(group.like('x')?.uid).toBe('c');
      expect(group.like('y')?.uid).toBe('e');
      expect(group.like('z')).toBeUndefined();
    }
  });

  it('are on nodes', () => {
    const group = new GroupPods();
    const [a, b, c] = ['a', 'b', 'c'].map((name) => podOf(name, {}, NODE));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three pods');
    group.addBound(a, 'n', '');
    group.addBound(b, 'm', '');
    group.addBound(c, 'n', '');
    expect(group.on('n')).toEqual([a, c]);
    expect(group.on('m')).toEqual([b]);
    expect(group.on('o')).toEqual([]);
    expect(group.on(undefined)).toEqual([]);
  });

  const claim = claimOf('c', { createdAtMs: 100 });
  it.each<[string, readonly Partial<Pod>[], boolean]>([
    ['none', [], false],
    ['one on the claim’s own node', [{ nodeName: 'n' }], false],
    ['one on another', [{ nodeName: 'm' }], true],
    ['one on each', [{ nodeName: 'n' }, { nodeName: 'm' }], true],
    ['several on the claim’s own', [{ nodeName: 'n' }, { nodeName: 'n' }], false],
    ['one that was made later', [{ nodeName: 'm', createdAtMs: 101 }], false],
    ['one that was made at the same time', [{ nodeName: 'm', createdAtMs: 100 }], true],
    ['one that had started before', [{ nodeName: 'm', startedAtMs: 100 }], false],
    ['one that has not started', [{ nodeName: 'm', startedAtMs: undefined }], false],
    ['one that is on its way out', [{ nodeName: 'm', deletedAtMs: 1 }], false],
  ])('that waited for a claim are elsewhere: %s', (_, pods, expected) => {
    const group = new GroupPods();
    for (const [at, rest] of pods.entries()) {
      const pod = podOf(`p${at}`, {}, { createdAtMs: 50, startedAtMs: 200, ...rest });
      group.addBound(pod, pod.nodeName ?? '', '');
    }
    expect(group.isElsewhere(claim, 'n')).toBe(expected);
    // Asked again, for another claim of the same moment.
    expect(group.isElsewhere(claim, 'n')).toBe(expected);
  });

  it('are elsewhere for a claim without a node wherever they are', () => {
    const group = new GroupPods();
    group.addBound(podOf('p', {}, { nodeName: 'n', startedAtMs: 200 }), 'n', '');
    expect(group.isElsewhere(claim, undefined)).toBe(true);
    expect(group.isElsewhere(claimOf('d', { createdAtMs: 300 }), undefined)).toBe(false);
  });
});

describe('pods by group', () => {
  const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web' };
  const web = (name: string, rest: Partial<Pod> = {}) => podOf(name, {}, { controller, ...rest });
  const groups = new PodGroups();
  const id = groups.of(web('any'))[0]?.id ?? '';

  it('are those that wait, and those that have started since then', () => {
    const pods = [
      web('waits'),
      web('gated', { unschedulable: false }),
      web('new', { nodeName: 'n', startedAtMs: 100 }),
      web('starts', { nodeName: 'n', startedAtMs: undefined }),
      web('old', { nodeName: 'n', startedAtMs: 99 }),
      web('gone', { deletedAtMs: 1 }),
    ];
    const found = podsByGroup({ pods }, groups, 100);
    expect([...found.keys()]).toEqual([id]);
    expect(found.get(id)?.waitingCount).toBe(1);
    expect(
      found
        .get(id)
        ?.on('n')
        .map(({ name }) => name),
    ).toEqual(['new', 'starts']);
  });

  it('are of each group that they are in', () => {
    const bare = podOf('bare');
    const found = podsByGroup({ pods: [bare, podOf('other')] }, groups, 0);
    expect(groups.of(bare).map((group) => found.get(group.id)?.waitingCount)).toEqual([1, 2]);
  });
});
