import { describe, expect, it } from 'vitest';
import {
  activeBars,
  type Bars,
  believedBars,
  offeringsOf,
  withBar,
} from '../../../shared/core/launch/bars.ts';

const NOW_MS = 1_000_000;
const ZONES = ['a', 'b', 'c', 'd', 'e', 'f'];

function barred(zones: readonly string[]): Bars {
  return zones.reduce<Bars>(
    (bars, zone) =>
      withBar(
        bars,
        { instanceType: 'm7g.large', zone, capacityType: 'spot' },
        { kind: 'shortage', reason: 'ICE', markedAtMs: NOW_MS },
      ),
    new Map(),
  );
}

function believed(own: readonly string[], others: readonly string[], zones = ZONES.length) {
  const all = offeringsOf(activeBars(barred(own), [barred(others)], NOW_MS + 1));
  return believedBars(all, () => zones).map(({ zone }) => zone);
}

describe('what another stack has barred of a type', () => {
  it.each<[string, string[], string[], number, string[]]>([
    ['counts in one zone of three', [], ['a'], 3, ['a']],
    ['does not count in two zones of three', [], ['a', 'b'], 3, []],
    ['does not count in every zone', [], ZONES, 6, []],
    ['takes nothing from what we have met', ['c', 'd'], ZONES, 6, ['c', 'd']],
    ['is ours where we have met it too', ['a', 'b', 'c'], ['a', 'b', 'c'], 3, ['a', 'b', 'c']],
  ])('%s', (_, own, others, zones, expected) => {
    expect(believed(own, others, zones)).toEqual(expected);
  });
});
