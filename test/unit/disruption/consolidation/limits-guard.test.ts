import { describe, expect, it } from 'vitest';
import {
  limitsGuardOf,
  overLimits,
} from '../../../../shared/core/disruption/consolidation/limits-guard.ts';
import { isReason, type Reason, sentence } from '../../../../shared/core/explain/reason.ts';
import { LIMITS_GUARD } from '../../../../shared/core/model/labels.ts';
import { GI, podOf, poolOf } from '../../../builders/scheduling.ts';

const guarded = (text: string) => poolOf('general', { annotations: { [LIMITS_GUARD]: text } });

describe('the guard on limits', () => {
  it.each([
    ['cpu=4', { cpu: 4 }],
    ['cpu=4,memory=1.2', { cpu: 4, memory: 1.2 }],
    [' cpu=4 , memory=0.5 ', { cpu: 4, memory: 0.5 }],
    ['nvidia.com/gpu=1,X.io/y=2', { 'nvidia.com/gpu': 1, 'X.io/y': 2 }],
    [
      'ephemeral-storage=1,hugepages-2Mi=1,pods=0.9',
      { 'ephemeral-storage': 1, 'hugepages-2Mi': 1, pods: 0.9 },
    ],
    ['cpu=10.25', { cpu: 10.25 }],
  ])('%j is read', (text, expected) => {
    const guard = limitsGuardOf(guarded(text));
    expect(isReason(guard) ? guard : Object.fromEntries(guard)).toEqual(expected);
  });

  it('is none without the annotation', () => {
    expect(limitsGuardOf(poolOf('general'))).toEqual(new Map());
  });

  it.each([
    ...['', 'much', 'cpu', 'cpu=', 'cpu=0', 'cpu=-1', 'cpu=1,', 'cpu=1e3', 'cpu=1.', '=1'],
    ...[
      'cpu=1=2',
      'c pu=1',
      'cpu=.5',
      'cpu=0.0',
      'cpu=1x',
      'x cpu=1',
      'cup=4',
      'CPU=4',
      'cpu=4,memroy=1',
    ],
  ])('"%s" is refused', (text) => {
    const message = `Annotation joiner.dev/limits-guard: "${text}" is invalid; example: cpu=4,memory=1.2`;
    const guard = limitsGuardOf(guarded(text));
    expect(isReason(guard) && sentence(guard)).toBe(message);
    expect(overLimits(guarded(text), 'n', { cpu: 1 }, [])).toEqual(guard);
  });
});

function textOf(found: Reason | undefined): string | undefined {
  return found && sentence(found);
}

describe('pods on a node', () => {
  const room = { cpu: 2000, memory: 8 * GI };
  const limited = (name: string, rest: Parameters<typeof podOf>[2] = {}) =>
    podOf(name, { cpu: 500, limits: { cpu: 3000 } }, rest);
  const over = (text: string, ...pods: readonly ReturnType<typeof podOf>[]) =>
    textOf(overLimits(guarded(text), 'node-1', room, pods));

  it.each([
    ['cpu=3', undefined],
    [
      'cpu=2.9',
      'The cpu limits of the pods on node-1 would be 3.00 times its allocatable; ' +
        'NodePool general allows 2.9 times',
    ],
    ['memory=0.25', undefined],
    [
      'memory=0.2',
      expect.stringContaining('The memory limits of the pods on node-1 would be 0.25 times'),
    ],
    ['cpu=3,memory=0.2', expect.stringContaining('The memory limits')],
    ['nvidia.com/gpu=1', undefined],
  ])('%s', (text, expected) => {
    expect(over(text, limited('a'), limited('b'))).toEqual(expected);
  });

  it('without a limit count as they request, and with a smaller one, too', () => {
    expect(over('cpu=0.5', podOf('a', { cpu: 1000 }))).toBeUndefined();
    expect(over('cpu=0.5', podOf('a', { cpu: 1001 }))).toBeDefined();
    expect(over('cpu=0.5', podOf('a', { cpu: 1001, limits: { cpu: 1 } }))).toBeDefined();
  });

  it('that are over do not count', () => {
    expect(over('cpu=1.5', limited('a'), limited('b', { phase: 'Succeeded' }))).toBeUndefined();
    expect(over('cpu=1.5', limited('a'), limited('b', { phase: 'Failed' }))).toBeUndefined();
    expect(over('cpu=1.5', limited('a'), limited('b'))).toBeDefined();
  });

  it('are never too much without a guard', () => {
    expect(overLimits(poolOf('general'), 'n', {}, [limited('a')])).toBeUndefined();
  });
});
