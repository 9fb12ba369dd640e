import { describe, expect, it } from 'vitest';
import { sentence } from '../../../shared/core/explain/reason.ts';
import {
  backedOffPods,
  backoffReason,
  type KnownLaunches,
  type LaunchBackoff,
} from '../../../shared/core/launch/launch-backoff.ts';
import {
  launchedFor,
  launchedForText,
  launchWays,
  PodGroups,
  tryText,
} from '../../../shared/core/launch/pod-groups.ts';
import { type UnusedLaunch, withOutcomes } from '../../../shared/core/launch/unused-launches.ts';
import { LAUNCHED_FOR, RETRY_LAUNCH } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { daemonSetOf, podOf, poolOf } from '../../builders/scheduling.ts';

const SECOND = 1000;
const HOUR = 3_600_000;
const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web' };
const web = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, {}, { controller, createdAtMs: 100 * SECOND, ...rest });

const REVISION = 'controller-revision-hash';

function groupOf(pod: Pod): string {
  return new PodGroups().of(pod)[0]?.id ?? '';
}

/** How a pod is tried when this can be launched. */
function way(pod: Pod, ways = 'ways'): string {
  const [group] = new PodGroups().of(pod);
  return group === undefined ? '' : tryText(ways, group);
}

function held(
  pods: readonly Pod[],
  unused: readonly UnusedLaunch[],
  nowMs: number,
  rest: Partial<KnownLaunches> = {},
): ReadonlyMap<string, LaunchBackoff> {
  const known = { unused, used: [], open: [], ways: 'ways', ...rest };
  return backedOffPods(pods, known, new PodGroups(), nowMs);
}

function vain(number: number, rest: Partial<UnusedLaunch> = {}): UnusedLaunch {
  return {
    group: groupOf(web('any')),
    claim: `c${number}`,
    uid: `u${number}`,
    createdAtMs: number * SECOND,
    ways: way(web('any')),
    runsOthers: false,
    hasRun: false,
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
    const use = { group: vain(0).group, uid: 'x', createdAtMs: 2 * SECOND };
    const withUse = (isSettled: boolean) => {
      const used = [{ ...use, isSettled }];
      return withOutcomes([vain(3), vain(2), vain(1)], { unused: [], used }, 4 * SECOND);
    };
    expect(withUse(true).map(({ claim }) => claim)).toEqual(['c3']);
    expect(withUse(false).map(({ claim }) => claim)).toEqual(['c3', 'c2', 'c1']);
  });

  it('is bounded', () => {
    const many = Array.from({ length: 40 }, (_, at) => vain(at + 1));
    expect(withOutcomes([], { unused: many, used: [] }, 50 * SECOND)).toHaveLength(24);
    expect(withOutcomes([vain(1)], { unused: [], used: [] }, 100 * HOUR)).toEqual([]);
  });

  it('keeps of many at once enough of each time', () => {
    const at = (hour: number) =>
      Array.from({ length: 30 }, (_, each) => vain(hour * 3600, { uid: `${hour}-${each}` }));
    const found = withOutcomes([...at(1), ...at(2)], { unused: at(5), used: [] }, 6 * HOUR);
    expect(found).toHaveLength(24);
    expect([...new Set(found.map(({ createdAtMs }) => createdAtMs / HOUR))]).toEqual([5, 2, 1]);
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
    expect(held(pods, launches, 4 * SECOND).size).toBe(pods.length);
  });
});

