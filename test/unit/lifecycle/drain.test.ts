import { describe, expect, it } from 'vitest';
import {
  blockingAttachments,
  drainFault,
  drainStep,
  holdsNode,
  isProtected,
  isStuck,
  STUCK_AFTER_MS,
} from '../../../shared/core/lifecycle/drain.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { aNode, aPod } from '../launch/builders.ts';

const SECOND = 1000;
const ROLOUT = { 'joiner.dev/drain': 'rolout' };
const PROTECTED = { 'karpenter.sh/do-not-disrupt': 'true' };

describe('a pod that was told to go', () => {
  it.each([
    [undefined, 1e12, false],
    [5000, 5000 + STUCK_AFTER_MS - 1, false],
    [5000, 5000 + STUCK_AFTER_MS, true],
  ])('at %s is stuck at %i: %s', (deletedAtMs, nowMs, stuck) => {
    expect(isStuck(aPod({ deletedAtMs }), nowMs)).toBe(stuck);
  });
});

describe('karpenter.sh/do-not-disrupt', () => {
  it.each<[string, Partial<Pod>, number, boolean]>([
    ['absent', {}, 0, false],
    ['true', { annotations: PROTECTED }, 1e12, true],
    ['for an hour', hours('1h'), 3_600_000 - 1, true],
    ['for an hour, which is over', hours('1h'), 3_600_000, false],
    ['from its start', { ...hours('1h'), startedAtMs: 5000 }, 3_604_999, true],
    ['as long as it has not started', unstarted('1h'), 1e12, true],
    ['for no time, not started', unstarted('0s'), 0, false],
    ['of another form', hours('soon'), 0, false],
    ['of another form, not started', unstarted('soon'), 0, false],
    ['absent, its start seeming to lie ahead', { startedAtMs: 5000 }, 0, false],
  ])('%s', (_, rest, nowMs, expected) => {
    expect(isProtected(aPod(rest), nowMs)).toBe(expected);
  });

  function hours(text: string): Partial<Pod> {
    return { annotations: { 'karpenter.sh/do-not-disrupt': text } };
  }
  function unstarted(text: string): Partial<Pod> {
    return { ...hours(text), startedAtMs: undefined };
  }
});

const toleration = (key: string) =>
  ({ key, operator: 'Exists', value: '', effect: undefined }) as const;

describe('a drain waits for', () => {
  it.each<[string, Partial<Pod>, Partial<PodSpec>, boolean]>([
    ['a pod that runs', {}, {}, true],
    ['a pod that starts', { phase: 'Pending' }, {}, true],
    ['a pod on its way out', { deletedAtMs: 0 }, {}, true],
    ['no pod that is stuck', { deletedAtMs: -STUCK_AFTER_MS }, {}, false],
    ['no mirror pod', { isMirror: true }, {}, false],
    ['no pod of the node', { controller: { kind: 'Node', name: 'n', uid: 'n' } }, {}, false],
    ['a DaemonSet’s pod', { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } }, {}, true],
    ['no pod that has succeeded', { phase: 'Succeeded' }, {}, false],
    ['no pod that has failed', { phase: 'Failed' }, {}, false],
    [
      'no pod that tolerates the taint',
      {},
      { tolerations: [toleration('karpenter.sh/disrupted')] },
      false,
    ],
    ['no pod that tolerates everything', {}, { tolerations: [toleration('')] }, false],
    ['a pod that tolerates another', {}, { tolerations: [toleration('other')] }, true],
    [
      'no pod one of whose tolerations is of the taint',
      {},
      { tolerations: [toleration('other'), toleration('karpenter.sh/disrupted')] },
      false,
    ],
  ])('%s', (_, rest, spec, expected) => {
    expect(holdsNode(aPod(rest, spec), 0)).toBe(expected);
  });
});

