import { describe, expect, it } from 'vitest';
import { type OverlayResolution, resolveOverlays } from '../../../shared/core/overlay/resolve.ts';
import { instanceType, nodeOverlay, nodePool, offering } from '../../builders/overlays.ts';

const FAMILY = 'karpenter.k8s.aws/instance-family';
const MEMORY = 'karpenter.k8s.aws/instance-memory';

const small = instanceType(
  'c7g.large',
  [offering('a', 'on-demand', 0.1), offering('b', 'on-demand', 0.1), offering('a', 'spot', 0.04)],
  { [FAMILY]: ['c7g'], [MEMORY]: ['4096'], 'karpenter.k8s.aws/instance-gpu-count': null },
);
const large = instanceType('m7g.xlarge', [offering('a', 'on-demand', 0.2)], {
  [FAMILY]: ['m7g'],
  [MEMORY]: ['16384'],
  'karpenter.k8s.aws/instance-gpu-count': ['1'],
});
const TYPES = [small, large];

const general = nodePool('general', { team: 'a' });
const batch = nodePool('batch', { team: 'b' });
const BOTH = new Map([
  ['general', TYPES],
  ['batch', TYPES],
]);

function resolve(...overlays: Parameters<typeof nodeOverlay>[]): OverlayResolution {
  const list = overlays.map(([name, spec]) => nodeOverlay(name, spec));
  return resolveOverlays([general, batch], BOTH, list);
}

/** `pool/type/zone/capacityType` of every offering whose price changed, with the price. */
function prices({ instanceTypes }: OverlayResolution): Readonly<Record<string, number>> {
  const changed = [...instanceTypes].flatMap(([pool, types]) =>
    types.flatMap((type) =>
      type.offerings
        .filter((each) => each.priceOverlay !== undefined)
        .map((each) => {
          const key = `${pool}/${type.name}/${each.zone}/${each.capacityType}`;
          return [key, Math.round(each.price * 1e6) / 1e6] as const;
        }),
    ),
  );
  return Object.fromEntries(changed);
}

function capacities({ instanceTypes }: OverlayResolution, pool: string) {
  return Object.fromEntries(
    (instanceTypes.get(pool) ?? [])
      .filter((type) => type.capacityOverlays.length > 0)
      .map((type) => [type.name, type.capacity]),
  );
}

const everything = { requirements: [], price: '9' };

function matches(requirement: object): readonly string[] {
  const found = resolve(['o', { ...everything, requirements: [requirement] }]);
  return Object.keys(prices(found));
}

const SMALL = ['a/on-demand', 'b/on-demand', 'a/spot'].map((each) => `c7g.large/${each}`);
const LARGE = ['m7g.xlarge/a/on-demand'];

function inPools(pools: readonly string[], offerings: readonly string[]): readonly string[] {
  return pools.flatMap((pool) => offerings.map((each) => `${pool}/${each}`));
}

const ALL_POOLS = ['batch', 'general'];

describe('what an overlay matches', () => {
  it.each([
    [{ key: FAMILY, operator: 'In', values: ['c7g', 'c8g'] }, inPools(ALL_POOLS, SMALL)],
    [{ key: FAMILY, operator: 'NotIn', values: ['c7g'] }, inPools(ALL_POOLS, LARGE)],
    [
      { key: 'karpenter.k8s.aws/instance-gpu-count', operator: 'Exists' },
      inPools(ALL_POOLS, LARGE),
    ],
    [
      { key: 'karpenter.k8s.aws/instance-gpu-count', operator: 'DoesNotExist' },
      inPools(ALL_POOLS, SMALL),
    ],
    [{ key: MEMORY, operator: 'Gt', values: ['4096'] }, inPools(ALL_POOLS, LARGE)],
    [{ key: MEMORY, operator: 'Gte', values: ['4096'] }, inPools(ALL_POOLS, [...SMALL, ...LARGE])],
    [{ key: MEMORY, operator: 'Lt', values: ['4096'] }, []],
    [{ key: MEMORY, operator: 'Lte', values: ['4096'] }, inPools(ALL_POOLS, SMALL)],
    [
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
      inPools(ALL_POOLS, SMALL.slice(2)),
    ],
    [
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['b'] },
      inPools(ALL_POOLS, SMALL.slice(1, 2)),
    ],
    [
      { key: 'karpenter.sh/nodepool', operator: 'In', values: ['batch'] },
      inPools(['batch'], [...SMALL, ...LARGE]),
    ],
    [{ key: 'team', operator: 'In', values: ['a'] }, inPools(['general'], [...SMALL, ...LARGE])],
    [{ key: 'team', operator: 'DoesNotExist' }, []],
    [{ key: 'absent', operator: 'Exists' }, []],
    [{ key: 'absent', operator: 'DoesNotExist' }, inPools(ALL_POOLS, [...SMALL, ...LARGE])],
  ])('%j', (requirement, expected) => {
    expect([...matches(requirement)].sort()).toEqual([...expected].sort());
  });
});

