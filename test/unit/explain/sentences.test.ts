import { expect, it } from 'vitest';
import { sentencesByBudget } from '../../../cli/explain/sentences.ts';
import { reason } from '../../../shared/core/explain/reason.ts';

const evictionOf = (pod: string, budget = 'shop/web') =>
  reason('eviction-not-allowed', { pod: `shop/${pod}`, budget });

it('puts the pods that one PodDisruptionBudget keeps in one sentence', () => {
  const text = sentencesByBudget([
    evictionOf('b'),
    reason('node-nominated', {}),
    evictionOf('db', 'shop/db'),
    evictionOf('a'),
    evictionOf('d'),
    evictionOf('c'),
  ]);
  expect(text.split('; ')).toEqual([
    'PodDisruptionBudget shop/web does not allow the eviction of 4 pods: shop/a, shop/b, shop/c and 1 more',
    'The node is nominated for pending pods',
    'PodDisruptionBudget shop/db does not allow the eviction of Pod shop/db',
  ]);
});
