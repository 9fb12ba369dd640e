import { describe, expect, it } from 'vitest';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');

describe('terminations that the process remembers', () => {
  it.each<[string, readonly number[], number]>([
    ['are none at first', [], 0],
    ['are those of the moment', [0, 0], 2],
    ['are those of the last minute', [59.999, 1], 2],
    ['are not those of a minute ago', [60, 61, 3599], 0],
  ])('%s', (_, secondsAgo, count) => {
    const memory = new LifecycleMemory();
    for (const ago of secondsAgo.toSorted((a, b) => b - a)) {
      memory.addTermination(NOW - ago * 1000);
    }
    expect(memory.terminations(NOW)).toBe(count);
    expect(memory.terminations(NOW)).toBe(count);
  });
});
