import { describe, expect, it } from 'vitest';
import { launchedForText, PodGroups } from '../../../shared/core/launch/pod-groups.ts';
import { LAUNCHED_FOR, PLANNED_PODS, PODS_HASH } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { Taint } from '../../../shared/core/model/taint.ts';
import { nodeOf, podOf } from '../../builders/scheduling.ts';
import {
  claim,
  controller,
  fitting,
  launchedForWeb,
  node,
  outcomes,
  SECOND,
  there,
  web,
} from './outcomes.ts';

function kindOf({ unused, used, open }: ReturnType<typeof outcomes>): string {
  if (unused.length > 0) return 'unused';
  if (open.length > 0) return 'open';
  if (used.length === 0) return 'nothing';
  return used.some(({ isSettled }) => isSettled) ? 'settled' : 'used';
}

describe('what came of a launch', () => {
  const gone = web('a', { nodeName: 'n', deletedAtMs: 1 });
  const daemon = podOf(
    'd',
    {},
    { nodeName: 'n', controller: { ...controller, kind: 'DaemonSet' } },
  );
  it.each<[string, readonly Pod[], number, string]>([
    ['a pod runs on its node', [web('a', there), web('b')], 160, 'nothing'],
    ['a pod has run there for 30 s', [web('a', there), web('b')], 181, 'used'],
    ['a pod has run there for 10 minutes', [web('a', there), web('b')], 751, 'settled'],
    ['a pod has run there for nearly as long', [web('a', there), web('b')], 750, 'used'],
    [
      'one of two has run there for 30 s',
      [web('a', there), web('c', { ...there, startedAtMs: 180_000 })],
      181,
      'used',
    ],
    ['a pod has ended', [web('a', { ...there, phase: 'Succeeded' }), web('b')], 160, 'settled'],
    ['a pod waits, and none is there', [web('b')], 166, 'unused'],
    ['a pod waits that fits, as of a gang', [fitting('b')], 1349, 'open'],
    ['the same, and nobody comes for long', [fitting('b')], 1350, 'nothing'],
    ['a pod waits, and that which was there is on its way out', [gone, web('b')], 160, 'unused'],
    ['the same, and the node has just joined', [gone, web('b')], 151, 'unused'],
    ['the same, and the node does for it', [gone, fitting('b')], 160, 'open'],
    ['a pod waits, and kube-scheduler has had no time', [web('b')], 164, 'open'],
    ['no pod waits', [], 166, 'nothing'],
    ['other pods wait', [podOf('x')], 166, 'nothing'],
    ['its node runs a DaemonSet', [daemon, web('b')], 166, 'unused'],
    ['a day is not over', [web('b')], 86_499, 'unused'],
    ['a day is over', [web('b')], 86_500, 'nothing'],
    [
      'what fills its node has ended',
      [podOf('x', { cpu: 1500 }, { nodeName: 'n', phase: 'Succeeded' }), fitting('b')],
      166,
      'open',
    ],
    [
      'a pod that waited is elsewhere by now, and the node has not what the other one needs',
      [web('a', { ...there, nodeName: 'm' }), web('b')],
      166,
      'unused',
    ],
    [
      'a pod that waited is elsewhere by now, and a static pod is on the node',
      [
        web('a', { ...there, nodeName: 'm' }),
        podOf('x', {}, { ...there, controller: { ...controller, kind: 'Node' } }),
        web('b'),
      ],
      166,
      'unused',
    ],
    [
      'a pod that waited is elsewhere by now, and others have its place',
      [web('a', { ...there, nodeName: 'm' }), podOf('x', {}, there), web('b')],
      166,
      'nothing',
    ],
  ])('%s', (_, pods, nowS, expected) => {
    expect(kindOf(outcomes(pods, nowS))).toBe(expected);
    expect(outcomes(pods, nowS).unused.every(({ runsOthers }) => !runsOthers)).toBe(true);
  });

  it('is open as soon as the node is there', () => {
    expect(kindOf(outcomes([web('b')], 140, [claim({ conditions: [] })]))).toBe('open');
  });

  it.each<[string, number]>([
    ['unused', 210],
    ['open', 209],
  ])('of another scheduler, which takes longer: %s', (expected, nowS) => {
    const spec = { ...web('b').spec, schedulerName: 'volcano' };
    expect(kindOf(outcomes([web('b', { spec })], nowS))).toBe(expected);
  });

  it('is in vain where nodes stand ready for more pods than wait', () => {
    const claims = ['c', 'd'].map((uid) => claim({ uid, name: uid, providerId: uid }));
    const nodes = claims.map(({ uid }) => nodeOf(uid, 2, 8, { providerId: uid }));
    expect(outcomes([fitting('a')], 166, claims, nodes).unused).toHaveLength(2);
    expect(outcomes([fitting('a'), fitting('b')], 166, claims, nodes).unused).toEqual([]);
    const [first = claim(), second = claim()] = claims;
    const left = { ...first, annotations: launchedForWeb({ hasRun: true }) };
    expect(outcomes([fitting('a')], 166, [left, second], nodes).unused).toEqual([]);
  });

  it.each<[string, Partial<NodeClaim>, readonly Pod[]]>([
    ['is being deleted', { deletedAtMs: 155 * SECOND }, []],
    ['is not ready', { conditions: [] }, []],
    ['has a pod', {}, [fitting('x', { nodeName: 'd', startedAtMs: 160 * SECOND })]],
  ])('does not count a node as ready that %s', (_, rest, more) => {
    const [c, d] = ['c', 'd'].map((uid) => claim({ uid, name: uid, providerId: uid }));
    const nodes = ['c', 'd'].map((uid) => nodeOf(uid, 2, 8, { providerId: uid }));
    const claims = [c ?? claim(), { ...(d ?? claim()), ...rest }];
    expect(outcomes([fitting('a'), ...more], 166, claims, nodes).unused).toEqual([]);
  });

  it.each<[string, Partial<NodeClaim>, readonly string[], string]>([
    ['is open while it is open', {}, ['example.com/agent'], 'open'],
    ['is nothing to one that Joiner has closed', {}, ['karpenter.sh/disrupted'], 'nothing'],
    ['is nothing to one that is being deleted', { deletedAtMs: 155 * SECOND }, [], 'nothing'],
  ])('%s, where kube-scheduler has had no time', (_, rest, keys, expected) => {
    const taints = keys.map((key): Taint => ({ key, value: '', effect: 'NoSchedule' }));
    const closed = nodeOf('n', 2, 8, { providerId: 'aws:///a/i-1', taints });
    expect(kindOf(outcomes([web('b')], 160, [claim(rest)], [closed]))).toBe(expected);
  });

  it('is none for larger pods of a Job whose planned pods are gone, and is for the same again', () => {
    const job = { controller: { ...controller, apiVersion: 'batch/v1', kind: 'Job' } };
    const groups = new PodGroups().of(podOf('any', {}, job));
    const annotations = {
      [LAUNCHED_FOR]: launchedForText('ways', groups.slice(0, 1)) ?? '',
      [PLANNED_PODS]: 'uid-a',
    };
    const starting = claim({ conditions: [], providerId: undefined, annotations });
    const found = (cpu: number) => outcomes([podOf('b', { cpu }, job)], 110, [starting], []).unused;
    expect([found(4000).length, found(1000).length]).toEqual([1, 0]);
  });

  it('is nothing where its node is gone', () => {
    expect(kindOf(outcomes([web('b')], 140, [claim({ conditions: [] })], []))).toBe('nothing');
  });

  it('is in vain where Joiner removes its node as empty while the pod waits', () => {
    const conditions = [
      ...claim().conditions,
      {
        ...({ type: 'DisruptionReason', status: 'True', message: '' } as const),
        ...{ reason: 'Empty', lastTransitionAtMs: 155 * SECOND },
      },
    ];
    expect(outcomes([fitting('b')], 156, [claim({ conditions })]).unused).toHaveLength(1);
  });

  it.each<[string, Partial<NodeClaim>, typeof node]>([
    ['its claim is deleted', { deletedAtMs: 155 * SECOND }, node],
    ['its node is deleted', {}, { ...node, deletedAtMs: 155 * SECOND }],
    ['the first of both', { deletedAtMs: 155 * SECOND }, { ...node, deletedAtMs: 160 * SECOND }],
    [
      'its node is disrupted',
      {
        conditions: ['DisruptionReason', 'Initialized'].map((type, at) => ({
          ...({ type, status: 'True', reason: type, message: '' } as const),
          lastTransitionAtMs: (155 - 5 * at) * SECOND,
        })),
      },
      node,
    ],
  ])('is nothing to pods that came later than %s', (_, rest, there) => {
    const found = (createdAtS: number) =>
      outcomes([web('b', { createdAtMs: createdAtS * SECOND })], 166, [claim(rest)], [there]);
    expect(found(155).unused).toEqual([]);
    expect(found(154).unused).toHaveLength(1);
  });

  it('takes time that grows with the cluster alone', () => {
    const claims = Array.from({ length: 2000 }, (_, at) =>
      claim({ uid: `c${at}`, name: `c${at}`, providerId: `i-${at}` }),
    );
    const nodes = claims.map(({ uid }, at) => nodeOf(uid, 2, 8, { providerId: `i-${at}` }));
    // Decoders share one object between specs that read the same.
    const { spec } = web('any');
    const pods = Array.from({ length: 40_000 }, (_, at) =>
      web(`p${at}`, { spec, nodeName: `c${at % 2000}`, startedAtMs: 151 * SECOND }),
    );
    const before = process.cpuUsage();
    expect(outcomes(pods, 190, claims, nodes).used).toHaveLength(2000);
    const { user, system } = process.cpuUsage(before);
    // 2,000 times 40,000 looks take more than a second.
    expect((user + system) / 1000).toBeLessThan(700);
  });

  it('is none where all pods of its plan were gone before the node came, and others wait', () => {
    const starting = claim({ conditions: [], providerId: undefined });
    const planned = (uids: string) => ({
      ...starting,
      annotations: { ...starting.annotations, [PLANNED_PODS]: uids },
    });
    const larger = podOf('b', { cpu: 4000 }, { controller });
    expect(outcomes([larger], 110, [planned('uid-a')], []).unused).toHaveLength(1);
    expect(outcomes([larger], 110, [planned('uid-a,uid-b')], []).unused).toHaveLength(0);
    const over = podOf('a', {}, { phase: 'Succeeded' });
    expect(outcomes([larger, over], 110, [planned('uid-a')], []).unused).toHaveLength(1);
    // For the same again the node is on its way.
    expect(outcomes([web('b')], 110, [planned('uid-a')], []).unused).toHaveLength(0);
    const joined = { ...planned('uid-a'), ...claim(), annotations: planned('uid-a').annotations };
    expect(kindOf(outcomes([larger], 160, [joined]))).toBe('open');
  });
});