function untilS(
  launches: readonly UnusedLaunch[],
  nowS = 10,
  rest: Partial<KnownLaunches> = {},
): number | undefined {
  const backoff = held([web('b')], launches, nowS * SECOND, rest).get('default/b');
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

  it('until the time is over', () => {
    expect(untilS([vain(2), vain(1)], 3601)).toBe(3602);
    expect(untilS([vain(2), vain(1)], 3602)).toBeUndefined();
  });

  it('beyond the time while the node of another try has just come', () => {
    const open = [{ group: vain(0).group, claim: 'c3', isDoubtful: false, runsOthers: false }];
    const [backoff] = held([web('b')], [vain(2), vain(1)], 3602 * SECOND, { open }).values();
    expect(backoff?.trying).toEqual(['c3']);
    expect(backoff && sentence(backoffReason(backoff))).toContain(
      'until it is seen whether c3 help',
    );
    // Before two were in vain, a pod does not wait for the next, unless that lacks something too.
    expect(held([web('b')], [vain(1)], 10 * SECOND, { open }).size).toBe(0);
    const doubtful = open.map((each) => ({ ...each, isDoubtful: true }));
    expect(held([web('b')], [vain(1)], 10 * SECOND, { open: doubtful }).size).toBe(1);
    expect(held([web('b')], [], 10 * SECOND, { open: doubtful }).size).toBe(0);
    const two = [...doubtful, ...doubtful];
    expect(held([web('b')], [], 10 * SECOND, { open: two }).size).toBe(1);
  });

  it('less one try for each change of what can be launched, three in a wait', () => {
    const changed = (number: number, seconds: number) =>
      vain(seconds, { ways: way(web('b'), `ways${number}`) });
    const tried = [vain(2), vain(1)];
    expect(untilS(tried, 10, { ways: 'ways1' })).toBeUndefined();
    const first = [changed(1, 100), ...tried];
    expect(untilS(first, 110, { ways: 'ways1' })).toBe(3700);
    // Back as it was: that was tried.
    expect(untilS(first, 110)).toBe(3700);
    const third = [changed(3, 300), changed(2, 200), ...first];
    expect(untilS(third, 310, { ways: 'ways4' })).toBe(3900);
    // The next wait has tries of its own.
    expect(untilS([changed(4, 3900), ...third], 3910, { ways: 'ways5' })).toBeUndefined();
    expect(untilS([changed(4, 3900), ...third], 3910, { ways: 'ways4' })).toBe(3900 + 7200);
  });

  it('less one try where pods are not what they were', () => {
    const smaller = web('b', { spec: podOf('s', { cpu: 500 }).spec });
    expect(held([smaller], [vain(2), vain(1)], 10 * SECOND).size).toBe(0);
    const tried = [vain(3, { ways: way(smaller) }), vain(2), vain(1)];
    expect(held([smaller], tried, 10 * SECOND).size).toBe(1);
  });

  it('less one try for each value of the annotation', () => {
    const asking = (value: string) => web('b', { annotations: { [RETRY_LAUNCH]: value } });
    const wait = [vain(2), vain(1)];
    expect(held([asking('1'), web('c')], wait, 10 * SECOND).size).toBe(1);
    const tried = [vain(3, { ways: way(asking('1')) }), ...wait];
    expect(held([asking('1')], tried, 10 * SECOND).size).toBe(1);
    expect(held([asking('2')], tried, 10 * SECOND).size).toBe(0);
    const many = Array.from({ length: 10 }, (_, at) =>
      vain(20 - at, { ways: way(asking(`${at}`)) }),
    );
    expect(held([asking('more')], [...many, ...wait], 30 * SECOND).size).toBe(1);
  });

  it('not while its like have run for a while on a node that came later', () => {
    const used = [{ group: vain(0).group, uid: 'x', createdAtMs: 2 * SECOND, isSettled: false }];
    const launches = [vain(2), vain(1)];
    expect(untilS(launches, 10, { used })).toBeUndefined();
    // Where pods lose their places after a while, that proves nothing.
    expect(untilS([vain(2, { hasRun: true }), vain(1)], 10, { used })).toBe(3602);
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
    const found = held(pods, [vain(2), vain(1)], 10 * SECOND);
    expect([...found.keys()]).toEqual(['default/b', 'default/c']);
  });

  it('with a reason that names what was tried', () => {
    const message = sentence(
      backoffReason({ untilMs: 3602 * SECOND, launches: [vain(2), vain(1)] }),
    );
    expect(message).toMatchInlineSnapshot(
      `"no NodeClaim is launched for it before 1970-01-01T01:00:02.000Z: 2 were launched for it or pods like it, joined, and it still waits: c2 (no label team), c1 (no label team). One is launched earlier if the pod, a NodePool, an EC2NodeClass or a DaemonSet changes, or if the annotation joiner.dev/retry-launch of the pod gets a new value"`,
    );
  });
});

