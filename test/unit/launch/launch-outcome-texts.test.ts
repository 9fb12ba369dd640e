import { describe, expect, it } from 'vitest';
import { PodGroups } from '../../../shared/core/launch/pod-groups.ts';
import { PLANNED_PODS } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { nodeOf, podOf } from '../../builders/scheduling.ts';
import {
  claim,
  controller,
  fitting,
  nodeSelector,
  outcomes,
  SECOND,
  there,
  web,
} from './outcomes.ts';

const inTeam = { key: 'team', operator: 'In', values: ['a'] } as const;
const port = { ip: '', port: 80, protocol: 'TCP' };
const groupOf = (pod: Pod) => new PodGroups().of(pod)[0];

describe('a launch in vain', () => {
  it('is told with its claim, its group and what was tried', () => {
    const { id, look } = groupOf(web('any')) ?? {};
    const told = {
      group: id,
      claim: 'c',
      uid: 'uid-c',
      createdAtMs: 100 * SECOND,
      ways: `ways.${look}`,
      runsOthers: false,
      hasRun: false,
      lacks: 'no label team',
    };
    expect(outcomes([web('b')], 166)).toEqual({ unused: [told], used: [], open: [] });
  });

  it('names all that the node lacks, or that the pod was not bound to it', () => {
    const taints = [{ key: 'agent', value: '', effect: 'NoSchedule' }] as const;
    const other = nodeOf('n', 2, 8, { taints, providerId: 'aws:///a/i-1' });
    expect(outcomes([web('b')], 166, [claim()], [other]).unused[0]?.lacks).toBe(
      'the taint agent:NoSchedule is not tolerated, no label team',
    );
    const claims = ['c', 'd'].map((uid) => claim({ uid, name: uid, providerId: uid }));
    const nodes = claims.map(({ uid }) => nodeOf(uid, 2, 8, { providerId: uid }));
    expect(outcomes([fitting('a')], 166, claims, nodes).unused[0]?.lacks).toBe(
      'its pod was not bound to it',
    );
  });

  it('says that the node had not joined', () => {
    const starting = claim({ conditions: [], providerId: undefined });
    const annotations = { ...starting.annotations, [PLANNED_PODS]: 'uid-a' };
    const larger = podOf('b', { cpu: 4000 }, { controller });
    const [found] = outcomes([larger], 110, [{ ...starting, annotations }], []).unused;
    expect(found?.lacks).toBe('its pods were gone before the node joined');
  });

  it('counts as of some use where others run there', () => {
    const [found] = outcomes([podOf('x', {}, { nodeName: 'n' }), web('b')], 166).unused;
    expect(found?.runsOthers).toBe(true);
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

describe('a launch of use', () => {
  it.each([
    [181, false],
    [751, true],
  ])('is told with its claim and its group after %i s', (nowS, isSettled) => {
    const used = { group: groupOf(web('a'))?.id, uid: 'uid-c', createdAtMs: 100 * SECOND };
    expect(outcomes([web('a', there)], nowS)).toEqual({
      unused: [],
      used: [{ ...used, isSettled }],
      open: [],
    });
  });
});

describe('a launch of which nothing is known yet', () => {
  it.each<[string, Parameters<typeof outcomes>, boolean]>([
    ['in doubt where its node lacks something', [[web('b')], 160], true],
    ['not in doubt where its node lacks nothing', [[fitting('b')], 160], false],
    [
      'not in doubt before its node is ready',
      [[web('b')], 140, [claim({ conditions: [] })]],
      false,
    ],
  ])('is %s', (_, args, isDoubtful) => {
    const group = groupOf(web('a'))?.id;
    expect(outcomes(...args).open).toEqual([{ group, claim: 'c', isDoubtful, runsOthers: false }]);
  });

  it('is none where there are no claims', () => {
    expect(outcomes([web('b')], 160, [])).toEqual({ unused: [], used: [], open: [] });
  });
});
