import { describe, expect, it } from 'vitest';
import {
  launchedFor,
  launchedForText,
  launchWays,
  PodGroups,
  retryOf,
  tryText,
} from '../../../shared/core/launch/pod-groups.ts';
import { LAUNCHED_FOR, RETRY_LAUNCH } from '../../../shared/core/model/labels.ts';
import type { OwnerReference, Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { daemonSetOf, podOf, poolOf } from '../../builders/scheduling.ts';

const REVISION = 'controller-revision-hash';
const owner = (kind: string, apiVersion?: string): OwnerReference => ({
  ...(apiVersion === undefined ? {} : { apiVersion }),
  kind,
  name: 'o',
  uid: 'o',
});

function groupsOf(rest: Partial<Pod> = {}, spec: Partial<PodSpec> & { cpu?: number } = {}) {
  return new PodGroups().of(podOf('p', spec, rest));
}

const ids = (groups: ReturnType<typeof groupsOf>) => groups.map(({ id }) => id);

describe('the groups of a pod', () => {
  it.each<[string, Partial<Pod>, readonly number[]]>([
    ['of a ReplicaSet', { controller: owner('ReplicaSet', 'apps/v1') }, [3]],
    ['of a ReplicaSet of an unknown version', { controller: owner('ReplicaSet') }, [3]],
    ['of a ReplicationController', { controller: owner('ReplicationController', 'v1') }, [3]],
    ['of a StatefulSet', { controller: owner('StatefulSet', 'apps/v1') }, [3, 9]],
    ['of a Job', { controller: owner('Job', 'batch/v1') }, [3, 9]],
    ['of nobody', {}, [3, 9]],
    ['of another group’s ReplicaSet', { controller: owner('ReplicaSet', 'other/v1') }, [3, 9, 9]],
    ['of a Job of no group', { controller: owner('Job', 'v1') }, [3, 9, 9]],
    ['of another kind', { controller: owner('Workflow', 'argoproj.io/v1') }, [3, 9, 9]],
    ['of a kind that every object has', { controller: owner('constructor') }, [3, 9, 9]],
  ])('%s: how much may be in vain', (_, rest, vainMax) => {
    expect(groupsOf(rest).map((group) => group.vainMax)).toEqual(vainMax);
    expect(new Set(ids(groupsOf(rest))).size).toBe(vainMax.length);
  });

  it('are named in twelve characters, and what a pod is like in six', () => {
    const [first, second] = groupsOf({ annotations: { [RETRY_LAUNCH]: '1' } });
    expect(first?.id).toMatch(/^[0-9a-f]{12}$/);
    expect(first?.look).toMatch(/^[0-9a-f]{6}$/);
    expect(first?.retry).toMatch(/^[0-9a-f]{6}$/);
    expect(second).toMatchObject({ look: '' });
    expect(groupsOf()[0]?.retry).toBe('');
  });

  const set = { controller: owner('StatefulSet', 'apps/v1') };
  const argo = { controller: owner('Workflow') };
  const web = { controller: owner('ReplicaSet', 'apps/v1') };
  it.each<[string, Partial<Pod>, Partial<Pod>, readonly boolean[]]>([
    ['another name, of a ReplicaSet', web, { ...web, name: 'q' }, [true]],
    ['another namespace', web, { ...web, namespace: 'other' }, [false]],
    [
      'another owner',
      web,
      { controller: { ...owner('ReplicaSet', 'apps/v1'), uid: 'x' } },
      [false],
    ],
    ['another revision', web, { ...web, labels: { [REVISION]: '2' } }, [false]],
    ['another name, of a StatefulSet', set, { ...set, name: 'q' }, [false, true]],
    [
      'another revision, of a StatefulSet',
      set,
      { ...set, labels: { [REVISION]: '2' } },
      [false, false],
    ],
    ['another uid, of nobody', {}, { uid: 'x' }, [false, true]],
    [
      'another owner of another kind',
      argo,
      { controller: { ...owner('Workflow'), uid: 'x' } },
      [false, false, true],
    ],
    ['another name, of another kind', argo, { ...argo, name: 'q' }, [true, true, true]],
    [
      'another namespace, of another kind',
      argo,
      { ...argo, namespace: 'x' },
      [false, false, false],
    ],
  ])('are the same with %s: %j', (_, one, other, same) => {
    const [a, b] = [ids(groupsOf(one)), ids(groupsOf(other))];
    expect(a.map((id, at) => id === b[at])).toEqual(same);
  });

  it.each<[string, Partial<PodSpec>]>([
    ['requests', { requests: { cpu: 1 } }],
    ['a node selector', { nodeSelector: { a: 'b' } }],
    ['node affinity', { requiredNodeAffinity: [] }],
    [
      'tolerations',
      { tolerations: [{ key: 'a', operator: 'Exists', value: '', effect: undefined }] },
    ],
    ['host ports', { hostPorts: [{ ip: '', port: 1, protocol: 'TCP' }] }],
    ['another scheduler', { schedulerName: 'x' }],
    ['a priority', { priority: 1 }],
  ])('look different with %s', (_, spec) => {
    const [plain, other] = [groupsOf(web), groupsOf(web, spec)];
    expect(other[0]?.id).toBe(plain[0]?.id);
    expect(other[0]?.look).not.toBe(plain[0]?.look);
    expect(ids(groupsOf({}, spec))[1]).not.toBe(ids(groupsOf())[1]);
  });

  it('of another kind are one of the owner, and one of the owner and what a node has to meet', () => {
    const [plain, other] = [ids(groupsOf(argo)), ids(groupsOf(argo, { priority: 1 }))];
    expect(plain.map((id, at) => id === other[at])).toEqual([false, true, false]);
  });

  it('do not go by what other pods and volumes are', () => {
    const spread = { topologyKey: 'zone', maxSkew: 1, hard: true };
    const spec = { topologySpread: [spread], terminationGracePeriodSeconds: 5 } as unknown;
    expect(groupsOf(web, spec as Partial<PodSpec>)).toEqual(groupsOf(web));
  });

  it('are of each retry that somebody asks for', () => {
    const asking = (value: string) => groupsOf({ ...web, annotations: { [RETRY_LAUNCH]: value } });
    expect(ids(asking('1'))).toEqual(ids(asking('2')));
    expect(asking('1')[0]?.retry).not.toBe(asking('2')[0]?.retry);
  });

  it('are looked up once for a pod, and for pods of one spec that are alike', () => {
    const groups = new PodGroups();
    const pod = podOf('p', {}, web);
    const like = { ...pod, name: 'q' };
    expect(groups.of(pod)).toBe(groups.of(pod));
    expect(groups.of(like)).toBe(groups.of(pod));
    expect(new PodGroups().of({ ...pod, name: 'r' })).toBe(groups.of(pod));
    const bare = podOf('p');
    const many = Array.from({ length: 3000 }, (_, at) => ({ ...bare, uid: `u${at}` }));
    expect(new Set(many.map((each) => groups.of(each)[0]?.id)).size).toBe(3000);
  });
});

describe('how something is tried', () => {
  it.each([
    [{ look: 'l', retry: '' }, 'w.l', ''],
    [{ look: '', retry: '' }, 'w.', ''],
    [{ look: 'l', retry: 'r' }, 'w.l.r', 'r'],
    [{ look: '', retry: 'r' }, 'w..r', 'r'],
  ])('%j', (group, text, retry) => {
    expect(tryText('w', group)).toBe(text);
    expect(retryOf(text)).toBe(retry);
  });

  it('is without a retry where the text is none of ours', () => {
    expect(retryOf('')).toBe('');
  });
});

describe('the annotation', () => {
  const read = (text: string) => launchedFor({ annotations: { [LAUNCHED_FOR]: text } });
  const plain = { id: 'a', look: '', retry: '' };

  it.each([
    [plain, 'w a'],
    [{ ...plain, look: 'l' }, 'w a.l'],
    [{ ...plain, retry: 'r' }, 'w a..r'],
    [{ ...plain, look: 'l', retry: 'r' }, 'w a.l.r'],
    [{ ...plain, hasRun: true }, 'w a+'],
    [{ ...plain, isVain: true }, 'w a-'],
    [{ ...plain, look: 'l', hasRun: true, isVain: true }, 'w a.l+-'],
  ])('%j is %s, and is read back', (group, text) => {
    expect(launchedForText('w', [group])).toBe(text);
    expect(read(text)).toEqual({ ways: 'w', groups: [{ hasRun: false, isVain: false, ...group }] });
  });

  it('names each group once, in the order in which they come', () => {
    const groups = ['b', 'a', 'b'].map((id) => ({ ...plain, id }));
    expect(launchedForText('w', groups)).toBe('w b a');
    expect(read('w b a').groups.map(({ id }) => id)).toEqual(['b', 'a']);
  });

  it('is none without groups, and says nothing where there is none', () => {
    expect(launchedForText('w', [])).toBeUndefined();
    expect(launchedFor({ annotations: {} })).toEqual({ ways: '', groups: [] });
    expect(read('w')).toEqual({ ways: 'w', groups: [] });
  });

  it('has room for 8 KiB', () => {
    // Each takes eight characters and a space.
    const groups = Array.from({ length: 2000 }, (_, at) => ({
      ...plain,
      id: String(at).padStart(8, '0'),
    }));
    const text = launchedForText('12', groups) ?? '';
    expect(text).toHaveLength(8192 - ((8192 - 2) % 9));
    expect(read(text).groups).toHaveLength(910);
    expect(launchedForText('12', groups.slice(0, 3))).toHaveLength(2 + 27);
    const full = [{ ...plain, id: 'x'.repeat(8192 - 3) }];
    expect(launchedForText('12', full)).toHaveLength(8192);
    expect(launchedForText('123', full)).toBeUndefined();
  });
});

describe('the ways in which something can be launched', () => {
  const set = daemonSetOf('agent', podOf('d').spec, { templateGeneration: '1' });
  const nodePools = [poolOf('a'), poolOf('b')];
  const classes = [aNodeClass(), { ...aNodeClass(), name: 'other' }];
  const known = { nodePools, daemonSets: [set, daemonSetOf('log', podOf('l').spec)] };
  const ways = launchWays(known, classes);

  it('are the same in any order', () => {
    const turned = {
      nodePools: nodePools.toReversed(),
      daemonSets: known.daemonSets.toReversed(),
    };
    expect(launchWays(turned, classes.toReversed())).toBe(ways);
    expect(ways).toMatch(/^[0-9a-f]{12}$/);
  });

  const [first = poolOf('a'), ...rest] = nodePools;
  it.each([
    ['another pool', { nodePools: [...nodePools, poolOf('c')] }],
    ['a pool of another name', { nodePools: [{ ...first, name: 'c' }, ...rest] }],
    ['another template', { nodePools: [poolOf('a', { labels: { a: 'b' } }), ...rest] }],
    ['a DaemonSet less', { daemonSets: [set] }],
    [
      'a DaemonSet that was made anew',
      { daemonSets: [{ ...set, uid: 'x' }, ...known.daemonSets.slice(1)] },
    ],
    [
      'a DaemonSet that has changed',
      { daemonSets: [{ ...set, templateGeneration: '2' }, ...known.daemonSets.slice(1)] },
    ],
    [
      'a DaemonSet that asks for more',
      {
        daemonSets: [
          { ...set, podSpec: podOf('d', { cpu: 5 }).spec },
          ...known.daemonSets.slice(1),
        ],
      },
    ],
  ])('are others with %s', (_, changes) => {
    expect(launchWays({ ...known, ...changes }, classes)).not.toBe(ways);
  });

  it('are others with a changed class, and the same with a changed status or limit', () => {
    const [one = aNodeClass(), ...others] = classes;
    expect(launchWays(known, [{ ...one, generation: 2 }, ...others])).not.toBe(ways);
    expect(launchWays(known, [{ ...one, name: 'x' }, ...others])).not.toBe(ways);
    expect(launchWays(known, others)).not.toBe(ways);
    expect(launchWays(known, [aNodeClass({}, { instanceProfile: 'x' }), ...others])).toBe(ways);
    const limited = nodePools.map((pool) => ({ ...pool, limits: { cpu: 1 } }));
    expect(launchWays({ ...known, nodePools: limited }, classes)).toBe(ways);
  });
});