describe('groups of pods', () => {
  const of = (name: string, owner: Pod['controller'], cpu = 1000, rest: Partial<Pod> = {}) =>
    new PodGroups().of(podOf(name, { cpu }, { ...rest, controller: owner }));
  const limits = (groups: ReturnType<typeof of>) => groups.map(({ vainMax }) => vainMax);
  const ids = (groups: ReturnType<typeof of>) => groups.map(({ id }) => id);

  it('are by shape and by owner where an owner has pods of many templates', () => {
    const workflow = { kind: 'Workflow', name: 'w', uid: 'w' };
    const [small, large] = [of('a', workflow, 1000), of('b', workflow, 2000)];
    expect(small[0]?.id).not.toBe(large[0]?.id);
    expect(small[1]?.id).toEqual(large[1]?.id);
    expect(limits(small)).toEqual([3, 9, 9]);
  });

  it('are by namespace and shape too where each pod may have an owner of its own', () => {
    const job = (uid: string) => ({ apiVersion: 'batch/v1', kind: 'Job', name: uid, uid });
    const [first, second] = [of('a', job('1')), of('b', job('2'))];
    expect(first[0]?.id).not.toBe(second[0]?.id);
    expect(first[1]).toEqual(second[1]);
    expect(limits(first)).toEqual([3, 9]);
    expect(of('c', undefined)[1]).toEqual(first[1]);
    expect(of('d', undefined, 2000)[1]?.id).not.toBe(first[1]?.id);
    expect(of('e', undefined, 1000, { namespace: 'other' })[1]?.id).not.toBe(first[1]?.id);
  });

  it('go by the kinds of Kubernetes, not by those of others that have their names', () => {
    const job = { apiVersion: 'batch.volcano.sh/v1alpha1', kind: 'Job', name: 'v', uid: 'v' };
    const [master, worker] = [of('master', job, 1000), of('worker', job, 2000)];
    expect(master[0]?.id).not.toBe(worker[0]?.id);
    expect(limits(master)).toEqual([3, 9, 9]);
    const core = { apiVersion: 'v1', kind: 'ReplicationController', name: 'r', uid: 'r' };
    expect(limits(of('a', core))).toEqual([3]);
  });

  it('are each pod of a StatefulSet, and all of them', () => {
    const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'db' };
    const revision = (name: string, of: string) => ({ labels: { [REVISION]: of }, name });
    const pods = [
      of('db-0', set, 1000, revision('db-0', '1')),
      of('db-1', set, 1000, revision('db-1', '1')),
      of('db-0', set, 1000, revision('db-0', '2')),
    ];
    expect(new Set(pods.map((groups) => groups[0]?.id)).size).toBe(3);
    expect(pods[0]?.[1]).toEqual(pods[1]?.[1]);
    expect(ids(pods[1] ?? [])).not.toContain(pods[2]?.[1]?.id);
    expect(limits(pods[0] ?? [])).toEqual([3, 9]);
  });

  it('are read back from the annotation', () => {
    const a = { id: 'a', look: '', retry: '' };
    const b = { id: 'b', look: 'l', retry: '' };
    const c = { id: 'c', look: '', retry: 'r' };
    const text = launchedForText('w', [a, { ...b, hasRun: true }, a, c]) ?? '';
    expect(text).toBe('w a b.l+ c..r');
    const fresh = { hasRun: false, isVain: false };
    expect(launchedFor({ annotations: { [LAUNCHED_FOR]: text } })).toEqual({
      ways: 'w',
      groups: [
        { ...a, ...fresh },
        { ...b, ...fresh, hasRun: true },
        { ...c, ...fresh },
      ],
    });
    const vainly = { ...b, hasRun: true, isVain: true };
    const annotations = { [LAUNCHED_FOR]: launchedForText('w', [vainly]) ?? '' };
    expect(launchedFor({ annotations }).groups).toEqual([vainly]);
    expect(launchedForText('w', [])).toBeUndefined();
  });

  it('are tried in other ways once people change what nodes are', () => {
    const set = daemonSetOf('agent', podOf('d').spec, { templateGeneration: '1' });
    const daemonSets = [set];
    const pools = [poolOf('a'), poolOf('b')];
    const ways = launchWays({ nodePools: pools, daemonSets }, []);
    expect(launchWays({ nodePools: [...pools].reverse(), daemonSets }, [])).toBe(ways);
    const limited = pools.map((pool) => ({ ...pool, limits: { cpu: 1 } }));
    expect(launchWays({ nodePools: limited, daemonSets }, [])).toBe(ways);
    expect(launchWays({ nodePools: pools.slice(1), daemonSets }, [])).not.toBe(ways);
    expect(launchWays({ nodePools: pools, daemonSets: [] }, [])).not.toBe(ways);
    // As a LimitRange has it.
    const larger = [{ ...set, podSpec: podOf('d', { cpu: 2000 }).spec }];
    expect(launchWays({ nodePools: pools, daemonSets: larger }, [])).not.toBe(ways);
  });
});
