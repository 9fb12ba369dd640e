import { describe, expect, it } from 'vitest';
import type { Operator, RequirementExpression } from '../../../shared/core/model/requirement.ts';
import {
  ABSENT,
  ANY_VALUE,
  allows,
  contradictingKey,
  intersect,
  intersectRequirements,
  isContradiction,
  oneOf,
  requirementsOf,
  requirementsOfLabels,
  UNCONSTRAINED,
  valueSet,
} from '../../../shared/core/requirements/value-set.ts';

const need = (key: string, operator: Operator, ...values: string[]): RequirementExpression => ({
  key,
  operator,
  values,
});

describe('a set of values', () => {
  it.each([
    ['any value', ANY_VALUE, { given: true, absent: false }],
    ['no constraint', UNCONSTRAINED, { given: true, absent: true }],
    ['no label', ABSENT, { given: false, absent: true }],
    ['one of two', oneOf('a', 'b'), { given: true, absent: false }],
    ['one of none', oneOf(), { given: false, absent: false }],
  ])('%s', (_, set, { given, absent }) => {
    expect(allows(set, 'a')).toBe(given);
    expect(allows(set, undefined)).toBe(absent);
  });

  it.each([
    ['any value', ANY_VALUE, false],
    ['no label', ABSENT, false],
    ['one of none', oneOf(), true],
    ['In and In of others', intersect(oneOf('a'), oneOf('b')), true],
    ['one number', intersect(valueSet('Gte', ['3']), valueSet('Lte', ['3'])), false],
    ['no number', intersect(valueSet('Gt', ['3']), valueSet('Lte', ['3'])), true],
    ['from a number on', valueSet('Gte', ['3']), false],
    ['NotIn or no label', intersect(valueSet('NotIn', ['a']), ABSENT), false],
  ])('%s: contradicts itself', (_, set, contradicts) => {
    expect(isContradiction(set)).toBe(contradicts);
  });
});

describe('requirements of expressions', () => {
  it('are the conjunction of those of one key, and apart for others', () => {
    const all = requirementsOf([
      need('zone', 'In', 'a', 'b', 'c'),
      need('cpu', 'Gt', '4'),
      need('zone', 'NotIn', 'b'),
      need('cpu', 'Lt', '16'),
    ]);
    expect([...all.keys()]).toEqual(['zone', 'cpu']);
    expect([...(all.get('zone')?.values ?? [])]).toEqual(['a', 'c']);
    expect(all.get('cpu')).toMatchObject({ complement: true, atLeast: 5, atMost: 15 });
  });

  it('are none without expressions', () => {
    expect(requirementsOf([]).size).toBe(0);
  });
});

describe('requirements of labels', () => {
  it('take each label’s own value and nothing else', () => {
    const all = requirementsOfLabels({ zone: 'a', team: 'red' });
    expect([...all.keys()]).toEqual(['zone', 'team']);
    const allowed = ['a', 'red', undefined].map((value) =>
      [...all.values()].map((set) => allows(set, value)),
    );
    expect(allowed).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });
});

describe('requirements together', () => {
  const a = requirementsOf([need('zone', 'In', 'a', 'b'), need('team', 'Exists')]);
  const b = requirementsOf([need('zone', 'In', 'b', 'c'), need('arch', 'In', 'arm64')]);

  it('have the keys of both, and per key what both allow', () => {
    const both = intersectRequirements(a, b);
    expect([...both.keys()]).toEqual(['zone', 'team', 'arch']);
    expect(both.get('zone')).toEqual(oneOf('b'));
    expect(both.get('team')).toEqual(ANY_VALUE);
    expect(both.get('arch')).toEqual(oneOf('arm64'));
  });

  it('leave their parts as they were', () => {
    intersectRequirements(a, b);
    expect([...a.keys()]).toEqual(['zone', 'team']);
    expect(a.get('zone')).toEqual(oneOf('a', 'b'));
  });

  it('name the first key that nothing meets', () => {
    const both = intersectRequirements(
      a,
      requirementsOf([need('zone', 'In', 'c'), need('team', 'DoesNotExist')]),
    );
    expect(contradictingKey(both)).toBe('zone');
    expect(contradictingKey(requirementsOf([need('team', 'In', 'a')]))).toBeUndefined();
    expect(contradictingKey(a)).toBeUndefined();
  });
});
