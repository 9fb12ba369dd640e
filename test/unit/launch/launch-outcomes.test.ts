import { describe, expect, it } from 'vitest';
import { launchOutcomes } from '../../../shared/core/launch/launch-outcomes.ts';
import { launchedForText, PodGroups } from '../../../shared/core/launch/pod-groups.ts';
import { LAUNCHED_FOR, PLANNED_PODS, PODS_HASH } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { Taint } from '../../../shared/core/model/taint.ts';
import { claimOf, nodeOf, podOf } from '../../builders/scheduling.ts';

const SECOND = 1000;
const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web' };
/** Selects nodes that the node of the claim is none of. */
const nodeSelector = { team: 'a' };
const web = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, { nodeSelector }, { controller, createdAtMs: 100 * SECOND, ...rest });
const inTeam = { key: 'team', operator: 'In', values: ['a'] } as const;
const port = { ip: '', port: 80, protocol: 'TCP' };
/** For these the node lacks nothing. */
const fitting = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, {}, { controller, createdAtMs: 100 * SECOND, ...rest });

function launchedForWeb(marks = {}): Readonly<Record<string, string>> {
  const groups = new PodGroups().of(web('any')).map((group) => ({ ...group, ...marks }));
  return { [LAUNCHED_FOR]: launchedForText('ways', groups) ?? '' };
}

/** Written at 100 s for the pods of the ReplicaSet; its node has joined at 150 s. */
function claim(rest: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('c', {
    createdAtMs: 100 * SECOND,
    providerId: 'aws:///a/i-1',
    annotations: launchedForWeb(),
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        reason: 'Initialized',
        message: '',
        lastTransitionAtMs: 150 * SECOND,
      },
    ],
    ...rest,
  });
}

const node = nodeOf('n', 2, 8, { providerId: 'aws:///a/i-1' });
const there = { nodeName: 'n', startedAtMs: 151 * SECOND };

function outcomes(pods: readonly Pod[], nowS = 160, nodeClaims = [claim()], nodes = [node]) {
  return launchOutcomes({ nodeClaims, nodes, pods }, new PodGroups(), nowS * SECOND);
}

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
    ['a pod has run there for 10 minutes', [web('a', there), web('b')], 752, 'settled'],
    ['a pod has ended', [web('a', { ...there, phase: 'Succeeded' }), web('b')], 160, 'settled'],
    ['a pod waits, and none is there', [web('b')], 166, 'unused'],
    ['a pod waits that fits, as of a gang', [fitting('b')], 1300, 'open'],
    ['the same, and nobody comes for long', [fitting('b')], 1400, 'nothing'],
    ['a pod waits, and that which was there is on its way out', [gone, web('b')], 160, 'unused'],
    ['the same, and the node has just joined', [gone, web('b')], 151, 'unused'],
    ['the same, and the node does for it', [gone, fitting('b')], 160, 'open'],
    ['a pod waits, and kube-scheduler has had no time', [web('b')], 164, 'open'],
    ['no pod waits', [], 166, 'nothing'],
    ['other pods wait', [podOf('x')], 166, 'nothing'],
    ['its node runs a DaemonSet', [daemon, web('b')], 166, 'unused'],
    [
      'a pod that waited is elsewhere by now, and the node has not what the other one needs',
      [web('a', { ...there, nodeName: 'm' }), web('b')],
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
    expect(found(156).unused).toEqual([]);
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

  it('counts as of some use where others run there', () => {
    const [found] = outcomes([podOf('x', {}, { nodeName: 'n' }), web('b')], 166).unused;
    expect(found?.runsOthers).toBe(true);
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
    // For the same again the node is on its way.
    expect(outcomes([web('b')], 110, [planned('uid-a')], []).unused).toHaveLength(0);
  });

  it.each<[string, Parameters<typeof nodeOf>[3], readonly Pod[], Partial<PodSpec>, string]>([
    [
      'a taint',
      { taints: [{ key: 'agent', value: '', effect: 'NoSchedule' }] },
      [],
      {},
      'the taint agent:NoSchedule is not tolerated',
    ],
    [
      'too few resources',
      {},
      [podOf('d', { cpu: 1500 }, { nodeName: 'n' })],
      {},
      '500m cpu free of 1 requested',
    ],
    ['a label', {}, [], { nodeSelector }, 'no label team'],
    [
      'node affinity',
      {},
      [],
      { requiredNodeAffinity: [{ matchExpressions: [inTeam], matchFields: [] }] },
      'its labels do not meet the node affinity',
    ],
    [
      'a host port',
      {},
      [podOf('d', { hostPorts: [port] }, { nodeName: 'n' })],
      { hostPorts: [port] },
      'a host port is taken',
    ],
  ])('says what the node lacks: %s', (_, rest, more, spec, lacks) => {
    const other = nodeOf('n', 2, 8, { ...rest, providerId: 'aws:///a/i-1' });
    const pod = podOf('b', spec, { controller });
    const [found] = outcomes([...more, pod], 166, [claim()], [other]).unused;
    expect(found?.lacks).toBe(lacks);
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
  const drained = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };
  const cordoned = nodeOf('n', 2, 8, { providerId: 'aws:///a/i-1', taints: [drained as Taint] });
  const waits = web('b', { createdAtMs: 200 * SECOND });
  const going = web('a', { ...onNode, startedAtMs: 151 * SECOND, deletedAtMs: 290 * SECOND });

  it.each<[string, readonly Pod[], number, readonly NodeClaim[], typeof node, string]>([
    ['it lacks something, and stands idle', [waits], 215, [ran], node, 'unused'],
    ['the same, and a pod waits for a moment only', [waits], 214, [ran], node, 'open'],
    [
      'the same, and the pod is on another node by now',
      [{ ...waits, phase: 'Running', nodeName: 'm', startedAtMs: 210 * SECOND }],
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
    ['somebody drains it', [waits], 300, [ran], cordoned, 'nothing'],
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
    ['Joiner removes it, and no pod waits', [], 301, closing('Empty'), node, 'settled'],
    ['its pods are gone since', [], 749, [ran], node, 'nothing'],
    ['its pods are gone, and it has been there for 10 minutes', [], 750, [ran], node, 'settled'],
  ])('%s', (_, pods, nowS, claims, there, expected) => {
    expect(kindOf(outcomes(pods, nowS, [...claims], [there]))).toBe(expected);
  });

  it('is as if it had been noted where the pod is still on its way out', () => {
    const pods = [{ ...going, deletedAtMs: 230 * SECOND }, waits];
    expect(kindOf(outcomes(pods, 205))).toBe('open');
    const short = { ...going, deletedAtMs: 205 * SECOND };
    expect(kindOf(outcomes([short, waits], 205))).toBe('unused');
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
