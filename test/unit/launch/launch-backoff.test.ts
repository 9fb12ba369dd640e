import { describe, expect, it } from 'vitest';
import { sentence } from '../../../shared/core/explain/reason.ts';
import {
  backedOffPods,
  backoffReason,
  type KnownLaunches,
  type LaunchBackoff,
  toldBackoff,
} from '../../../shared/core/launch/launch-backoff.ts';
import { PodGroups, tryText } from '../../../shared/core/launch/pod-groups.ts';
import { type UnusedLaunch, withOutcomes } from '../../../shared/core/launch/unused-launches.ts';
import { RETRY_LAUNCH } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { podOf } from '../../builders/scheduling.ts';

const SECOND = 1000;
const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web' };
const web = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, {}, { controller, createdAtMs: 100 * SECOND, ...rest });

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
      'until it is known whether c3 runs the pod',
    );
    // Before two were in vain, a pod does not wait for the next, unless that lacks something too.
    expect(held([web('b')], [vain(1)], 10 * SECOND, { open }).size).toBe(0);
    const doubtful = open.map((each) => ({ ...each, isDoubtful: true }));
    expect(held([web('b')], [vain(1)], 10 * SECOND, { open: doubtful }).size).toBe(1);
    expect(held([web('b')], [], 10 * SECOND, { open: doubtful }).size).toBe(0);
    const two = [...doubtful, ...doubtful];
    expect(held([web('b')], [], 10 * SECOND, { open: two }).size).toBe(1);
    const others = doubtful.map((each) => ({ ...each, runsOthers: true }));
    expect(held([web('b')], [vain(1)], 10 * SECOND, { open: others }).size).toBe(1);
    // Only what lacks something is waited for then.
    const both = [...doubtful, { ...open[0], claim: 'c4' }] as typeof open;
    const [waiting] = held([web('b')], [vain(1)], 10 * SECOND, { open: both }).values();
    expect(waiting).toEqual({ untilMs: 10 * SECOND, launches: [vain(1)], trying: ['c3'] });
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

  it('less three tries for changes, and ten that somebody asks for, each for itself', () => {
    const asking = (value: string, ways = 'ways') => ({
      ways: way(web('b', { annotations: { [RETRY_LAUNCH]: value } }), ways),
    });
    const asked = (value: string, ways = 'ways') =>
      held([web('b', { annotations: { [RETRY_LAUNCH]: value } })], tried, 40 * SECOND, { ways });
    const wait = [vain(2), vain(1)];
    let tried = [3, 4, 5].map((at) => vain(at, { ways: way(web('b'), `ways${at}`) }));
    tried = [...tried.toReversed(), ...wait];
    expect(untilS(tried, 40, { ways: 'more' })).toBe(3605);
    expect(asked('1').size).toBe(0);
    tried = [6, 5, 4, 3].map((at) => vain(at, asking(`${at}`)));
    tried = [...tried, ...wait];
    expect(untilS(tried, 40, { ways: 'more' })).toBeUndefined();
    tried = Array.from({ length: 9 }, (_, at) => vain(20 - at, asking(`${at}`)));
    tried = [...tried, ...wait];
    expect(asked('more').size).toBe(0);
    // What was asked for before is asked for no more, whatever else has changed.
    tried = [6, 5, 4, 3].map((at) => vain(at, asking('1', `ways${at}`)));
    tried = [...tried, ...wait];
    expect(asked('1', 'more').size).toBe(1);
    expect(asked('2').size).toBe(0);
  });

  it('less no try for many nodes of one, or for what was tried before', () => {
    const many = Array.from({ length: 12 }, () => vain(2));
    expect(untilS(many, 10, { ways: 'more' })).toBeUndefined();
  });

  it('only where it waits, and kube-scheduler has tried it', () => {
    const pods = [
      web('b'),
      web('c', { unschedulable: false }),
      web('d', { nodeName: 'n', phase: 'Running' }),
      web('e', { nodeName: 'n', phase: 'Running', unschedulable: true }),
    ];
    const found = held(pods, [vain(2), vain(1)], 10 * SECOND);
    expect([...found.keys()]).toEqual(['default/b']);
  });

  it('not while its like have run for a while on a node that came later', () => {
    const used = [{ group: vain(0).group, uid: 'x', createdAtMs: 2 * SECOND, isSettled: false }];
    const launches = [vain(2), vain(1)];
    expect(untilS(launches, 10, { used })).toBeUndefined();
    expect(untilS([vain(2), ...launches], 10, { used })).toBeUndefined();
    const earlier = used.map((each) => ({ ...each, createdAtMs: 500 }));
    expect(untilS(launches, 10, { used: earlier })).toBe(3602);
    expect(untilS(launches, 10, { used: [...used, ...earlier] })).toBeUndefined();
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
      `"no NodeClaim is launched for it before 1970-01-01T01:00:02.000Z: 2 nodes were launched for this pod or similar pods. They registered, and the pod is still pending: c2 (no label team), c1 (no label team). A NodeClaim is launched earlier if the pod, a NodePool, an EC2NodeClass or a DaemonSet changes, or if the annotation joiner.dev/retry-launch of the pod gets a new value"`,
    );
  });
});

describe('the message', () => {
  const messageOf = (backoff: LaunchBackoff): string => sentence(backoffReason(backoff));
  const launches = [5, 4, 3, 2].map((number) => vain(number));

  it('names three launches, and counts the others', () => {
    expect(messageOf({ untilMs: 0, launches })).toContain(
      ': 4 nodes were launched for this pod or similar pods. They registered, and the pod is still ' +
        'pending: c5 (no label team), c4 (no label team), c3 (no label team) and 1 more. A NodeClaim is',
    );
    expect(messageOf({ untilMs: 0, launches: launches.slice(1) })).toContain(
      'c4 (no label team), c3 (no label team), c2 (no label team). A NodeClaim is',
    );
  });

  it('says what is tried, and counts the others', () => {
    const text = 'no further NodeClaim is launched for it until it is known whether';
    const told = (trying: readonly string[], of: readonly UnusedLaunch[] = []) =>
      messageOf({ untilMs: 0, launches: of, trying });
    expect(told(['a'])).toBe(`${text} a runs the pod: the pod is still pending`);
    expect(told(['a', 'b', 'c'])).toContain(`${text} a, b, c runs the pod:`);
    expect(told(['a', 'b', 'c', 'd', 'e'])).toContain(`${text} a, b, c and 2 more runs the pod:`);
    expect(told(['a'], [vain(1)])).toBe(
      `${text} a runs the pod: 1 node was launched for this pod or similar pods. ` +
        'It registered, and the pod is still pending: c1 (no label team)',
    );
  });

  it('is what somebody who knew the launches has told', () => {
    expect(messageOf({ untilMs: 0, launches: [], told: 'so it is' })).toBe('so it is');
  });

  it('is read back, whatever comes before it', () => {
    const message = messageOf({ untilMs: 3602 * SECOND, launches });
    const expected = { untilMs: 3602 * SECOND, launches: [], told: message };
    expect(toldBackoff(message)).toEqual(expected);
    expect(toldBackoff(`Event: ${message}`)).toEqual(expected);
    expect(messageOf(toldBackoff(message) ?? expected)).toBe(message);
  });

  it.each([
    '',
    'nothing of this',
    'no NodeClaim is launched for it before soon',
    'no NodeClaim is launched for it before  2026-01-01T00:00:00.000Z',
    'no NodeClaim is launched for it before ',
  ])('is none in %j', (message) => {
    expect(toldBackoff(message)).toBeUndefined();
  });
});
