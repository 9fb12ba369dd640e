import { describe, expect, it } from 'vitest';
import { backtestText } from '../../../cli/backtest/render.ts';

const SIDE = { nodes: 0, usdPerHour: 0, usd: 0, moves: 0, nodesRemoved: 0, evictions: 0 };
const NONE = { ...SIDE, movesSavedUsd: 0 };
const LAUNCH = { file: 'a.json', atMs: 0, hours: 1, recorded: SIDE, variant: SIDE };

function textOf(searches: number, ...compared: readonly boolean[]): string {
  const launches = compared.map((isCompared) => ({ ...LAUNCH, isCompared }));
  const difference = { ...NONE, netUsd: 0 };
  const sides = { recorded: NONE, variant: NONE, difference };
  return backtestText({ launches, searches, searchesLeftOut: 0, ...sides }, 'Joiner', 'USD');
}

describe('the text of a back-test', () => {
  const nothing = 'There is nothing to compare';

  it.each([
    [textOf(0), true],
    [textOf(0, false), true],
    [textOf(0, false, true), false],
    [textOf(1), false],
  ])('has figures only where something is compared', (text, isEmpty) => {
    expect(text.includes(nothing)).toBe(isEmpty);
    expect(text.includes('Nodes launched')).toBe(!isEmpty);
  });
});
