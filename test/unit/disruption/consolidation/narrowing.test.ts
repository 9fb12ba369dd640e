import { describe, expect, it } from 'vitest';
import { dearest, narrowed } from '../../../../shared/core/disruption/consolidation/narrowing.ts';
import type { InstanceType } from '../../../../shared/core/model/instance-type.ts';
import type { PlannedNodeClaim } from '../../../../shared/core/model/plan.ts';
import type { RequirementExpression } from '../../../../shared/core/model/requirement.ts';
import { offering } from '../../../builders/overlays.ts';
import { typeOf } from '../../../builders/scheduling.ts';

const TYPE = 'node.kubernetes.io/instance-type';
const CAPACITY_TYPE = 'karpenter.sh/capacity-type';
const ZONE = 'topology.kubernetes.io/zone';

const list = (key: string, ...values: readonly string[]): RequirementExpression => ({
  key,
  operator: 'In',
  values,
});

/** Prices in the zones a and b. */
function type(name: string, inA: number, inB: number, labels: InstanceType['labels'] = {}) {
  const offerings = [offering('a', 'on-demand', inA), offering('b', 'on-demand', inB)];
  return typeOf(name, 2, 8, 0, { offerings, labels: { [TYPE]: [name], ...labels } });
}

const SMALL = type('small', 0.1, 0.2);
const MIDDLE = type('middle', 0.2, 0.3);
const LARGE = type('large', 0.4, 0.4);
const TYPES = [SMALL, MIDDLE, LARGE];

function planned(
  requirements: readonly RequirementExpression[] = [
    list(CAPACITY_TYPE, 'on-demand', 'spot'),
    list(TYPE, 'small', 'middle', 'large'),
    list(ZONE, 'a', 'b'),
  ],
  rest: Partial<PlannedNodeClaim> = {},
): PlannedNodeClaim {
  return {
    nodePool: 'general',
    requirements,
    instanceTypes: ['small', 'middle', 'large'],
    chosen: {
      type: 'small',
      zone: 'a',
      capacityType: 'on-demand',
      reservationId: undefined,
      price: 0.1,
      listPrice: 0.1,
    },
    runnerUp: undefined,
    pods: [],
    requests: { cpu: 1000 },
    labels: {},
    annotations: {},
    taints: [],
    overlays: [],
    ...rest,
  };
}

const ANY = { min: 1, max: Number.POSITIVE_INFINITY };

/** What stays open, and what it may come to cost. */
function open(
  priceMax: number,
  count = ANY,
  claim = planned(),
  types: readonly InstanceType[] = TYPES,
): string {
  const found = narrowed(claim, types, priceMax, count);
  if (found === undefined) return 'none';
  const values = (key: string) =>
    found.claim.requirements.find((each) => each.key === key)?.values.join() ?? '';
  if (values(TYPE) !== '') {
    expect(values(TYPE).split(',').sort()).toEqual([...found.claim.instanceTypes].sort());
  }
  return `${found.claim.instanceTypes.join()} in ${values(ZONE)} for ${found.priceMax}`;
}

describe('a claim is narrowed to types that cost no more', () => {
  it.each([
    [0.4, 'small,middle,large in a,b for 0.4'],
    [0.39, 'small,middle in a,b for 0.3'],
    [0.3, 'small,middle in a,b for 0.3'],
    [0.29, 'small in a,b for 0.2'],
    [0.2, 'small in a,b for 0.2'],
    [0.19, 'small in a for 0.1'],
    [0.1, 'small in a for 0.1'],
    [0.09, 'none'],
  ])('up to %d', (priceMax, expected) => {
    expect(open(priceMax)).toBe(expected);
  });

  it('of the capacity type that the plan chose', () => {
    const requirements = narrowed(planned(), TYPES, 1, ANY)?.claim.requirements;
    expect(requirements?.[0]).toEqual(list(CAPACITY_TYPE, 'on-demand'));
    // Its spot offering would be cheaper, and is not what was chosen.
    const cheap = { ...SMALL, offerings: [...SMALL.offerings, offering('a', 'spot', 0.01)] };
    expect(open(0.05, ANY, planned(), [cheap])).toBe('none');
  });

  it('in the chosen zone alone, where any zone leaves too few', () => {
    // In any zone one type costs 0.29 at most, in zone a two.
    expect(open(0.29, { min: 2, max: 9 })).toBe('small,middle in a for 0.2');
    // Where that leaves no more, any zone is left open.
    expect(open(0.4, { min: 9, max: 9 })).toBe('small,middle,large in a,b for 0.4');
  });

  it('of which the cheapest are kept', () => {
    expect(open(1, { min: 1, max: 2 })).toBe('small,middle in a,b for 0.3');
  });

  it('not where the chosen one is not among them', () => {
    const chosen = { ...planned().chosen, type: 'middle' };
    expect(open(0.2, ANY, planned(undefined, { chosen }))).toBe('small,middle in a for 0.2');
    expect(open(0.19, ANY, planned(undefined, { chosen }))).toBe('none');
    expect(open(9, ANY, planned(undefined, { chosen: { ...chosen, type: 'gone' } }))).toBe('none');
  });

  it('among those that the claim names and the NodePool has', () => {
    expect(open(1, ANY, planned(undefined, { instanceTypes: ['large', 'small'] }))).toBe(
      'large,small in a,b for 0.4',
    );
    expect(open(1, ANY, planned(), [SMALL, LARGE])).toBe('small,large in a,b for 0.4');
    expect(open(1, ANY, planned(), [])).toBe('none');
  });

  it('and what the claim rules out stays ruled out', () => {
    const out: RequirementExpression = { key: TYPE, operator: 'NotIn', values: ['other'] };
    const found = narrowed(planned([out]), TYPES, 0.2, ANY);
    expect(found?.claim.requirements).toEqual([out]);
  });

  it('and no other requirement is changed', () => {
    const others = [
      { key: ZONE, operator: 'NotIn', values: ['b'] } as const,
      list('team', 'x', 'y'),
    ];
    const found = narrowed(planned([list(CAPACITY_TYPE, 'on-demand'), ...others]), TYPES, 0.2, ANY);
    expect(found?.claim.requirements).toEqual([list(CAPACITY_TYPE, 'on-demand'), ...others]);
  });

  it('the same whether smaller prices were asked for before', () => {
    const claim = planned();
    const asked = [0.1, 0.4, 0.2, 0.3].map((priceMax) => open(priceMax, ANY, claim));
    expect(asked).toEqual([0.1, 0.4, 0.2, 0.3].map((priceMax) => open(priceMax)));
    // Of other types other prices hold.
    expect(open(0.4, ANY, claim, [SMALL])).toBe('small in a,b for 0.2');
  });
});

