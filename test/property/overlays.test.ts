import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import { instanceType, nodeOverlay, nodePool, offering } from '../builders/overlays.ts';

const TYPES = ['a', 'b', 'c', 'd'].map((name, at) =>
  instanceType(
    `${name}.large`,
    [offering('z1', 'on-demand', at + 1), offering('z2', 'spot', (at + 1) / 3)],
    { family: [name], size: [String(at)] },
  ),
);
const POOLS = [nodePool('one', { team: 'x' }), nodePool('two'), nodePool('three')];
const LISTS = new Map(POOLS.map((pool) => [pool.name, TYPES]));

const requirement = fc.oneof(
  fc.record({
    key: fc.constantFrom('family', 'team', 'karpenter.sh/nodepool', 'karpenter.sh/capacity-type'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.subarray(['a', 'b', 'x', 'one', 'spot'], { minLength: 1 }),
  }),
  fc.record({
    key: fc.constantFrom('family', 'team', 'absent'),
    operator: fc.constantFrom('Exists', 'DoesNotExist'),
  }),
  fc.record({
    key: fc.constant('size'),
    operator: fc.constantFrom('Gt', 'Lt', 'Gte', 'Lte'),
    values: fc.constantFrom(['1'], ['2']),
  }),
);

const spec = fc.record(
  {
    requirements: fc.array(requirement, { maxLength: 2 }),
    priceAdjustment: fc.constantFrom('+10%', '-0.5', '-100%'),
    capacity: fc.dictionary(fc.constantFrom('x.io/a', 'x.io/b'), fc.constantFrom('1', '2')),
    weight: fc.integer({ min: 1, max: 3 }),
  },
  { requiredKeys: ['requirements'] },
);

const overlays = fc
  .array(spec, { maxLength: 6 })
  .map((specs) => specs.map((each, at) => nodeOverlay(`o${at}`, each)));

describe('resolving overlays', () => {
  it('gives the same answer in any order of overlays and pools', () => {
    fc.assert(
      fc.property(overlays, fc.infiniteStream(fc.nat()), (list, order) => {
        const [first, second] = [...order.take(2)];
        const turned = rotated(list, first ?? 0).reverse();
        const pools = rotated(POOLS, second ?? 0);
        const one = resolveOverlays(POOLS, LISTS, list);
        const other = resolveOverlays(pools, LISTS, turned);
        expect(other.overlays).toEqual(one.overlays);
        for (const { name } of POOLS) {
          expect(other.instanceTypes.get(name)).toEqual(one.instanceTypes.get(name));
        }
      }),
    );
  });

  it('never makes a price negative, and applies no overlay that is not ready', () => {
    fc.assert(
      fc.property(overlays, (list) => {
        const { instanceTypes, overlays: reports } = resolveOverlays(POOLS, LISTS, list);
        const ready = new Set(reports.filter((each) => each.ready).map((each) => each.name));
        for (const type of [...instanceTypes.values()].flat()) {
          for (const { price, priceOverlay } of type.offerings) {
            expect(price).toBeGreaterThanOrEqual(0);
            if (priceOverlay !== undefined) expect(ready).toContain(priceOverlay);
          }
          for (const name of type.capacityOverlays) expect(ready).toContain(name);
        }
      }),
    );
  });

  it('without the overlays that are not ready changes nothing', () => {
    fc.assert(
      fc.property(overlays, (list) => {
        const all = resolveOverlays(POOLS, LISTS, list);
        const ready = new Set(all.overlays.filter((each) => each.ready).map((each) => each.name));
        const rest = resolveOverlays(
          POOLS,
          LISTS,
          list.filter((each) => ready.has(each.name)),
        );
        for (const { name } of POOLS) {
          expect(rest.instanceTypes.get(name)).toEqual(all.instanceTypes.get(name));
        }
      }),
    );
  });
});

function rotated<Item>(list: readonly Item[], by: number): Item[] {
  const at = list.length === 0 ? 0 : by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}
