import { describe, expect, it } from 'vitest';
import {
  isPreferred,
  preferredOver,
  returnTermsOf,
} from '../../../shared/core/disruption/first-choice.ts';
import { isReason, sentence } from '../../../shared/core/explain/reason.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  type CapacityType,
  RETURN_TO_FIRST_CHOICE,
} from '../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import { claimOf, poolOf, typeOf } from '../../builders/scheduling.ts';

describe('the annotation', () => {
  it.each([
    ['nodes=2,after=1h', { nodes: '2', afterMs: 3_600_000 }],
    ['nodes=10%', { nodes: '10%', afterMs: 1_800_000 }],
    [' after = 0s ', { nodes: '1', afterMs: 0 }],
  ])('%s', (text, expected) => {
    expect(returnTermsOf({ annotations: { [RETURN_TO_FIRST_CHOICE]: text } })).toEqual(expected);
  });

  it.each([
    '',
    'nodes',
    'nodes=',
    'nodes=-1',
    'nodes=150%',
    'nodes=1=2',
    'after=soon',
    'nodes=1;after=1h',
  ])('"%s" cannot be read', (text) => {
    const terms = returnTermsOf({ annotations: { [RETURN_TO_FIRST_CHOICE]: text } });
    if (terms === undefined || !isReason(terms)) throw new Error('it was read');
    expect(sentence(terms)).toMatch(/" is invalid; example: nodes=1,after=30m$/u);
  });

  it('is not needed', () => {
    expect(returnTermsOf(poolOf('general'))).toBeUndefined();
  });
});

const of = (capacityType: string) => claimOf('a', { labels: { [CAPACITY_TYPE]: capacityType } });
const types: readonly InstanceType[] = [typeOf('m.large', 2, 8, 0.1, { spot: true })];
const pool = poolOf('second', { weight: 10 });

function names(capacityType: string, pools: readonly NodePool[] = [pool], own = pool) {
  const found = preferredOver(of(capacityType), own, pools, () => types);
  return found.map(({ name, isAvailable }) => `${name}${isAvailable ? '' : ' (none)'}`);
}

describe('what is tried before a node', () => {
  it.each([
    ['reserved', []],
    ['spot', ['reserved (none)']],
    ['on-demand', ['reserved (none)', 'spot']],
    ['', []],
  ])('of capacity type "%s"', (capacityType, expected) => {
    expect(names(capacityType)).toEqual(expected);
  });

  it('no capacity type that its NodePool excludes', () => {
    const requirements = [
      { key: CAPACITY_TYPE, operator: 'In' as const, values: ['on-demand', 'spot'] },
    ];
    const own = poolOf('second', { requirements });
    expect(names('on-demand', [own], own)).toEqual(['spot']);
  });

  it('NodePools of a greater weight, the greatest first, but no static or deleted one', () => {
    const others = [
      poolOf('b', { weight: 20 }),
      poolOf('a', { weight: 20 }),
      poolOf('most', { weight: 100 }),
      poolOf('equal', { weight: 10 }),
      poolOf('static', { weight: 50, replicas: 2 }),
      poolOf('going', { weight: 50, isDeleting: true }),
    ];
    expect(names('reserved', [...others, pool])).toEqual([
      'NodePool most',
      'NodePool a',
      'NodePool b',
    ]);
  });
});

describe('a plan', () => {
  const pools = [poolOf('first', { weight: 50 }), pool, poolOf('third', { weight: 5 })];
  const planned = (nodePool: string, capacityType: CapacityType) => ({
    nodePool,
    chosen: {
      type: 'm.large',
      zone: 'a',
      capacityType,
      reservationId: undefined,
      price: 1,
      listPrice: 1,
    },
  });

  it.each([
    ['first', 'on-demand', 'spot', true],
    ['second', 'spot', 'on-demand', true],
    ['second', 'reserved', 'spot', true],
    ['second', 'on-demand', 'on-demand', false],
    ['second', 'on-demand', 'spot', false],
    ['third', 'reserved', 'on-demand', false],
    ['gone', 'reserved', 'on-demand', false],
  ] as const)('for %s %s instead of %s: %s', (nodePool, capacityType, had, expected) => {
    const is = isPreferred(planned(nodePool, capacityType), of(had), pool, pools);
    expect(is).toBe(expected);
  });
});
