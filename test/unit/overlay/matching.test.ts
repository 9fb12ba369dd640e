import { describe, expect, it } from 'vitest';
import {
  askedLabels,
  matcherOf,
  matchesOffering,
  overlayLabels,
  poolPart,
  TypeIndex,
} from '../../../shared/core/overlay/matching.ts';
import { instanceType, nodeOverlay, nodePool, offering } from '../../builders/overlays.ts';

const matcher = (...requirements: readonly object[]) =>
  matcherOf(nodeOverlay('o', { requirements, price: '1' }));
const need = (key: string, operator: string, ...values: readonly string[]) => ({
  key,
  operator,
  ...(values.length === 0 ? {} : { values }),
});

describe('an offering', () => {
  const spot = { ...offering('a', 'spot', 0.1), zoneId: 'use1-az1' };
  const onDemand = offering('b', 'on-demand', 0.1);

  it.each([
    [need('topology.kubernetes.io/zone', 'In', 'a', 'c'), [true, false]],
    [need('topology.kubernetes.io/zone', 'NotIn', 'a'), [false, true]],
    [need('topology.k8s.aws/zone-id', 'In', 'use1-az1'), [true, false]],
    [need('topology.k8s.aws/zone-id', 'DoesNotExist'), [false, true]],
    [need('karpenter.sh/capacity-type', 'In', 'on-demand'), [false, true]],
    [need('karpenter.sh/capacity-type', 'In', 'a'), [false, false]],
  ])('%j', (requirement, expected) => {
    const one = matcher(requirement);
    expect([spot, onDemand].map((each) => matchesOffering(one, each))).toEqual(expected);
  });

  it('meets every requirement, and those on other labels are not its own', () => {
    const inA = need('topology.kubernetes.io/zone', 'In', 'a');
    const isSpot = need('karpenter.sh/capacity-type', 'In', 'spot');
    expect(matchesOffering(matcher(inA, isSpot, need('team', 'In', 'x')), spot)).toBe(true);
    const isOther = need('karpenter.sh/capacity-type', 'In', 'on-demand');
    expect(matchesOffering(matcher(inA, isOther), spot)).toBe(false);
  });
});

describe('a NodePool', () => {
  const labels = overlayLabels(nodePool('general', { team: 'x', tier: 'web' }));

  it('has the labels of its template, and its name', () => {
    expect([...labels]).toEqual([
      ['team', 'x'],
      ['tier', 'web'],
      ['karpenter.sh/nodepool', 'general'],
    ]);
  });

  it('refuses, meets or leaves open what the overlay asks for', () => {
    const part = (...requirements: readonly object[]) => poolPart(matcher(...requirements), labels);
    expect(part(need('team', 'In', 'y'))).toMatchObject({ isAllowed: false });
    expect(part(need('team', 'In', 'x'), need('tier', 'NotIn', 'web')).isAllowed).toBe(false);
    expect(part(need('size', 'In', '1'))).toEqual({
      isAllowed: true,
      defined: new Set(),
      text: '',
    });
    const met = part(need('tier', 'Exists'), need('size', 'In', '1'), need('team', 'In', 'x'));
    expect(met).toMatchObject({ isAllowed: true, defined: new Set(['tier', 'team']) });
  });

  it('has equal text with another that meets the same keys, in any order', () => {
    const [team, tier] = [need('team', 'In', 'x'), need('tier', 'Exists')];
    const text = (...requirements: readonly object[]): string =>
      poolPart(matcher(...requirements), labels).text;
    expect(text(team, tier)).toBe(text(tier, team));
    expect(new Set([text(), text(team), text(tier), text(team, tier)]).size).toBe(4);
    expect(text(need('team', 'In', 'y'))).not.toBe(text());
  });
});

it('labels that overlays ask of nodes are named once, in order', () => {
  const asked = askedLabels([
    matcher(need('b', 'Exists'), need('a', 'In', '1')),
    matcher(need('karpenter.sh/capacity-type', 'In', 'spot'), need('b', 'In', '2')),
  ]);
  expect(asked).toEqual(['a', 'b']);
});

describe('instance types', () => {
  const NONE = { isAllowed: true, defined: new Set<string>(), text: '' };
  const named = (...keys: readonly string[]) => ({
    isAllowed: true,
    defined: new Set(keys),
    text: keys.join(),
  });
  const types = [
    instanceType('small', [], { arch: ['arm64', 'amd64'], gpu: null, size: ['1'] }),
    instanceType('large', [], { arch: ['arm64'], gpu: ['a', 'b'], size: ['2'] }),
    instanceType('odd', [], { arch: [], size: ['2'] }),
  ];
  const index = new TypeIndex(types);

  it.each([
    ['no requirement', [], NONE, [0, 1, 2]],
    ['its name', [need('node.kubernetes.io/instance-type', 'In', 'large')], NONE, [1]],
    ['one of several values', [need('arch', 'In', 'amd64')], NONE, [0]],
    ['several values', [need('arch', 'In', 'arm64', 'amd64')], NONE, [0, 1]],
    ['another of several values', [need('arch', 'NotIn', 'arm64')], NONE, [0, 2]],
    ['a label that nodes never have', [need('gpu', 'DoesNotExist')], NONE, [0, 2]],
    ['a label', [need('gpu', 'Exists')], NONE, [1]],
    ['a label without values', [need('arch', 'DoesNotExist')], NONE, [2]],
    ['values of several types', [need('size', 'In', '2', '1')], NONE, [0, 1, 2]],
    ['a value that none has', [need('size', 'In', '9')], NONE, []],
    ['two labels', [need('arch', 'In', 'arm64'), need('size', 'In', '2')], NONE, [1]],
    [
      'two labels, the rarer last',
      [need('size', 'In', '1', '2'), need('gpu', 'In', 'b')],
      NONE,
      [1],
    ],
    ['a number', [need('size', 'Gt', '1')], NONE, [1, 2]],
    ['a label of nobody', [need('team', 'In', 'x')], NONE, []],
    ['no label of nobody', [need('team', 'NotIn', 'x')], NONE, [0, 1, 2]],
    ['a label of the pool', [need('team', 'In', 'x')], named('team'), [0, 1, 2]],
    [
      'a label of the pool and one of theirs',
      [need('team', 'In', 'x'), need('size', 'In', '2')],
      named('team'),
      [1, 2],
    ],
    ['a label of both, each for itself', [need('arch', 'In', 'amd64')], named('arch'), [0]],
  ])('by %s', (_, requirements, part, expected) => {
    expect(index.matching(matcher(...requirements), part)).toEqual(expected);
  });

  it('are found once for pools that meet the same keys, and anew for others', () => {
    const one = matcher(need('team', 'In', 'x'));
    expect(index.matching(one, named('team'))).toBe(index.matching(one, named('team')));
    expect(index.matching(one, NONE)).toEqual([]);
    expect(index.matching(matcher(need('team', 'Exists')), named('team'))).toEqual([0, 1, 2]);
  });
});
