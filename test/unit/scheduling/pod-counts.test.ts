import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PodCounts } from '../../../shared/core/scheduling/plan/pod-counts.ts';

interface Drawn {
  readonly zone: string | undefined;
  readonly pods: number;
}

const SELECTOR = 7;
const node = fc.record({
  zone: fc.constantFrom(undefined, 'a', 'b', 'c', 'd', 'e'),
  pods: fc.nat(3),
});

function countsOf(nodes: readonly Drawn[]) {
  const labelled = nodes.map(({ zone, pods }) => ({ label: () => zone, pods }));
  const counts = new PodCounts(labelled);
  for (const each of labelled) if (each.pods > 0) counts.add(each, [SELECTOR], each.pods);
  return counts.by({ text: 'zone', key: 'zone', isCounted: () => true }, SELECTOR);
}

/** Pods by zone; a zone without pods is there with 0. */
function byZone(nodes: readonly Drawn[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { zone, pods } of nodes) {
    if (zone !== undefined) sums.set(zone, (sums.get(zone) ?? 0) + pods);
  }
  return sums;
}

it('pods are counted by domain, and domains without pods are there', () => {
  fc.assert(
    fc.property(fc.array(node), (nodes) => {
      const counts = countsOf(nodes);
      for (const zone of ['a', 'b', 'c', 'd', 'e']) {
        expect(counts.at(zone)).toBe(byZone(nodes).get(zone));
      }
    }),
  );
});

it('the least of any domain is that of both counts together', () => {
  fc.assert(
    fc.property(fc.array(node), fc.array(node), (running, placed) => {
      const sums = [...byZone([...running, ...placed]).values()];
      expect(countsOf(running).lowestWith(countsOf(placed))).toBe(
        Math.min(Number.POSITIVE_INFINITY, ...sums),
      );
    }),
  );
});
