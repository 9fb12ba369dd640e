import { describe, expect, it } from 'vitest';
import { guardRatiosOf } from '../../../../shared/core/disruption/consolidation/guard-ratios.ts';
import { isReason, sentence } from '../../../../shared/core/explain/reason.ts';
import { poolOf } from '../../../builders/scheduling.ts';

const guard = {
  annotation: 'joiner.dev/a-guard',
  like: 'cpu=0.5',
  isValid: (resource: string, ratio: number) => resource !== 'disk' && ratio <= 2,
};

const read = (text: string) =>
  guardRatiosOf(poolOf('general', { annotations: { [guard.annotation]: text } }), guard);

describe('ratios of an annotation', () => {
  it.each([
    ['cpu=2', { cpu: 2 }],
    [' cpu=1 , memory=0.25 ', { cpu: 1, memory: 0.25 }],
    ['nvidia.com/gpu=1,X.io/y=2', { 'nvidia.com/gpu': 1, 'X.io/y': 2 }],
  ])('%j are read', (text, expected) => {
    const ratios = read(text);
    expect(isReason(ratios) ? ratios : Object.fromEntries(ratios)).toEqual(expected);
  });

  it('are none where it is missing, or is that of another guard', () => {
    expect(guardRatiosOf(poolOf('general'), guard)).toEqual(new Map());
    const other = poolOf('general', { annotations: { 'joiner.dev/b-guard': 'cpu=1' } });
    expect(guardRatiosOf(other, guard)).toEqual(new Map());
  });

  it.each(['', 'cpu', 'cpu=0', 'cpu=1,', 'cpu=-1', 'cpu=2.1', 'disk=1', 'cpu=1,disk=1', 'c pu=1'])(
    '%j cannot be read',
    (text) => {
      const ratios = read(text);
      const message = `Annotation joiner.dev/a-guard: "${text}" is invalid; example: cpu=0.5`;
      expect(isReason(ratios) && sentence(ratios)).toBe(message);
    },
  );
});
