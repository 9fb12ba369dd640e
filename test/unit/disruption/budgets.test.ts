import { describe, expect, it } from 'vitest';
import {
  allowedDisruptions,
  isCounted,
  isFor,
  usesBudgets,
} from '../../../shared/core/disruption/budgets.ts';
import type { DisruptionBudget, NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { claimOf, nodeOf, poolOf, yes } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;
/** A Wednesday. */
const NOON = Date.UTC(2026, 6, 15, 12);

function budget(nodes: string, rest: Partial<DisruptionBudget> = {}): DisruptionBudget {
  return { nodes, schedule: undefined, durationMs: undefined, reasons: undefined, ...rest };
}

function allowed(budgets: readonly DisruptionBudget[], total = 10, disrupted = 0): number {
  const disruption = {
    consolidateAfter: 0,
    consolidationPolicy: 'WhenEmptyOrUnderutilized',
    budgets,
  } as const;
  const pool = poolOf('general', { disruption });
  return allowedDisruptions(pool, 'Drifted', { total, disrupted }, NOON);
}

describe('allowed disruptions', () => {
  it.each<[string, readonly DisruptionBudget[], number, number, number]>([
    ['no budget: all', [], 10, 0, 10],
    ['10 % of 6, rounded up', [budget('10%')], 6, 0, 1],
    ['10 % of 11, rounded up', [budget('10%')], 11, 0, 2],
    ['less those on their way', [budget('3')], 10, 2, 1],
    ['never below none', [budget('1')], 10, 3, 0],
    ['never above all', [budget('100')], 10, 0, 10],
    ['0 % lets nothing go', [budget('0%')], 10, 0, 0],
    ['the strictest counts', [budget('50%'), budget('2')], 10, 0, 2],
    [
      'those of other reasons do not',
      [budget('0', { reasons: ['Empty', 'Underutilized'] }), budget('4', { reasons: ['Drifted'] })],
      10,
      0,
      4,
    ],
    [
      'one that has begun',
      [budget('0', { schedule: '0 9 * * *', durationMs: 8 * HOUR })],
      10,
      0,
      0,
    ],
    ['one that is over', [budget('0', { schedule: '0 9 * * *', durationMs: 2 * HOUR })], 10, 0, 10],
    ['a percentage with more after it', [budget('50% or so')], 10, 0, 0],
    ['a percentage with more before it', [budget('about 50%')], 10, 0, 0],
    ['one that cannot be read', [budget('5', { schedule: 'noon', durationMs: HOUR })], 10, 0, 0],
  ])('%s', (_, budgets, total, disrupted, expected) => {
    expect(allowed(budgets, total, disrupted)).toBe(expected);
  });
});

describe('fallbacks', () => {
  it.each<[string, string | undefined, readonly DisruptionBudget[], number]>([
    ['none go unasked', undefined, [], 0],
    ['none go where what is asked cannot be read', 'nodes=some', [], 0],
    ['one goes where no number is asked for', 'after=1h', [], 1],
    ['so many as are asked for', 'nodes=3', [], 3],
    ['a share', 'nodes=25%', [], 3],
    ['a budget for every reason counts, too', 'nodes=3', [budget('2')], 2],
    ['a budget for another reason does not', 'nodes=3', [budget('0', { reasons: ['Empty'] })], 3],
  ])('%s', (_, text, budgets, expected) => {
    const annotations: Record<string, string> = {};
    if (text !== undefined) annotations['joiner.dev/return-to-first-choice'] = text;
    const { disruption } = poolOf('general');
    const pool = poolOf('general', { annotations, disruption: { ...disruption, budgets } });
    const nodes = { total: 10, disrupted: 0 };
    expect(allowedDisruptions(pool, 'Fallback', nodes, NOON)).toBe(expected);
  });
});

describe('budgets of a pool count', () => {
  const pool = poolOf('general');
  const joined = yes('Launched', 'Registered', 'Initialized');

  it.each<[string, boolean, Partial<NodeClaim>]>([
    ['a node that is initialised', true, { conditions: joined }],
    ['one that is deleted', true, { conditions: joined, deletedAtMs: 1 }],
    ['not one that starts', false, { conditions: yes('Launched', 'Registered') }],
    [
      'not one whose instance is being ended',
      false,
      { conditions: [...joined, ...yes('InstanceTerminating')] },
    ],
    [
      'not one of another pool',
      false,
      { conditions: joined, labels: { 'karpenter.sh/nodepool': 'other' } },
    ],
    ['not one of no pool', false, { conditions: joined, labels: {} }],
  ])('%s: %s', (_, expected, rest) => {
    expect(isCounted(claimOf('a', rest), pool)).toBe(expected);
  });
});

describe('a node that budgets count uses them up', () => {
  const ready = nodeOf('a', 4, 8, { conditions: yes('Ready') });
  it.each<[string, boolean, Parameters<typeof usesBudgets>]>([
    ['not where it is ready', false, [claimOf('a', {}), ready]],
    ['where its claim is being deleted', true, [claimOf('a', { deletedAtMs: 1 }), ready]],
    ['where it is gone', true, [claimOf('a', {}), undefined]],
    ['where it is not ready', true, [claimOf('a', {}), { ...ready, conditions: [] }]],
    ['where it is to go', true, [claimOf('a', {}), { ...ready, taints: [DISRUPTED] }]],
  ])('%s', (_, expected, [claim, node]) => {
    expect(usesBudgets(claim, node)).toBe(expected);
  });
});

describe('a budget', () => {
  it.each<[DisruptionBudget['reasons'], Parameters<typeof isFor>[1], boolean]>([
    [undefined, 'Drifted', true],
    [undefined, 'Empty', true],
    [undefined, 'Unhealthy', false],
    [['Unhealthy'], 'Unhealthy', true],
    [['Empty'], 'Drifted', false],
  ])('with the reasons %j is for %s: %s', (reasons, reason, expected) => {
    expect(isFor(budget('1', { reasons }), reason)).toBe(expected);
  });
});