describe('what came of a launch on whose node a pod has run for a while', () => {
  const ran = claim({ annotations: launchedForWeb({ hasRun: true }) });
  const onNode = { nodeName: 'n', startedAtMs: 100 * SECOND };
  const condition = { status: 'True', message: '' } as const;
  const closing = (reason: string): readonly NodeClaim[] => [
    {
      ...ran,
      conditions: [
        ...ran.conditions,
        { ...condition, type: 'DisruptionReason', reason, lastTransitionAtMs: 300 * SECOND },
      ],
    },
  ];
  const waits = web('b', { createdAtMs: 200 * SECOND });
  const elsewhere = { phase: 'Running', nodeName: 'm', startedAtMs: 210 * SECOND } as const;
  const going = web('a', { ...onNode, startedAtMs: 151 * SECOND, deletedAtMs: 290 * SECOND });

  it.each<[string, readonly Pod[], number, readonly NodeClaim[], typeof node, string]>([
    ['it lacks something, and stands idle', [waits], 215, [ran], node, 'unused'],
    ['the same, and a pod waits for a moment only', [waits], 214, [ran], node, 'open'],
    [
      'the same, and the pod is on another node by now',
      [{ ...waits, ...elsewhere }],
      215,
      [ran],
      node,
      'unused',
    ],
    [
      'it lacks nothing: a crash, a short Job, a scale to zero',
      [fitting('b', { createdAtMs: 200 * SECOND })],
      300,
      [ran],
      node,
      'open',
    ],
    ['others run there', [podOf('x', {}, onNode), waits], 300, [ran], node, 'nothing'],
    ['a pod of it is on its way out', [going, waits], 300, [ran], node, 'open'],
    ['it is interrupted or drifted', [waits], 301, closing('Drifted'), node, 'nothing'],
    ['Joiner removes it as empty', [waits], 301, closing('Empty'), node, 'unused'],
    [
      'Joiner removes it, and the pod came later',
      [web('b', { createdAtMs: 300 * SECOND })],
      320,
      closing('Empty'),
      node,
      'nothing',
    ],
    [
      'the same, and the pod would fit',
      [{ ...waits, spec: fitting('b').spec }],
      301,
      closing('Empty'),
      node,
      'unused',
    ],
    [
      'the same, and the pod is on another node by now',
      [{ ...waits, ...elsewhere }],
      301,
      closing('Empty'),
      node,
      'unused',
    ],
    [
      'the same, and that pod would fit',
      [{ ...waits, ...elsewhere, spec: fitting('b').spec }],
      301,
      closing('Empty'),
      node,
      'settled',
    ],
    ['Joiner removes it, and no pod waits', [], 300, closing('Empty'), node, 'settled'],
    ['its pods are gone since', [], 749, [ran], node, 'nothing'],
    ['its pods are gone, and it has been there for 10 minutes', [], 750, [ran], node, 'settled'],
  ])('%s', (_, pods, nowS, claims, there, expected) => {
    expect(kindOf(outcomes(pods, nowS, [...claims], [there]))).toBe(expected);
  });

  it.each([
    ['node.kubernetes.io/unschedulable', 'nothing'],
    ['node.kubernetes.io/not-ready', 'nothing'],
    ['node.kubernetes.io/unreachable', 'nothing'],
    ['node.kubernetes.io/out-of-service', 'nothing'],
    ['node.cloudprovider.kubernetes.io/shutdown', 'nothing'],
    ['example.com/agent', 'unused'],
  ])('goes by who keeps pods away: %s', (key, expected) => {
    const taint: Taint = { key, value: '', effect: 'NoSchedule' };
    const closed = nodeOf('n', 2, 8, { providerId: 'aws:///a/i-1', taints: [taint] });
    expect(kindOf(outcomes([waits], 300, [ran], [closed]))).toBe(expected);
  });

  it('is as if it had been noted where the pod is still on its way out', () => {
    const pods = [{ ...going, deletedAtMs: 230 * SECOND }, waits];
    expect(kindOf(outcomes(pods, 205))).toBe('open');
    const short = { ...going, deletedAtMs: 205 * SECOND };
    expect(kindOf(outcomes([short, waits], 205))).toBe('unused');
    // It was told to go 30 s after it had started, or a second before that.
    const told = (deletedAtS: number) => ({ ...going, deletedAtMs: deletedAtS * SECOND });
    expect(kindOf(outcomes([told(211), waits], 205))).toBe('open');
    expect(kindOf(outcomes([told(210), waits], 205))).toBe('unused');
    // Deleted with a grace period of its own, a second.
    expect(kindOf(outcomes([{ ...short, deletionGraceSeconds: 1 }, waits], 205))).toBe('open');
  });

  it('is open while a pod may have left a moment ago', () => {
    const annotations = { ...ran.annotations, [PODS_HASH]: 'other' };
    expect(kindOf(outcomes([waits], 300, [{ ...ran, annotations }]))).toBe('open');
  });

  it('stays in vain once it was', () => {
    const annotations = launchedForWeb({ hasRun: true, isVain: true });
    const [closed] = closing('Empty');
    const claims = [{ ...(closed ?? ran), annotations }];
    expect(kindOf(outcomes([], 301, claims))).toBe('nothing');
    const late = { ...onNode, startedAtMs: 310 * SECOND };
    expect(kindOf(outcomes([web('a', late)], 911, claims))).toBe('settled');
  });
});
