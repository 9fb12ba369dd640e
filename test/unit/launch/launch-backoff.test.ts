import { describe, expect, it } from 'vitest';
import { backedOffPods, backoffMessage } from '../../../shared/core/launch/launch-backoff.ts';
import {
  launchedFor,
  launchedForText,
  launchWays,
  PodGroups,
} from '../../../shared/core/launch/pod-groups.ts';
import {
  launchOutcomes,
  type UnusedLaunch,
  withOutcomes,
} from '../../../shared/core/launch/unused-launches.ts';
import { LAUNCHED_FOR, PLANNED_PODS } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, daemonSetOf, nodeOf, podOf, poolOf } from '../../builders/scheduling.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const controller = { kind: 'ReplicaSet', name: 'web', uid: 'web' };
const web = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, {}, { controller, createdAtMs: 100 * SECOND, ...rest });

function groupOf(pod: Pod): string {
  return new PodGroups().of(pod)[0]?.id ?? '';
}

/** Written at 100 s for the pods of the ReplicaSet; its node has joined at 150 s. */
function claim(rest: Partial<NodeClaim> = {}): NodeClaim {
  const text = launchedForText('ways', [groupOf(web('any'))]) ?? '';
  return claimOf('c', {
    createdAtMs: 100 * SECOND,
    providerId: 'aws:///a/i-1',
    annotations: { [LAUNCHED_FOR]: text },
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

describe('what came of a launch', () => {
  const gone = web('a', { nodeName: 'n', deletedAtMs: 1 });
  const daemon = podOf(
    'd',
    {},
    { nodeName: 'n', controller: { ...controller, kind: 'DaemonSet' } },
  );
  it.each<[string, readonly Pod[], number, 'unused' | 'used' | 'settled' | 'open']>([
    ['a pod runs on its node', [web('a', there), web('b')], 160, 'used'],
    ['a pod has run there for 30 s', [web('a', there), web('b')], 181, 'settled'],
    [
      'a pod has ended there',
      [web('a', { ...there, phase: 'Succeeded' }), web('b')],
      160,
      'settled',
    ],
    ['a pod waits, and none is there', [web('b')], 160, 'unused'],
    ['a pod waits, and that which was there is on its way out', [gone, web('b')], 160, 'unused'],
    ['the same, and the node has just joined', [gone, web('b')], 151, 'unused'],
    ['a pod waits, and kube-scheduler has had no time', [web('b')], 153, 'open'],
    ['no pod waits', [], 160, 'open'],
    ['other pods wait', [podOf('x')], 160, 'open'],
    [
      'a pod that waited is elsewhere by now',
      [web('a', { ...there, nodeName: 'm' }), web('b')],
      160,
      'settled',
    ],
    ['its node runs a DaemonSet', [daemon, web('b')], 160, 'unused'],
  ])('%s', (_, pods, nowS, expected) => {
    const { unused, used } = outcomes(pods, nowS);
    const [first] = used;
    const found = first?.isSettled === true ? 'settled' : first === undefined ? 'open' : 'used';
    expect(unused.length > 0 ? 'unused' : found).toBe(expected);
    expect(unused.every(({ runsOthers }) => !runsOthers)).toBe(true);
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
      outcomes([web('b', { createdAtMs: createdAtS * SECOND })], 160, [claim(rest)], [there]);
    expect(found(156).unused).toEqual([]);
    expect(found(154).unused).toHaveLength(1);
  });

  it('takes time that grows with the cluster alone', () => {
    const claims = Array.from({ length: 2000 }, (_, at) =>
      claim({ uid: `c${at}`, name: `c${at}`, providerId: `i-${at}` }),
    );
    const nodes = claims.map(({ uid }, at) => nodeOf(uid, 2, 8, { providerId: `i-${at}` }));
    const pods = Array.from({ length: 40_000 }, (_, at) =>
      web(`p${at}`, { nodeName: `c${at % 2000}`, startedAtMs: 151 * SECOND }),
    );
    const startedAtMs = performance.now();
    expect(outcomes(pods, 160, claims, nodes).used).toHaveLength(2000);
    // 2,000 times 40,000 looks take more than a second.
    expect(performance.now() - startedAtMs).toBeLessThan(500);
  });

  it('counts as of some use where others run there', () => {
    const [found] = outcomes([podOf('x', {}, { nodeName: 'n' }), web('b')]).unused;
    expect(found?.runsOthers).toBe(true);
  });

  it('is none where all pods of its plan were gone before the node came', () => {
    const starting = claim({ conditions: [], providerId: undefined });
    const planned = (uids: string) => ({
      ...starting,
      annotations: { ...starting.annotations, [PLANNED_PODS]: uids },
    });
    expect(outcomes([web('b')], 110, [planned('uid-a')], []).unused).toHaveLength(1);
    expect(outcomes([web('b')], 110, [planned('uid-a,uid-b')], []).unused).toHaveLength(0);
  });

  it.each<[string, Parameters<typeof nodeOf>[3], readonly Pod[], string]>([
    [
      'a taint',
      { taints: [{ key: 'agent', value: '', effect: 'NoSchedule' }] },
      [],
      'the taint agent:NoSchedule is not tolerated',
    ],
    [
      'too few resources',
      {},
      [podOf('d', { cpu: 1500 }, { nodeName: 'n' })],
      '500m cpu free of 1 requested',
    ],
    ['nothing that can be seen', {}, [], 'its pod was not bound to it'],
  ])('says what the node lacks: %s', (_, rest, more, lacks) => {
    const other = nodeOf('n', 2, 8, { ...rest, providerId: 'aws:///a/i-1' });
    const [found] = outcomes([...more, web('b')], 160, [claim()], [other]).unused;
    expect(found?.lacks).toBe(lacks);
  });

  it('says which label the node lacks', () => {
    const picky = podOf('b', { nodeSelector: { team: 'a' } }, { controller });
    expect(outcomes([picky]).unused[0]?.lacks).toBe('no label team');
  });
});

function vain(number: number, rest: Partial<UnusedLaunch> = {}): UnusedLaunch {
  return {
    group: groupOf(web('any')),
    claim: `c${number}`,
    uid: `u${number}`,
    createdAtMs: number * SECOND,
    ways: 'ways',
    runsOthers: false,
    lacks: 'no label team',
    ...rest,
  };
}

describe('what is remembered of launches in vain', () => {
  it('is the newest first, each once', () => {
    const found = withOutcomes([vain(1)], { unused: [vain(2), vain(1)], used: [] }, 3 * SECOND);
    expect(found.map(({ claim }) => claim)).toEqual(['c2', 'c1']);
  });

  it('is the same list where nothing is new', () => {
    const before = [vain(2), vain(1)];
    expect(withOutcomes(before, { unused: [vain(1)], used: [] }, 3 * SECOND)).toBe(before);
  });

  it('is forgotten up to a launch that helped', () => {
    const used = [{ group: vain(0).group, uid: 'x', createdAtMs: 2 * SECOND, isSettled: false }];
    const found = withOutcomes([vain(3), vain(2), vain(1)], { unused: [], used }, 4 * SECOND);
    expect(found.map(({ claim }) => claim)).toEqual(['c3']);
  });

  it('is bounded', () => {
    const many = Array.from({ length: 40 }, (_, at) => vain(at + 1));
    expect(withOutcomes([], { unused: many, used: [] }, 50 * SECOND)).toHaveLength(12);
    expect(withOutcomes([vain(1)], { unused: [], used: [] }, 100 * HOUR)).toEqual([]);
  });

  it('keeps of many at once enough of each time', () => {
    const at = (hour: number) =>
      Array.from({ length: 30 }, (_, each) => vain(hour * 3600, { uid: `${hour}-${each}` }));
    const found = withOutcomes([...at(1), ...at(2)], { unused: at(5), used: [] }, 6 * HOUR);
    expect(found).toHaveLength(12);
    expect([...new Set(found.map(({ createdAtMs }) => createdAtMs / HOUR))]).toEqual([5, 2, 1]);
  });

  it('keeps those of the newest way first', () => {
    const old = Array.from({ length: 20 }, (_, at) => vain(at * 3600, { ways: 'old' }));
    const found = withOutcomes(old, { unused: [vain(72_002), vain(72_001)], used: [] }, 21 * HOUR);
    expect(found).toHaveLength(12);
    expect(found.filter(({ ways }) => ways === 'ways')).toHaveLength(2);
  });

  it('holds each of very many groups', () => {
    const pods = Array.from({ length: 2000 }, (_, at) => podOf(`p${at}`));
    let launches: readonly UnusedLaunch[] = [];
    for (const number of [1, 2]) {
      const unused = pods.map((pod) =>
        vain(number, { group: groupOf(pod), uid: `${number}-${pod.name}` }),
      );
      launches = withOutcomes(launches, { unused, used: [] }, 3 * SECOND);
    }
    const held = backedOffPods(pods, launches, new PodGroups(), 'ways', 4 * SECOND);
    expect(held.size).toBe(pods.length);
  });
});

function untilS(launches: readonly UnusedLaunch[], nowS = 10, ways = 'ways'): number | undefined {
  const found = backedOffPods([web('b')], launches, new PodGroups(), ways, nowS * SECOND);
  const backoff = found.get('default/b');
  return backoff === undefined ? undefined : backoff.untilMs / SECOND;
}

describe('a pod is backed off', () => {
  const others = { runsOthers: true };
  it.each<[string, readonly UnusedLaunch[], number | undefined]>([
    ['not after one launch in vain', [vain(1)], undefined],
    ['for an hour after two', [vain(2), vain(1)], 3602],
    ['for an hour after many at once', Array.from({ length: 12 }, () => vain(2)), 3602],
    ['for two hours after another try', [vain(3603), vain(2), vain(1)], 3603 + 7200],
    [
      'for four after two, of many each',
      [vain(20_000), vain(20_000), vain(3603), vain(3603), vain(2), vain(1)],
      20_000 + 14_400,
    ],
    ['not after two that others use', [vain(2, others), vain(1, others)], undefined],
    ['after three that others use', [vain(3, others), vain(2, others), vain(1, others)], 3603],
    ['after one of each', [vain(2, others), vain(1)], 3602],
  ])('%s', (_, launches, until) => {
    expect(untilS(launches)).toBe(until);
  });

  it('until the time is over, or somebody changes what can be launched', () => {
    expect(untilS([vain(2), vain(1)], 3601)).toBe(3602);
    expect(untilS([vain(2), vain(1)], 3602)).toBeUndefined();
    expect(untilS([vain(2), vain(1)], 10, 'other')).toBeUndefined();
  });

  it('with all pods of its owner and template, and no others', () => {
    const sets = { kind: 'StatefulSet', name: 'db', uid: 'web' };
    const pods = [
      web('b'),
      web('c', { labels: { app: 'else' } }),
      podOf('alone'),
      web('d', { controller: { ...controller, uid: 'other' } }),
      web('e', { controller: sets, labels: { 'controller-revision-hash': '2' } }),
    ];
    const found = backedOffPods(pods, [vain(2), vain(1)], new PodGroups(), 'ways', 10 * SECOND);
    expect([...found.keys()]).toEqual(['default/b', 'default/c']);
  });

  it('with a reason that names what was tried', () => {
    const message = backoffMessage({ untilMs: 3602 * SECOND, launches: [vain(2), vain(1)] });
    expect(message).toMatchInlineSnapshot(
      `"2 NodeClaims were launched for it or pods of the same owner, joined, and it still waits: c2 (no label team), c1 (no label team). No more are launched for it before 1970-01-01T01:00:02.000Z, or until a NodePool, an EC2NodeClass, a DaemonSet or its template changes"`,
    );
  });
});

describe('groups of pods', () => {
  it('are by shape and by owner where an owner has pods of many templates', () => {
    const workflow = { kind: 'Workflow', name: 'w', uid: 'w' };
    const groups = new PodGroups();
    const [small, large] = [1000, 2000].map((cpu) =>
      groups.of(podOf(`p${cpu}`, { cpu }, { controller: workflow })),
    );
    expect(small?.[0]?.id).not.toBe(large?.[0]?.id);
    expect(small?.[1]).toEqual(large?.[1]);
    expect(small?.map(({ vainMax }) => vainMax)).toEqual([3, 9]);
  });

  it('are read back from the annotation', () => {
    const text = launchedForText('w', ['a', 'b', 'a']) ?? '';
    expect(launchedFor({ annotations: { [LAUNCHED_FOR]: text } })).toEqual({
      ways: 'w',
      ids: ['a', 'b'],
    });
    expect(launchedForText('w', [])).toBeUndefined();
  });

  it('are tried in other ways once people change what nodes are', () => {
    const daemonSets = [daemonSetOf('agent', podOf('d').spec, { templateGeneration: '1' })];
    const pools = [poolOf('a'), poolOf('b')];
    const ways = launchWays({ nodePools: pools, daemonSets }, []);
    expect(launchWays({ nodePools: [...pools].reverse(), daemonSets }, [])).toBe(ways);
    const limited = pools.map((pool) => ({ ...pool, limits: { cpu: 1 } }));
    expect(launchWays({ nodePools: limited, daemonSets }, [])).toBe(ways);
    expect(launchWays({ nodePools: pools.slice(1), daemonSets }, [])).not.toBe(ways);
    expect(launchWays({ nodePools: pools, daemonSets: [] }, [])).not.toBe(ways);
  });
});
