import { describe, expect, it } from 'vitest';
import { chooseLaunch, everyOption } from '../../../shared/core/launch/overrides.ts';
import type { InstanceType, Offering } from '../../../shared/core/model/instance-type.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';

function offering(capacityType: Offering['capacityType'], price: number, zone = 'a'): Offering {
  return {
    zone,
    zoneId: undefined,
    capacityType,
    price,
    listPrice: price,
    priceOverlay: undefined,
    available: true,
    reservation:
      capacityType === 'reserved' ? { id: 'cr-1', type: 'default', capacity: 2 } : undefined,
    capacityOverride: undefined,
    overheadOverride: undefined,
  };
}

const nothing = { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} };

function type(name: string, offerings: readonly Offering[], labels = {}): InstanceType {
  return {
    name,
    labels,
    capacity: { cpu: 4000, pods: 58 },
    overhead: nothing,
    offerings,
    capacityOverlays: [],
    attachLimits: undefined,
  };
}

const gpu = { 'karpenter.k8s.aws/instance-gpu-count': ['1'] };

function chosen(
  types: readonly InstanceType[],
  requirements: readonly RequirementExpression[] = [],
  cpu = 1000,
): string {
  const choice = chooseLaunch({ requirements, requests: { cpu } }, types, 2);
  if ('stages' in choice) return choice.stages.map(({ left }) => left).join(' ');
  const names = choice.options.map(({ type: { name }, offering: { zone } }) => `${name}/${zone}`);
  return `${choice.capacityType} ${names.join(' ')}`;
}