describe('a step of a drain', () => {
  const daemon = { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } };
  const plain = aPod({ name: 'plain' });
  const ofDaemon = aPod({ name: 'daemon', ...daemon });
  const critical = aPod({ name: 'critical' }, { priorityClassName: 'system-cluster-critical' });
  const last = aPod({ name: 'last', ...daemon }, { priorityClassName: 'system-node-critical' });
  const names = (pods: readonly Pod[]) => pods.map(({ name }) => name).join(' ');

  it.each([
    [[last, critical, ofDaemon, plain], 'plain'],
    [[last, critical, ofDaemon], 'daemon'],
    [[last, critical], 'critical'],
    [[last], 'last'],
    [[aPod({ name: 'x' }, { priorityClassName: 'mine' }), ofDaemon], 'x'],
    [[], ''],
  ])('evicts the first group alone', (pods, expected) => {
    expect(names(drainStep(pods, undefined, 0).evict)).toBe(expected);
  });

  it('leaves alone what does not hold the node', () => {
    const step = drainStep([aPod({ name: 'mirror', isMirror: true }), plain], undefined, 0);
    expect(names(step.evict)).toBe('plain');
    expect(names(step.waiting)).toBe('plain');
  });

  it('waits for the first group to go before it evicts the next', () => {
    const going = aPod({ name: 'going', deletedAtMs: 0 });
    const step = drainStep([ofDaemon, going], undefined, 0);
    expect(names(step.evict)).toBe('');
    expect(names(step.waiting)).toBe('daemon going');
  });

  it('evicts no pod that is protected, and waits for it', () => {
    const kept = aPod({ name: 'kept', annotations: PROTECTED });
    const step = drainStep([kept, plain], undefined, 0);
    expect(names(step.evict)).toBe('plain');
    expect(names(step.waiting)).toBe('kept plain');
    expect(step.remove).toEqual([]);
  });

  it('goes in the order of namespaces and names, whatever comes first', () => {
    const pods = ['b/a', 'a/b', 'a/a', 'b/b'].map((each) => {
      const [namespace = '', name = ''] = each.split('/');
      return aPod({ namespace, name });
    });
    for (const order of [pods, pods.toReversed()]) {
      const { evict } = drainStep(order, undefined, 0);
      expect(evict.map(({ namespace, name }) => `${namespace}/${name}`)).toEqual([
        'a/a',
        'a/b',
        'b/a',
        'b/b',
      ]);
    }
  });

  it('removes pods whose grace period ends with the node’s, whatever protects them', () => {
    const kept = aPod(
      { name: 'kept', annotations: PROTECTED },
      { terminationGracePeriodSeconds: 60 },
    );
    const short = aPod({ name: 'short' }, { terminationGracePeriodSeconds: 5 });
    const deadlineMs = 100 * SECOND;
    const at = (nowMs: number) => {
      const { evict, remove } = drainStep([kept, short, critical], deadlineMs, nowMs);
      const removed = remove.map(
        ({ pod, gracePeriodSeconds }) => `${pod.name} ${gracePeriodSeconds}`,
      );
      return [names(evict), removed.join(', ')];
    };
    expect(at(40 * SECOND - 1)).toEqual(['short', '']);
    expect(at(40 * SECOND)).toEqual(['short', 'kept 60']);
    expect(at(69.5 * SECOND)).toEqual(['short', 'kept 30']);
    expect(at(95 * SECOND)).toEqual(['', 'critical 5, kept 5, short 5']);
    expect(at(99.5 * SECOND)).toEqual(['', 'critical 0, kept 0, short 0']);
    expect(at(200 * SECOND)).toEqual(['', 'critical 0, kept 0, short 0']);
  });

  it('restarts Deployments whose pods ask for it, until it has waited long enough', () => {
    const controller = { kind: 'ReplicaSet', name: 'web-1', uid: 'u' };
    const annotations = { 'joiner.dev/drain': 'rollout' };
    const web = aPod({ name: 'web', controller, annotations });
    const others = [
      aPod({ name: 'other', controller }),
      aPod({ name: 'set', annotations, controller: { ...controller, kind: 'StatefulSet' } }),
      aPod({ name: 'word', controller: { ...controller, kind: 'Job' }, annotations: ROLOUT }),
    ];
    const pods = [web, ...others];
    const named = (nowMs: number, rolloutEndMs?: number, deadlineMs?: number) => {
      const step = drainStep(pods, deadlineMs, nowMs, rolloutEndMs);
      return [step.restart, step.evict, step.waiting].map((each) => each.map(({ name }) => name));
    };
    const all = ['other', 'set', 'web', 'word'];
    expect(named(0, 5000)).toEqual([['web'], ['other', 'set', 'word'], all]);
    expect(named(5000, 5000)).toEqual([[], all, all]);
    expect(named(0)).toEqual([[], all, all]);
    expect(drainStep([web], 1000, 999, 5000)).toMatchObject({ restart: [], evict: [] });
    expect(drainStep([web], 1000, 999, 5000).remove).toHaveLength(1);
  });

  it('tells a misspelt annotation from a pod that asks for nothing', () => {
    const controller = { kind: 'ReplicaSet', name: 'web-1', uid: 'u' };
    const pod = aPod({ name: 'web', controller, annotations: ROLOUT });
    expect(drainStep([pod], undefined, 0, 5000)).toMatchObject({ restart: [pod], evict: [] });
    const says = 'annotation joiner.dev/drain: "rolout" is invalid; valid: rollout';
    expect(drainFault(pod)).toBe(says);
    expect(drainFault(aPod({ annotations: { 'joiner.dev/drain': 'rollout' } }))).toBeUndefined();
    expect(drainFault(aPod({}))).toBeUndefined();
  });

  it('removes no pod that is on its way out already', () => {
    const going = aPod({ name: 'going', deletedAtMs: 0 });
    expect(drainStep([going], 0, 0)).toMatchObject({ evict: [], remove: [] });
  });
});

