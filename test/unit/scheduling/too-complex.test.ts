import { expect, it } from 'vitest';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import { planOf, podOf, podsOf, typeOf } from '../../builders/scheduling.ts';

/** Labels that the pod's node may not have: any node suits it. */
const asking = (labels: number, from = 0): Partial<PodSpec> => ({
  requiredNodeAffinity: [
    {
      matchExpressions: Array.from({ length: labels }, (_, at) => ({
        key: `key-${from + at}`,
        operator: 'NotIn' as const,
        values: ['v'],
      })),
      matchFields: [],
    },
  ],
});

/** Names of the pods that a plan leaves out for what they ask. */
function refused(pods: readonly Pod[]): readonly string[] {
  const { unplaced } = planOf({ pods });
  const isTooMuch = (key: string) =>
    unplaced.get(key)?.reasons.every(({ code }) => code === 'pod-too-complex');
  expect([...unplaced.keys()].filter((key) => !isTooMuch(key))).toEqual([]);
  return [...unplaced.keys()].map((key) => key.split('/')[1] ?? key).sort();
}

const web = podsOf(3, 'web', {});

it.each<[string, readonly Pod[], readonly string[]]>([
  [
    'ordinary pods, however many',
    Array.from({ length: 80 }, (_, at) => podOf(`p${at}`, asking(90, at))),
    [],
  ],
  ['one that asks for 4,000 labels', [podOf('long', asking(4_000))], []],
  ['one that asks for 6,000', [podOf('long', asking(6_000))], ['long']],
  [
    'two together: the longer one waits',
    [podOf('a', asking(4_000)), podOf('b', asking(3_000, 1))],
    ['a'],
  ],
  ['equal pods, which cost as much as one', podsOf(9, 'same', asking(3_000)), []],
])('%s', (_, pods, expected) => {
  expect(refused([...web, ...pods])).toEqual(expected);
});

/** Requests resources that nothing has. */
const requesting = (names: number, from: number): Partial<PodSpec> => ({
  requests: Object.fromEntries(
    Array.from({ length: names }, (_, at) => [`example.com/r${from + at}`, 1]),
  ),
});

it('of resources that nothing offers, a plan takes 2,000 names', () => {
  const vain = Array.from({ length: 30 }, (_, at) => podOf(`vain-${at}`, requesting(90, at * 90)));
  const { unplaced } = planOf({ pods: [...web, ...vain] });
  expect([...unplaced.keys()].every((key) => key.includes('vain-'))).toBe(true);
  const reasons = [...unplaced.values()].flatMap((each) => each.reasons);
  expect(reasons.filter(({ code }) => code === 'resources-not-offered')).toHaveLength(8);
  expect(reasons.filter(({ code }) => code === 'pod-unplaced')).toHaveLength(22);
});

it('pods that request what a type has are planned beside them', () => {
  const types = [
    typeOf('g5.xlarge', 4, 16, 1, {
      capacity: { cpu: 4000, memory: 2 ** 34, pods: 110, 'nvidia.com/gpu': 1 },
    }),
  ];
  const gpu = podOf('gpu', { requests: { cpu: 100, 'nvidia.com/gpu': 1 } });
  const vain = Array.from({ length: 30 }, (_, at) => podOf(`vain-${at}`, requesting(90, at * 90)));
  const { unplaced } = planOf({ types, pods: [...vain, gpu] });
  expect([...unplaced.keys()].filter((key) => key.endsWith('/gpu'))).toEqual([]);
});
