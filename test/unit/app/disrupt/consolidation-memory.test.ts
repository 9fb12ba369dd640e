import { expect, it } from 'vitest';
import { ConsolidationMemory } from '../../../../shared/app/disrupt/consolidation-memory.ts';

it('a search waits while pods come and go, for two passes at most', () => {
  const memory = new ConsolidationMemory();
  const passes = [true, true, true, true, false, true];
  expect(passes.map((isUnsettled) => memory.postpones(isUnsettled))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
});