describe('minValues', () => {
  const withMin = (each: RequirementExpression, minValues: number) =>
    planned([
      list(CAPACITY_TYPE, 'on-demand'),
      list(ZONE, 'a', 'b'),
      each.key === TYPE ? { ...each, minValues } : list(TYPE, 'small', 'middle', 'large'),
      ...(each.key === TYPE ? [] : [{ ...each, minValues }]),
    ]);
  const families = [
    type('small', 0.1, 0.1, { family: ['s'] }),
    type('middle', 0.2, 0.2, { family: ['m', 'n'] }),
    type('large', 0.4, 0.4, { family: ['l'] }),
  ];

  it.each<[string, RequirementExpression, number, number, string]>([
    ['types enough', list(TYPE, 'small', 'middle', 'large'), 2, 0.3, 'small,middle in a,b for 0.3'],
    ['too few types', list(TYPE, 'small', 'middle', 'large'), 3, 0.3, 'none'],
    [
      'types enough, not listed',
      { key: TYPE, operator: 'Exists', values: [] },
      2,
      0.3,
      'small,middle in a,b for 0.3',
    ],
    ['too few, not listed', { key: TYPE, operator: 'Exists', values: [] }, 3, 0.3, 'none'],
  ])('of %s', (_, each, minValues, priceMax, expected) => {
    expect(open(priceMax, ANY, withMin(each, minValues))).toBe(expected);
  });

  it('of zones counts those in which the types are sold', () => {
    const claim = planned([
      list(CAPACITY_TYPE, 'on-demand'),
      list(TYPE, 'small', 'middle', 'large'),
      { ...list(ZONE, 'a', 'b'), minValues: 2 },
    ]);
    const soldIn = (zone: string, each: InstanceType) => ({
      ...each,
      offerings: each.offerings.filter((one) => one.zone === zone),
    });
    const types = [soldIn('a', SMALL), soldIn('b', MIDDLE), LARGE];
    expect(open(0.1, ANY, claim, types)).toBe('none');
    expect(open(0.3, ANY, claim, types)).toBe('small,middle in a,b for 0.3');
  });

  it('of types counts these, whatever their labels say', () => {
    const bare = TYPES.map((each) => ({ ...each, labels: {} }));
    const any: RequirementExpression = { key: TYPE, operator: 'Exists', values: [] };
    expect(open(0.3, ANY, withMin(any, 2), bare)).toBe('small,middle in a,b for 0.3');
    expect(open(0.3, ANY, withMin(any, 3), bare)).toBe('none');
  });

  it.each<[string, RequirementExpression, number, number, string]>([
    [
      'values enough',
      { key: 'family', operator: 'Exists', values: [] },
      3,
      0.2,
      'small,middle in a,b for 0.2',
    ],
    ['too few', { key: 'family', operator: 'Exists', values: [] }, 4, 0.2, 'none'],
    [
      'a label that no type has',
      { key: 'rack', operator: 'Exists', values: [] },
      4,
      0.2,
      'small,middle in a,b for 0.2',
    ],
    ['fewer listed than asked for', list('rack', 'x'), 2, 0.2, 'none'],
    ['as many listed as asked for', list('rack', 'x', 'y'), 2, 0.2, 'small,middle in a,b for 0.2'],
  ])('of other keys: %s', (_, each, minValues, priceMax, expected) => {
    expect(open(priceMax, ANY, withMin(each, minValues), families)).toBe(expected);
  });
});

describe('the most that types could come to cost', () => {
  it('is the dearest offering that the claim allows, of the chosen capacity type', () => {
    const spot = { ...SMALL, offerings: [...SMALL.offerings, offering('a', 'spot', 9)] };
    expect([...dearest(planned(), [spot, MIDDLE])]).toEqual([
      ['small', 0.2],
      ['middle', 0.3],
    ]);
    const inA = planned([list(CAPACITY_TYPE, 'on-demand'), list(ZONE, 'a')]);
    expect(dearest(inA, [spot, MIDDLE]).get('middle')).toBe(0.2);
  });

  it('is nothing where nothing can be launched', () => {
    expect(dearest(planned(undefined, { requests: { cpu: 9000 } }), TYPES).size).toBe(0);
  });
});
