import { describe, expect, it } from 'vitest';
import {
  evictionCost,
  evictionCostOf,
  paidEvictionsOf,
} from '../../../../shared/core/disruption/consolidation/eviction-cost.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { podOf } from '../../../builders/scheduling.ts';

function costing(cost: string): Pod {
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost };
  return podOf('a', {}, { annotations });
}

describe('what the eviction of a pod counts as', () => {
  it.each<[string, number, Pod]>([
    ['1', 1, podOf('a')],
    ['more by its priority', 2, podOf('a', { priority: 2 ** 25 })],
    ['10 at most', 10, podOf('a', { priority: 2_000_000_000 })],
    ['more by its deletion cost', 2, costing(String(2 ** 27))],
    ['less by its deletion cost', 0, costing(String(-(2 ** 27)))],
    ['-10 at least', -10, costing(String(-(2 ** 40)))],
    ['1 where that cannot be read', 1, costing('much')],
    ['1 where that has no end', 1, costing('Infinity')],
  ])('%s', (_, expected, pod) => {
    expect(evictionCost(pod)).toBeCloseTo(expected, 6);
  });
});

describe('what the end of a node counts as', () => {
  it('is the sum over the pods that it would move', () => {
    expect(evictionCostOf([])).toBe(0);
    const daemon = podOf('d', {}, { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } });
    expect(evictionCostOf([podOf('a'), podOf('b', { priority: 2 ** 25 }), daemon])).toBe(3);
  });

  it('is made less by no pod', () => {
    expect(evictionCostOf([podOf('a'), costing(String(-(2 ** 40)))])).toBe(1);
  });
});

describe('what a move of pods is paid for as', () => {
  it('is one eviction for each ordinary pod that goes', () => {
    expect(paidEvictionsOf([])).toBe(0);
    const daemon = podOf('d', {}, { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } });
    expect(paidEvictionsOf([podOf('a'), podOf('b'), daemon])).toBe(2);
  });

  it('is two at most for a pod, however high its deletion cost or priority', () => {
    expect(paidEvictionsOf([costing(String(2 ** 26))])).toBe(1.5);
    expect(paidEvictionsOf([costing('1000000000')])).toBe(2);
    expect(paidEvictionsOf([podOf('a', { priority: 2_000_000_000 }), podOf('b')])).toBe(3);
  });

  it('is made less by no pod', () => {
    expect(paidEvictionsOf([podOf('a'), costing(String(-(2 ** 40)))])).toBe(1);
  });
});