const LARGE_ONLY = [{ key: FAMILY, operator: 'In', values: ['m7g'] }];

describe('prices', () => {
  it.each([
    [{ price: '5' }, 5],
    [{ priceAdjustment: '+10%' }, 0.22],
    [{ priceAdjustment: '-25%' }, 0.15],
    [{ priceAdjustment: '-100%' }, 0],
    [{ priceAdjustment: '+0.05' }, 0.25],
    [{ priceAdjustment: '-0.5' }, 0],
  ])('%j', (change, expected) => {
    const found = prices(resolve(['o', { requirements: LARGE_ONLY, ...change }]));
    expect(found['general/m7g.xlarge/a/on-demand']).toBe(expected);
  });

  it('are adjusted once, from the list price, by the heaviest', () => {
    const found = resolve(
      ['light', { requirements: LARGE_ONLY, priceAdjustment: '+100%', weight: 1 }],
      ['heavy', { requirements: LARGE_ONLY, priceAdjustment: '-50%', weight: 2 }],
    );
    expect(prices(found)['general/m7g.xlarge/a/on-demand']).toBe(0.1);
    expect(found.overlays.map(({ name, shadowed }) => ({ name, shadowed }))).toEqual([
      { name: 'heavy', shadowed: [] },
      { name: 'light', shadowed: [{ field: 'price', by: ['heavy'] }] },
    ]);
  });

  it('of a lighter overlay hold where the heavier does not match', () => {
    const found = resolve(
      ['light', { price: '1', weight: 1 }],
      ['heavy', { requirements: LARGE_ONLY, price: '2', weight: 2 }],
    );
    expect(prices(found)).toMatchObject({
      'general/c7g.large/a/spot': 1,
      'general/m7g.xlarge/a/on-demand': 2,
    });
    expect(found.overlays.every((each) => each.shadowed.length === 0)).toBe(true);
  });
});

describe('capacities', () => {
  it('merge by resource, the heaviest first', () => {
    const found = resolve(
      ['light', { capacity: { 'example.com/a': '1', 'example.com/b': '1' }, weight: 1 }],
      ['heavy', { capacity: { 'example.com/b': '2' }, weight: 2 }],
    );
    expect(capacities(found, 'general')['c7g.large']).toMatchObject({
      'example.com/a': 1,
      'example.com/b': 2,
    });
    const [type] = found.instanceTypes.get('general') ?? [];
    expect(type?.capacityOverlays).toEqual(['heavy', 'light']);
  });

  it('name those that set them, in the order of names', () => {
    const { instanceTypes } = resolve(
      ['z', { capacity: { 'example.com/a': '1' }, weight: 2 }],
      ['y', { capacity: { 'example.com/b': '1' }, weight: 1 }],
    );
    expect(instanceTypes.get('general')?.[0]?.capacityOverlays).toEqual(['y', 'z']);
  });

  it('of others stay named where only a price is set', () => {
    const before = { ...small, capacityOverlays: ['z', 'y'] };
    const { instanceTypes } = resolveOverlays([general], new Map([['general', [before]]]), [
      nodeOverlay('o', { price: '2' }),
    ]);
    expect(instanceTypes.get('general')?.[0]?.capacityOverlays).toEqual(['z', 'y']);
  });

  it('leave the given types as they were', () => {
    const before = structuredClone(TYPES);
    resolve(['o', { capacity: { 'example.com/a': '1' }, price: '3' }]);
    expect(TYPES).toEqual(before);
  });
});

