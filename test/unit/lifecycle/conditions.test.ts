import { describe, expect, it } from 'vitest';
import {
  conditionOf,
  isTrue,
  readiness,
  sameConditions,
  withConditions,
} from '../../../shared/core/lifecycle/conditions.ts';
import type { Condition } from '../../../shared/core/model/cluster.ts';

function condition(
  type: string,
  status: Condition['status'] = 'True',
  rest: Partial<Condition> = {},
): Condition {
  return { type, status, reason: 'Because', message: '', lastTransitionAtMs: 1, ...rest };
}

describe('a condition', () => {
  const object = {
    conditions: [condition('A'), condition('B', 'False'), condition('C', 'Unknown')],
  };

  it('is found by its type', () => {
    expect(conditionOf(object, 'B')).toBe(object.conditions[1]);
    expect(conditionOf(object, 'D')).toBeUndefined();
  });

  it('is true where its status is True', () => {
    expect(['A', 'B', 'C', 'D'].map((type) => isTrue(object, type))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('setting conditions', () => {
  const set = (type: string, status: Condition['status'], reason: string) => ({
    type,
    status,
    reason,
    message: 'm',
  });

  it('keeps their time while the status stays, and takes the rest as it is', () => {
    const [same] = withConditions([condition('A')], [set('A', 'True', 'New')], 2);
    expect(same).toEqual({ ...set('A', 'True', 'New'), lastTransitionAtMs: 1 });
    const [changed] = withConditions([condition('A')], [set('A', 'False', 'New')], 2);
    expect(changed).toEqual({ ...set('A', 'False', 'New'), lastTransitionAtMs: 2 });
  });

  it('adds those that are new, and leaves others as they are, in the order of types', () => {
    const before = [condition('C'), condition('A')];
    const after = withConditions(before, [set('D', 'True', 'x'), set('B', 'True', 'x')], 2);
    expect(after.map(({ type }) => type)).toEqual(['A', 'B', 'C', 'D']);
    expect(after[2]).toBe(before[0]);
    expect(after[3]).toMatchObject({ lastTransitionAtMs: 2 });
    expect(withConditions(before, [], 2).map(({ type }) => type)).toEqual(['A', 'C']);
  });
});

describe('two lists of conditions', () => {
  const list = [condition('A'), condition('B')];
  it.each<[string, readonly Condition[], boolean]>([
    ['in another order', list.toReversed(), true],
    ['of another time', [condition('A', 'True', { lastTransitionAtMs: 9 }), condition('B')], true],
    ['one less', [condition('A')], false],
    ['of another type', [condition('A'), condition('C')], false],
    ['of another status', [condition('A', 'False'), condition('B')], false],
    ['of another reason', [condition('A', 'True', { reason: 'x' }), condition('B')], false],
    ['of another message', [condition('A', 'True', { message: 'x' }), condition('B')], false],
  ])('%s say the same', (_, other, same) => {
    expect(sameConditions(list, other)).toBe(same);
    expect(sameConditions(other, list)).toBe(same);
  });
});

describe('Ready', () => {
  it.each<[string, readonly Condition[], object]>([
    [
      'is True where all are',
      [condition('A'), condition('B')],
      { status: 'True', reason: 'Ready', message: '' },
    ],
    [
      'is False before it is Unknown',
      [condition('A', 'Unknown'), condition('B', 'False', { reason: 'No', message: 'm' })],
      { status: 'False', reason: 'No', message: 'B=False: m' },
    ],
    [
      'is Unknown for the first that is',
      [condition('A', 'Unknown', { reason: 'Wait' }), condition('B', 'Unknown')],
      { status: 'Unknown', reason: 'Wait', message: 'A=Unknown' },
    ],
    [
      'is Unknown where one is not there',
      [condition('A')],
      { status: 'Unknown', reason: 'BUnknown', message: 'B=Unknown' },
    ],
    [
      'does not go by others',
      [condition('A'), condition('B'), condition('C', 'False')],
      { status: 'True', reason: 'Ready', message: '' },
    ],
  ])('%s', (_, conditions, expected) => {
    expect(readiness(conditions, ['A', 'B'])).toEqual({ type: 'Ready', ...expected });
  });
});