describe('attachments that hold a node', () => {
  const attachment = (
    name: string,
    persistentVolumeName: string | undefined,
    nodeName = 'node-1',
  ) => ({
    name,
    nodeName,
    persistentVolumeName,
  });
  const volume = (claimName: string) => ({ kind: 'claim', claimName }) as const;
  const claim = (name: string, volumeName: string | undefined) => ({
    namespace: 'default',
    name,
    volumeName,
    storageClassName: undefined,
    bindCompleted: true,
    isDeleting: false,
    isLost: false,
  });
  const claims = [claim('data', 'pv-data'), claim('log', 'pv-log'), claim('unbound', undefined)];
  const volumes = { persistentVolumeClaims: claims, persistentVolumes: [] };
  const all = [
    attachment('b', 'pv-log'),
    attachment('a', 'pv-data'),
    attachment('c', undefined),
    attachment('d', 'pv-data', 'other'),
  ];
  const blocking = (pods: readonly Pod[]) => blockingAttachments(aNode(), pods, all, volumes, 0);

  it('are those of its own, in the order of names', () => {
    expect(blocking([])).toEqual(['a', 'b', 'c']);
  });

  it('are not those of pods that stay', () => {
    const withVolume = (rest: Partial<Pod>, name = 'data') =>
      aPod(rest, { volumes: [volume(name)] });
    expect(blocking([withVolume({})])).toEqual(['a', 'b', 'c']);
    expect(blocking([withVolume({ isMirror: true })])).toEqual(['b', 'c']);
    expect(blocking([withVolume({ isMirror: true, namespace: 'other' })])).toEqual(['a', 'b', 'c']);
    expect(blocking([withVolume({ isMirror: true }, 'unbound')])).toEqual(['a', 'b', 'c']);
    const over = withVolume({ phase: 'Succeeded' });
    expect(blocking([over, withVolume({})])).toEqual(['a', 'b', 'c']);
    const attached = { kind: 'attached', driver: 'ebs', volume: 'data' } as const;
    expect(blocking([aPod({ isMirror: true }, { volumes: [attached] })])).toEqual(['a', 'b', 'c']);
  });

  it('are found without a look at claims where no pod that stays has a volume', () => {
    const unread = claims.map((each) => ({
      ...each,
      get name(): string {
        throw new Error('looked at');
      },
    }));
    const pods = [aPod({ isMirror: true }), aPod({}, { volumes: [volume('data')] })];
    const given = { ...volumes, persistentVolumeClaims: unread };
    expect(blockingAttachments(aNode(), pods, all, given, 0)).toEqual(['a', 'b', 'c']);
  });
});
