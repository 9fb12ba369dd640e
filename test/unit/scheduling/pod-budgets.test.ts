import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../shared/core/model/pod.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import { budgetsSelecting } from '../../../shared/core/scheduling/problem/pod-budgets.ts';
import { selects } from '../../../shared/core/scheduling/problem/selectors.ts';
import { budgetOf, podOf } from '../../builders/scheduling.ts';

const key = fc.constantFrom('a', 'b', 'constructor');
const value = fc.constantFrom('1', '2', '');
const labels = fc.dictionary(key, value);
const expression = fc.record({
  key,
  operator: fc.constantFrom(
    'In' as const,
    'NotIn' as const,
    'Exists' as const,
    'DoesNotExist' as const,
  ),
  values: fc.array(value, { minLength: 1 }),
});
const selector = fc.record({ matchLabels: labels, matchExpressions: fc.array(expression) });
const namespace = fc.constantFrom('x', 'y');

describe('the budgets of a pod', () => {
  it('are those whose selectors select it, in its namespace', () => {
    const drawn = fc.array(fc.tuple(namespace, fc.option(selector, { nil: undefined })));
    const check = (
      found: readonly (readonly [string, LabelSelector | undefined])[],
      own: string,
      podLabels: Record<string, string>,
    ): void => {
      const budgets = found.map(([each, asked], at) =>
        budgetOf({ namespace: each, name: `b-${at + 10}`, selector: asked }),
      );
      const pod = podOf('a', {}, { namespace: own, labels: podLabels });
      const expected = budgets.filter(
        (each) => each.namespace === own && selects(each.selector, podLabels),
      );
      expect(budgetsSelecting(pod, budgets)).toEqual(expected);
    };
    fc.assert(fc.property(drawn, namespace, labels, check), { numRuns: 500 });
  });

  it('are found by what a selector asks for, read once for all pods', () => {
    let reads = 0;
    const counted = (at: number): RequirementExpression => ({
      get key() {
        reads += 1;
        return `label-${at}`;
      },
      operator: 'NotIn',
      values: ['x'],
    });
    const matchExpressions = Array.from({ length: 1000 }, (_, at) => counted(at));
    const budgets = [budgetOf({ selector: { matchLabels: {}, matchExpressions } })];
    const pods = Array.from({ length: 50 }, (_, at) => podOf(`p-${at}`));
    expect(pods.every((pod) => budgetsSelecting(pod, budgets).length === 1)).toBe(true);
    expect(reads).toBeLessThanOrEqual(2 * matchExpressions.length);
  });
});
