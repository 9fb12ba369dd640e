import { describe, expect, it } from 'vitest';
import { stageText } from '../../../shared/core/explain/parameters.ts';

describe('a stage', () => {
  it.each([
    [0, 'cause: 0 after cpu 500'],
    [1, '1 after cpu 500'],
    [97, '97 after cpu 500'],
  ])('that left %d types', (after, text) => {
    expect(stageText({ what: 'cpu 500', after })).toBe(text);
  });
});
