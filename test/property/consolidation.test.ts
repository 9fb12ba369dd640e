import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GainBound } from '../../shared/core/disruption/consolidation/bound.ts';
import { consolidate } from '../../shared/core/disruption/consolidation/consolidate.ts';
import { moveOf } from '../../shared/core/disruption/consolidation/move.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import { fitsResources, subtractResources } from '../../shared/core/model/resources.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../shared/core/model/snapshot.ts';
import {
  applied,
  type Cluster,
  clusterOf,
  consolidationOf,
  poolUses,
  type Used,
} from '../builders/consolidation.ts';
import { FAMILY, GI, podOf, ZONES } from '../builders/scheduling.ts';

const TYPES = FAMILY.map(({ name }) => name);

/** Requests of pods, and a node that is at least large enough for them. */
const used = fc.record({
  type: fc.nat(TYPES.length - 1),
  zone: fc.constantFrom(...ZONES),
  capacityType: fc.constantFrom('spot' as const, 'on-demand' as const, 'on-demand' as const),
  pods: fc.array(
    fc.record({ cpu: fc.constantFrom(200, 500, 900, 1500), memory: fc.constantFrom(1, 2, 6) }),
    { minLength: 1, maxLength: 5 },
  ),
});

const cluster: fc.Arbitrary<Cluster> = fc.array(used, { minLength: 1, maxLength: 6 }).map((nodes) =>
  clusterOf(
    nodes.flatMap(({ type, zone, capacityType, pods }, at): readonly Used[] => {
      const own = pods.map(({ cpu, memory }, n) =>
        podOf(`pod-${at}-${n}`, { cpu, memory: memory * GI }),
      );
      const cpu = pods.reduce((sum, each) => sum + each.cpu, 0);
      const memory = pods.reduce((sum, each) => sum + each.memory * GI, 0);
      const least = FAMILY.findIndex(({ capacity }) =>
        fitsResources({ cpu, memory, pods: pods.length }, capacity),
      );
      const name = TYPES[Math.max(least, type)] ?? '';
      return [{ name: `node-${at}`, type: name, zone, capacityType, pods: own }];
    }),
  ),
);

const priceOf = ({ usages }: Cluster): number =>
  usages.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);

const groundOf = ({ snapshot, usages }: Cluster) => ({
  snapshot,
  waiting: new Set<string>(),
  pools: poolUses(usages),
  scheduling: DEFAULT_SCHEDULING_SETTINGS,
  settings: DEFAULT_CONSOLIDATION_SETTINGS,
});

function overfull({ usages }: Cluster): readonly string[] {
  return usages
    .filter(({ node, pods }) => {
      const left = pods.reduce(
        (free, { spec }) => subtractResources(free, spec.requests),
        node.allocatable,
      );
      return Object.values(left).some((amount) => amount < 0);
    })
    .map(({ node }) => node.name);
}

describe('consolidation', () => {
  it('gains what it says, and every pod has a place', () => {
    fc.assert(
      fc.property(cluster, (before) => {
        const { moves } = consolidate(consolidationOf(before));
        const after = applied(before, moves);
        const saving = moves.reduce((sum, { balance }) => sum + balance.saving, 0);
        expect(priceOf(before) - priceOf(after)).toBeCloseTo(saving, 9);
        for (const { gain } of moves) expect(gain).toBeGreaterThan(0);
        expect(overfull(after)).toEqual([]);
        expect(after.snapshot.pods).toHaveLength(before.snapshot.pods.length);
      }),
      { numRuns: 150 },
    );
  });

  it('comes to rest: each further plan is cheaper, and soon there is none', () => {
    fc.assert(
      fc.property(cluster, (first) => {
        let now = first;
        for (let round = 0; round <= first.usages.length; round += 1) {
          const { moves } = consolidate(consolidationOf(now));
          if (moves.length === 0) return;
          const after = applied(now, moves);
          expect(priceOf(after)).toBeLessThan(priceOf(now));
          now = after;
        }
        expect(consolidate(consolidationOf(now)).moves).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });

  it('does not depend on the order of anything', () => {
    fc.assert(
      fc.property(cluster, ({ snapshot, usages }) => {
        const turned = {
          snapshot: {
            ...snapshot,
            nodes: snapshot.nodes.toReversed(),
            nodeClaims: snapshot.nodeClaims.toReversed(),
            pods: snapshot.pods.toReversed(),
          },
          usages: usages.toReversed(),
        };
        const text = (each: Cluster): string => {
          const { moves, refusals } = consolidate(consolidationOf(each));
          const named = moves.map(({ nodes, replacements, elsewhere, gain }) => [
            nodes.map(({ node }) => node.name).sort(),
            replacements,
            [...elsewhere].sort(),
            gain.toFixed(9),
          ]);
          return JSON.stringify([named, [...refusals].sort()]);
        };
        expect(text(turned)).toBe(text({ snapshot, usages }));
      }),
      { numRuns: 60 },
    );
  });

  it('gains no more than the bound by which plans are spared', () => {
    fc.assert(
      fc.property(cluster, (each) => {
        const { snapshot, usages } = each;
        const own = { settings: DEFAULT_CONSOLIDATION_SETTINGS, pools: poolUses(usages) };
        const bound = new GainBound(snapshot, new Set(), own);
        const groups = [...usages.map((one) => [one]), usages.slice(0, 2), usages];
        for (const group of groups) {
          const found = moveOf(groundOf(each), group);
          if (found.kind !== 'move') continue;
          expect(found.gain).toBeLessThanOrEqual(bound.of(group).gain + 1e-9);
        }
      }),
      { numRuns: 60 },
    );
  });
});