describe('what is asked of a fleet', () => {
  const onDemand = (name: string, price: number) => type(name, [offering('on-demand', price)]);
  it('takes a key of the user’s for nothing else, whatever it is', () => {
    const own = { key: 'constructor', operator: 'In', values: ['a'] } as const;
    expect(chosen([onDemand('a', 1)], [own])).toBe('on-demand a/a');
  });

  it.each([
    [
      'cheapest first, cut at the number of types',
      [onDemand('c', 3), onDemand('a', 1), onDemand('b', 2)],
      'on-demand a/a b/a',
    ],
    [
      'reserved before spot',
      [type('a', [offering('spot', 1), offering('reserved', 0.1)])],
      'reserved a/a',
    ],
    [
      'spot before on-demand',
      [type('a', [offering('on-demand', 2), offering('spot', 1)])],
      'spot a/a',
    ],
    [
      'spot dearer than on-demand is left out',
      [type('a', [offering('spot', 3)]), onDemand('b', 2)],
      'on-demand b/a',
    ],
    [
      'GPU types only where no other offering fits',
      [type('g', [offering('on-demand', 1)], gpu), onDemand('b', 2)],
      'on-demand b/a',
    ],
    [
      'GPU types where they are all there is',
      [type('g', [offering('on-demand', 1)], gpu)],
      'on-demand g/a',
    ],
    ['nothing large enough: what each filter left', [], '0 0 0 0 0'],
  ] as const)('%s', (_, types, expected) => {
    expect(chosen(types)).toBe(expected);
  });

  it('minValues keep exotic types', () => {
    const types = [type('g', [offering('on-demand', 1)], gpu), onDemand('b', 2)];
    const key = 'node.kubernetes.io/instance-type';
    const flexible = [{ key, operator: 'Exists', values: [], minValues: 2 }] as const;
    expect(chosen(types, flexible)).toBe('on-demand g/a b/a');
  });

  it.each([
    ['as many types as minValues can be had', 2, 'on-demand a/a b/a'],
    ['fewer can be had, since others are short', 3, '3 3 3 2 2 0'],
  ])('%s', (_, minValues, expected) => {
    const short = { ...offering('on-demand', 3), available: false };
    const types = [onDemand('a', 1), onDemand('b', 2), type('c', [short])];
    const key = 'node.kubernetes.io/instance-type';
    const flexible = [{ key, operator: 'In', values: ['a', 'b', 'c'], minValues }] as const;
    expect(chosen(types, flexible)).toBe(expected);
  });

  it('says at which filter everything was lost', () => {
    expect(chosen([onDemand('a', 1)], [], 5000)).toBe('1 1 1 1 0');
    const zone = [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z'] }] as const;
    expect(chosen([onDemand('a', 1)], zone)).toBe('1 1 0 0 0');
  });
});

const ZONE = 'topology.kubernetes.io/zone';
const need = (
  key: string,
  operator: RequirementExpression['operator'],
  ...values: readonly string[]
): RequirementExpression => ({ key, operator, values });

describe('types that a claim allows', () => {
  const one = (labels: InstanceType['labels']) => type('a.large', [offering('spot', 1)], labels);
  it.each<[string, RequirementExpression, InstanceType['labels'], boolean]>([
    ['by name', need('node.kubernetes.io/instance-type', 'In', 'a.large'), {}, true],
    ['by another name', need('node.kubernetes.io/instance-type', 'In', 'b.large'), {}, false],
    ['by a label', need('family', 'In', 'a', 'b'), { family: ['a'] }, true],
    ['by one of several values', need('arch', 'In', 'b'), { arch: ['a', 'b'] }, true],
    ['not by another label', need('family', 'In', 'b'), { family: ['a'] }, false],
    ['by a number', need('cpu', 'Gt', '4'), { cpu: ['8'] }, true],
    ['not by a number', need('cpu', 'Gt', '8'), { cpu: ['8'] }, false],
    ['by what they do not say', need('team', 'In', 'x'), {}, true],
    ['by what they never have', need('gpu', 'DoesNotExist'), { gpu: null }, true],
    ['not by what they never have', need('gpu', 'Exists'), { gpu: null }, false],
    ['by a label without values', need('gpu', 'DoesNotExist'), { gpu: [] }, true],
    ['not by a label without values', need('gpu', 'Exists'), { gpu: [] }, false],
  ])('%s', (_, requirement, labels, isAllowed) => {
    expect(chosen([one(labels)], [requirement])).toBe(isAllowed ? 'spot a.large/a' : '1 0 0 0 0');
  });
});

describe('offerings that a claim allows', () => {
  const reserved = offering('reserved', 1);
  const spot = { ...offering('spot', 2, 'b'), zoneId: 'use1-az2' };
  it.each<[RequirementExpression, string]>([
    [need(ZONE, 'In', 'b', 'c'), 'spot x/b'],
    [need(ZONE, 'NotIn', 'b'), 'reserved x/a'],
    [need('topology.k8s.aws/zone-id', 'In', 'use1-az2'), 'spot x/b'],
    [need('topology.k8s.aws/zone-id', 'DoesNotExist'), 'reserved x/a'],
    [need('karpenter.sh/capacity-type', 'In', 'spot'), 'spot x/b'],
    [need('karpenter.k8s.aws/capacity-reservation-id', 'In', 'cr-1'), 'reserved x/a'],
    [need('karpenter.k8s.aws/capacity-reservation-id', 'DoesNotExist'), 'spot x/b'],
    [need('karpenter.k8s.aws/capacity-reservation-type', 'In', 'default'), 'reserved x/a'],
    [need('karpenter.k8s.aws/capacity-reservation-type', 'NotIn', 'default'), 'spot x/b'],
  ])('%j', (requirement, expected) => {
    expect(chosen([type('x', [reserved, spot])], [requirement])).toBe(expected);
  });

  it('are those that can be had; every option has the others, too', () => {
    const gone = { ...offering('spot', 1), available: false };
    const types = [type('x', [gone, offering('spot', 2, 'b')]), type('y', [gone])];
    expect(chosen(types)).toBe('spot x/b');
    expect(chosen([type('y', [gone])])).toBe('1 1 1 0 0');
    const names = (requirements: readonly RequirementExpression[], cpu = 1000) =>
      everyOption({ requirements, requests: { cpu } }, types).map(
        ({ type: { name }, offering: { zone } }) => `${name}/${zone}`,
      );
    expect(names([])).toEqual(['x/a', 'x/b', 'y/a']);
    expect(names([need(ZONE, 'In', 'a')])).toEqual(['x/a', 'y/a']);
    expect(names([need('node.kubernetes.io/instance-type', 'In', 'y')])).toEqual(['y/a']);
    expect(names([], 5000)).toEqual([]);
  });

  it('are large enough beside what the system keeps', () => {
    const keeping = (cpu: number): InstanceType => ({
      ...type('x', [offering('spot', 1)]),
      overhead: { ...nothing, kubeReserved: { cpu } },
    });
    expect(chosen([keeping(3000)])).toBe('spot x/a');
    expect(chosen([keeping(3001)])).toBe('1 1 1 1 0');
  });
});

describe('the order of what is asked for', () => {
  it('is by price, then type, then zone, in whatever order they come', () => {
    const types = [
      type('b', [offering('spot', 1, 'b'), offering('spot', 1, 'a')]),
      type('a', [offering('spot', 1, 'c'), offering('spot', 0.5, 'd')]),
    ];
    const expected = 'spot a/d a/c b/a b/b';
    expect(chosen(types)).toBe(expected);
    const turned = types.toReversed().map((each) => ({
      ...each,
      offerings: each.offerings.toReversed(),
    }));
    expect(chosen(turned)).toBe(expected);
  });

  it('says whether an overlay has set a price of what is asked for', () => {
    const laid = { ...offering('spot', 1), priceOverlay: 'o' };
    const overlaid = (...offerings: readonly Offering[]) => {
      const choice = chooseLaunch({ requirements: [], requests: {} }, [type('x', offerings)], 2);
      return 'stages' in choice ? undefined : choice.priceOverlaid;
    };
    expect(overlaid(laid)).toBe(true);
    expect(overlaid(laid, offering('spot', 2, 'b'))).toBe(true);
    expect(overlaid(offering('spot', 1))).toBe(false);
    // Of what is not asked for it does not matter.
    expect(overlaid({ ...offering('on-demand', 5), priceOverlay: 'o' }, offering('spot', 1))).toBe(
      false,
    );
  });
});

describe('exotic types and dear spot offerings', () => {
  const plain = type('plain', [offering('on-demand', 9)]);
  it.each<[string, InstanceType['labels']]>([
    ['metal', { 'karpenter.k8s.aws/instance-size': ['metal'] }],
    ['metal of a size', { 'karpenter.k8s.aws/instance-size': ['metal-24xl'] }],
    ['a GPU', gpu],
    ['an accelerator', { 'karpenter.k8s.aws/instance-accelerator-count': ['1'] }],
  ])('%s gives way to a plain one', (_, labels) => {
    const exotic = type('exotic', [offering('on-demand', 1)], labels);
    expect(chosen([exotic, plain])).toBe('on-demand plain/a');
    expect(chosen([exotic])).toBe('on-demand exotic/a');
  });

  it.each<[string, InstanceType['labels']]>([
    ['a size', { 'karpenter.k8s.aws/instance-size': ['large', 'not-metal'] }],
    ['no GPU', { 'karpenter.k8s.aws/instance-gpu-count': null }],
    ['a GPU count without values', { 'karpenter.k8s.aws/instance-gpu-count': [] }],
  ])('%s is plain', (_, labels) => {
    const cheap = type('cheap', [offering('on-demand', 1)], labels);
    expect(chosen([cheap, plain])).toBe('on-demand cheap/a plain/a');
  });

  it('spot as dear as on-demand stays, a little dearer goes', () => {
    const onDemand = type('b', [offering('on-demand', 2), offering('on-demand', 3, 'b')]);
    expect(chosen([type('a', [offering('spot', 2)]), onDemand])).toBe('spot a/a');
    expect(chosen([type('a', [offering('spot', 2.01)]), onDemand])).toBe('on-demand b/a b/b');
    expect(chosen([type('a', [offering('spot', 9)])])).toBe('spot a/a');
  });

  it('minValues of one requirement keep both', () => {
    const flexible = [{ ...need('family', 'Exists'), minValues: 1 }, need('team', 'Exists')];
    const types = [type('a', [offering('spot', 3)]), type('b', [offering('on-demand', 2)])];
    expect(chosen(types, flexible)).toBe('spot a/a');
  });
});

it('says what each narrowing has left where nothing can be launched', () => {
  expect(chooseLaunch({ requirements: [], requests: {} }, [], 9)).toEqual({
    stages: [
      { what: 'instance types', left: 0 },
      { what: 'types that meet the requirements', left: 0 },
      { what: 'offerings that meet the requirements', left: 0 },
      { what: 'available offerings', left: 0 },
      { what: 'offerings large enough', left: 0 },
    ],
  });
});

describe('reserved capacity', () => {
  const held = (
    id: string,
    capacity: number,
    changes: Partial<Offering> & {
      kind?: 'default' | 'capacity-block';
      interruptible?: boolean;
    } = {},
  ): Offering => {
    const { kind = 'default', interruptible = false, ...rest } = changes;
    const reservation = { id, type: kind, capacity, interruptible };
    return { ...offering('reserved', 1), reservation, ...rest };
  };
  const bought = (
    requirements: readonly RequirementExpression[],
    ...types: readonly InstanceType[]
  ): string => {
    const choice = chooseLaunch({ requirements, requests: {} }, types, 9);
    if ('stages' in choice) return 'nothing';
    return choice.options
      .map(({ type: { name }, offering: each }) => `${name}/${each.zone}/${each.reservation?.id}`)
      .join(' ');
  };
  const reservations = (...types: readonly InstanceType[]): string => bought([], ...types);

  it('is of the reservation with most capacity per type and zone', () => {
    expect(reservations(type('x', [held('cr-1', 1), held('cr-2', 3), held('cr-3', 2)]))).toBe(
      'x/a/cr-2',
    );
    const apart = type('x', [held('cr-1', 1), held('cr-2', 3, { zone: 'b' })]);
    expect(reservations(apart, type('y', [held('cr-3', 2)]))).toBe('x/a/cr-1 x/b/cr-2 y/a/cr-3');
  });

  it('is of the first by id where they have as much', () => {
    const offerings = [held('cr-2', 1), held('cr-1', 1)];
    expect(reservations(type('x', offerings))).toBe('x/a/cr-1');
    expect(reservations(type('x', offerings.toReversed()))).toBe('x/a/cr-1');
  });

  it('is of the cheapest one’s kind, and of capacity blocks the cheapest alone', () => {
    const block = { kind: 'capacity-block' } as const;
    const cheap = held('cr-b', 1, { ...block, price: 0.5 });
    const dear = held('cr-c', 1, { ...block, price: 0.6, zone: 'b' });
    expect(reservations(type('x', [held('cr-1', 5), dear, cheap]))).toBe('x/a/cr-b');
    const later = held('cr-b', 9, { ...block, price: 2 });
    expect(reservations(type('x', [later, held('cr-1', 1)]))).toBe('x/a/cr-1');
  });

  it('is never of such that its owner may take back and of others in one fleet', () => {
    const lent = held('cr-2', 9, { interruptible: true, price: 2 });
    expect(reservations(type('x', [held('cr-1', 1)]), type('y', [lent]))).toBe('x/a/cr-1');
    expect(reservations(type('x', [held('cr-1', 1), lent]))).toBe('x/a/cr-1');
  });

  it.each([
    { operator: 'DoesNotExist', values: [] },
    { operator: 'NotIn', values: ['cr-1'] },
  ] as const)('is left alone by a claim that wants none: %o', (rule) => {
    const key = 'karpenter.k8s.aws/capacity-reservation-id';
    const both = type('x', [held('cr-1', 1), offering('on-demand', 2)], { [key]: ['cr-1'] });
    expect(bought([{ key, ...rule }], both)).toBe('x/a/undefined');
  });

  it.each(['true', 'false'])('is what the claim asks for: interruptible %s', (value) => {
    const key = 'karpenter.k8s.aws/capacity-reservation-interruptible';
    const lent = held('cr-true', 9, { interruptible: true });
    const both = type('x', [lent, held('cr-false', 1)], { [key]: ['false', 'true'] });
    expect(bought([{ key, operator: 'In', values: [value] }], both)).toBe(`x/a/cr-${value}`);
  });
});