describe('overlays of equal weight that clash', () => {
  const found = () =>
    resolve(
      ['b-second', { requirements: LARGE_ONLY, price: '2', capacity: { 'example.com/a': '1' } }],
      ['a-first', { price: '1' }],
    );

  it('are won by the first in the alphabet; the other is applied nowhere', () => {
    expect(prices(found())['general/m7g.xlarge/a/on-demand']).toBe(1);
    expect(capacities(found(), 'general')).toEqual({});
  });

  it('name the winner, the NodePool, the type and the field', () => {
    expect(
      found().overlays.map(({ name, ready, reason, message }) => [name, ready, reason, message]),
    ).toEqual([
      ['a-first', true, 'ValidationSucceeded', ''],
      [
        'b-second',
        false,
        'Conflict',
        'conflict with overlay a-first of equal weight 0: both set price of instance type m7g.xlarge in NodePool batch',
      ],
    ]);
  });

  it('name the first type and the first resource in the alphabet, whatever came first', () => {
    const types = ['z.large', 'a.large', 'm.large'].map((name) =>
      instanceType(name, [offering('a', 'spot', 1), offering('b', 'spot', 1)]),
    );
    const clash = (...specs: readonly object[]): readonly string[] => {
      const overlays = specs.map((spec, at) => nodeOverlay(`o${at}`, spec));
      const resolution = resolveOverlays([general], new Map([['general', types]]), overlays);
      return resolution.overlays.map(({ message }) => message).filter((each) => each !== '');
    };
    const both = { 'x.io/b': '1', 'x.io/a': '1' };
    expect(clash({ capacity: both }, { capacity: both })).toEqual([
      'conflict with overlay o0 of equal weight 0: ' +
        'both set capacity.x.io/a of instance type a.large in NodePool general',
    ]);
    const ofLast = [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m.large'] },
    ];
    const last = { requirements: ofLast, capacity: { 'x.io/a': '1' } };
    expect(clash(last, last)[0]).toContain('both set capacity.x.io/a of instance type m.large in');
    const inZone = (zone: string) => ({
      requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }],
      price: '1',
    });
    // Of one type each offering clashes with another overlay.
    const [type] = types;
    const apart = (...offerings: readonly ReturnType<typeof offering>[]) => {
      const lists = new Map([['general', [{ ...(type ?? small), offerings }]]]);
      const overlays = ['z', 'y', 'x'].map((name, at) =>
        nodeOverlay(`${at}${name}`, at === 2 ? { price: '1' } : inZone(at === 0 ? 'a' : 'b')),
      );
      return resolveOverlays([general], lists, overlays).overlays.at(-1)?.message;
    };
    const pair = [offering('a', 'spot', 1), offering('b', 'spot', 1)] as const;
    expect(apart(...pair)).toContain('conflict with overlay 0z ');
    expect(apart(...pair.toReversed())).toContain('conflict with overlay 0z ');
    expect(clash(inZone('b'), inZone('a'), { price: '1' })).toEqual([
      'conflict with overlay o0 of equal weight 0: ' +
        'both set price of instance type a.large in NodePool general',
    ]);
  });

  it('say no more of the other', () => {
    expect(found().overlays).toMatchObject([
      { isDead: false, shadowed: [] },
      { isDead: false, shadowed: [] },
    ]);
  });

  it('do not clash where they set different fields, or different types', () => {
    const apart = resolve(
      ['a', { requirements: LARGE_ONLY, price: '1' }],
      ['b', { requirements: [{ key: FAMILY, operator: 'In', values: ['c7g'] }], price: '2' }],
      ['c', { capacity: { 'example.com/a': '1' } }],
    );
    expect(apart.overlays.map((each) => each.ready)).toEqual([true, true, true]);
  });
});

describe('fields that heavier overlays set everywhere', () => {
  it('are named with those that did, in the order of names', () => {
    const inZone = (zone: string) => [
      { key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] },
    ];
    const found = resolve(
      ['z', { requirements: inZone('a'), price: '1', weight: 3 }],
      ['y', { requirements: inZone('b'), price: '1', weight: 2 }],
      ['x', { capacity: { 'x.io/a': '1' }, weight: 2 }],
      ['light', { capacity: { 'x.io/a': '2' }, price: '2', weight: 1 }],
    );
    expect(found.overlays.at(-1)?.shadowed).toEqual([
      { field: 'price', by: ['y', 'z'] },
      { field: 'capacity.x.io/a', by: ['x'] },
    ]);
  });
});

