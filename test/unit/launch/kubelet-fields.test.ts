import { describe, expect, it } from 'vitest';
import {
  type FieldShape,
  hasShape,
  KUBELET_FIELDS,
  SHAPE_TEXTS,
} from '../../../shared/core/launch/kubelet-fields.ts';

describe('a field of the kubelet', () => {
  it.each<[FieldShape, string, number, readonly string[]]>([
    ['flag', 'true or false', 24, ['cgroupsPerQOS', 'cpuCFSQuota', 'singleProcessOOMKill']],
    ['integer', 'a whole number', 24, ['containerLogMaxFiles', 'maxPods', 'registryPullQPS']],
    ['number', 'a number', 1, ['memoryThrottlingFactor']],
    ['text', 'a text', 51, ['address', 'topologyManagerPolicy', 'volumeStatsAggPeriod']],
    ['list', 'a list', 9, ['allowedUnsafeSysctls', 'clusterDNS', 'tlsCurvePreferences']],
    ['map', 'a map', 19, ['authentication', 'featureGates', 'userNamespaces']],
  ])('that is %s: %s', (shape, text, count, some) => {
    expect(SHAPE_TEXTS[shape]).toBe(text);
    const names = [...KUBELET_FIELDS].filter(([, each]) => each === shape).map(([name]) => name);
    expect(names).toHaveLength(count);
    expect(names).toEqual(expect.arrayContaining([...some]));
    expect(names.every((name) => /^[a-z][A-Za-z0-9]+$/.test(name))).toBe(true);
  });

  const VALUES = [true, false, 1, 0, 1.5, Number.NaN, 'a', '', [], ['a'], {}, { a: 1 }, null];
  it.each<[FieldShape, readonly unknown[]]>([
    ['flag', [true, false]],
    ['integer', [1, 0]],
    ['number', [1, 0, 1.5, Number.NaN]],
    ['text', ['a', '']],
    ['list', [[], ['a']]],
    ['map', [{}, { a: 1 }]],
  ])('that is %s takes %j', (shape, expected) => {
    expect(VALUES.filter((value) => hasShape(value, shape))).toEqual(expected);
    expect(hasShape(undefined, shape)).toBe(false);
  });
});
