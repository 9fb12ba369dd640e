import { describe, expect, it } from 'vitest';
import { unmetTexts } from '../../../shared/core/launch/unmet.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import type { Taint } from '../../../shared/core/model/taint.ts';
import { GI, nodeOf, podOf } from '../../builders/scheduling.ts';

const NODE = nodeOf('n', 2, 8, { labels: { team: 'a', arch: 'arm64' } });
const port = (number: number) => ({ ip: '', port: number, protocol: 'TCP' });
const taint = (key: string, value = '', effect: Taint['effect'] = 'NoSchedule'): Taint => ({
  key,
  value,
  effect,
});

function unmet(
  spec: Partial<PodSpec>,
  taints: readonly Taint[] = [],
  there: readonly Pod[] = [],
): readonly string[] {
  return unmetTexts(podOf('p', spec), { ...NODE, taints }, there);
}

it('a node that has everything lacks nothing', () => {
  expect(unmet({})).toEqual([]);
});

describe('taints', () => {
  it.each([
    [taint('agent'), ['the taint agent:NoSchedule is not tolerated']],
    [taint('agent', 'x', 'NoExecute'), ['the taint agent=x:NoExecute is not tolerated']],
    [taint('agent', 'x', 'PreferNoSchedule'), []],
    [taint('node.kubernetes.io/not-ready'), []],
    [taint('karpenter.sh/disrupted'), []],
  ])('%j', (one, expected) => {
    expect(unmet({}, [one])).toEqual(expected);
  });

  it('that are tolerated are not lacking, and of others the first is named', () => {
    const tolerations = [{ key: 'a', operator: 'Exists', value: '', effect: undefined }] as const;
    expect(unmet({ tolerations }, [taint('a'), taint('b'), taint('c')])).toEqual([
      'the taint b:NoSchedule is not tolerated',
    ]);
  });
});

describe('labels', () => {
  const affinity = (key: string, ...values: readonly string[]) => ({
    requiredNodeAffinity: [
      { matchExpressions: [{ key, operator: 'In' as const, values }], matchFields: [] },
    ],
  });

  it.each<[string, Partial<PodSpec>, readonly string[]]>([
    ['selected, and there', { nodeSelector: { team: 'a' } }, []],
    [
      'selected, and others or none there',
      { nodeSelector: { team: 'b', rack: '1', arch: 'arm64' } },
      ['the label team is a', 'no label rack'],
    ],
    ['that every object has', { nodeSelector: { constructor: 'x' } }, ['no label constructor']],
    ['of an affinity, and there', affinity('team', 'a', 'b'), []],
    [
      'of an affinity, and others there',
      affinity('team', 'b'),
      ['its labels do not meet the node affinity'],
    ],
    [
      'of an affinity that every object has',
      affinity('constructor', 'x'),
      ['its labels do not meet the node affinity'],
    ],
    [
      'of both: the selector is told',
      { nodeSelector: { team: 'b' }, ...affinity('team', 'b') },
      ['the label team is a'],
    ],
  ])('%s', (_, spec, expected) => {
    expect(unmet(spec)).toEqual(expected);
  });

  it('of an affinity may be the node’s name', () => {
    const byName = (name: string): Partial<PodSpec> => ({
      requiredNodeAffinity: [
        {
          matchExpressions: [],
          matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
        },
      ],
    });
    expect(unmet(byName('n'))).toEqual([]);
    expect(unmet(byName('m'))).toEqual(['its labels do not meet the node affinity']);
  });
});

it('a host port is free, or taken by a pod that is there', () => {
  const there = [podOf('x', { hostPorts: [port(80)], cpu: 0, memory: 0 })];
  expect(unmet({ hostPorts: [port(81)] }, [], there)).toEqual([]);
  expect(unmet({ hostPorts: [port(80)] }, [], there)).toEqual(['a host port is taken']);
  expect(unmet({ hostPorts: [port(80)] })).toEqual([]);
});

describe('resources', () => {
  const requests = { cpu: 1500, memory: 9 * GI, 'example.com/gpu': 1, pods: 1 };

  it('are told one by one: what is free of what is requested', () => {
    expect(unmet({ requests })).toEqual([
      '8Gi memory free of 9Gi requested',
      '0 example.com/gpu free of 1 requested',
    ]);
  });

  it('are those that the pods there have left', () => {
    const there = [podOf('x', { cpu: 500 }), podOf('y', { cpu: 100 })];
    expect(unmet({ requests: { cpu: 1400 } }, [], there)).toEqual([]);
    expect(unmet({ requests: { cpu: 1401 } }, [], there)).toEqual([
      '1400m cpu free of 1401m requested',
    ]);
  });

  it('are never less than none', () => {
    const there = [podOf('x', { cpu: 5000, memory: 0 })];
    expect(unmet({ requests: { cpu: 100 } }, [], there)).toEqual(['0 cpu free of 100m requested']);
  });
});

it('all that is unmet is told: taints, labels, ports, resources', () => {
  const spec = { nodeSelector: { rack: '1' }, hostPorts: [port(80)], requests: { cpu: 5000 } };
  const there = [podOf('x', { hostPorts: [port(80)] })];
  expect(unmet(spec, [taint('agent')], there)).toEqual([
    'the taint agent:NoSchedule is not tolerated',
    'no label rack',
    'a host port is taken',
    '1 cpu free of 5 requested',
  ]);
});