describe('faults', () => {
  it('of one overlay do not stop the others', () => {
    const found = resolve(
      ['bad', { capacity: { 'vpc.amazonaws.com/efa': '1' }, price: '1', weight: 9 }],
      ['good', { price: '2', weight: 1 }],
    );
    expect(found.overlays.map(({ name, reason }) => [name, reason])).toEqual([
      ['bad', 'RuntimeValidation'],
      ['good', 'ValidationSucceeded'],
    ]);
    expect(found.overlays[0]).toMatchObject({ ready: false, isDead: false, shadowed: [] });
    expect(prices(found)['general/m7g.xlarge/a/on-demand']).toBe(2);
  });

  it('a NodePool without instance types is left out', () => {
    const { instanceTypes } = resolveOverlays([general, batch], new Map([['batch', TYPES]]), [
      nodeOverlay('o', { price: '2' }),
    ]);
    expect([...instanceTypes.keys()]).toEqual(['batch']);
  });

  it('an overlay that matches nothing is dead', () => {
    const found = resolve([
      'o',
      { requirements: [{ key: FAMILY, operator: 'In', values: ['x'] }] },
    ]);
    expect(found.overlays[0]).toMatchObject({ isDead: true, ready: true });
  });
});

describe('sharing', () => {
  it('pools that no overlay tells apart share one list; untouched types stay the same objects', () => {
    const found = resolve(['o', { requirements: LARGE_ONLY, price: '2' }]);
    expect(found.instanceTypes.get('general')).toBe(found.instanceTypes.get('batch'));
    expect(found.instanceTypes.get('general')?.[0]).toBe(small);
  });

  it('pools that two overlays tell apart, each in its own way, do not', () => {
    const team = (value: string) => [{ key: 'team', operator: 'In', values: [value] }];
    const found = resolve(
      ['a', { requirements: team('a'), price: '2' }],
      ['b', { requirements: team('b'), price: '3' }],
    );
    const paid = (pool: string) => found.instanceTypes.get(pool)?.[1]?.offerings[0]?.price;
    expect([paid('general'), paid('batch')]).toEqual([2, 3]);
  });

  it('pools are told apart by which overlay they meet, not by how many', () => {
    const unless = (key: string) => [{ key, operator: 'NotIn', values: ['x'] }];
    const pools = [nodePool('first', { one: 'x' }), nodePool('second', { two: 'x' })];
    const lists = new Map(pools.map(({ name }) => [name, TYPES]));
    const { instanceTypes } = resolveOverlays(pools, lists, [
      nodeOverlay('a', { requirements: unless('one'), price: '2' }),
      nodeOverlay('b', { requirements: unless('two'), price: '3' }),
    ]);
    const paid = (pool: string) => instanceTypes.get(pool)?.[1]?.offerings[0]?.price;
    expect([paid('first'), paid('second')]).toEqual([3, 2]);
  });

  it('pools that an overlay tells apart do not', () => {
    const team = [{ key: 'team', operator: 'In', values: ['a'] }];
    const found = resolve(['o', { requirements: team, price: '2' }]);
    expect(found.instanceTypes.get('batch')).toBe(TYPES);
    expect(found.instanceTypes.get('general')).not.toBe(TYPES);
  });
});

it('capacity comes with offerings that can be had, not with those that are sold out', () => {
  const typeWith = (available: boolean) =>
    instanceType('t', [{ ...offering('a', 'spot', 0.1), available }, offering('b', 'spot', 0.1)]);
  const inA = { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a'] };
  const overlay = nodeOverlay('o', { requirements: [inA], capacity: { 'example.com/x': '1' } });
  const capacityOf = (available: boolean) => {
    const types = new Map([['general', [typeWith(available)]]]);
    const { instanceTypes } = resolveOverlays([general], types, [overlay]);
    return instanceTypes.get('general')?.[0]?.capacity['example.com/x'];
  };
  expect(capacityOf(true)).toBe(1);
  expect(capacityOf(false)).toBeUndefined();
});
