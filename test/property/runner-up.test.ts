import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { CAPACITY_TYPE, ZONE } from '../../shared/core/model/labels.ts';
import type { PlannedNodeClaim } from '../../shared/core/model/plan.ts';
import { fitsResources, subtractResources } from '../../shared/core/model/resources.ts';
import { GI, planOf, podOf, poolOf, typeOf, ZONES } from '../builders/scheduling.ts';

/** Prices that are no multiple of each other, some of them equal. */
const type = fc.record({
  cpu: fc.constantFrom(2, 4, 8, 16),
  memory: fc.constantFrom(4, 8, 16, 32),
  price: fc.integer({ min: 5, max: 60 }).map((each) => each / 97),
  spot: fc.boolean(),
  zones: fc.subarray([...ZONES], { minLength: 1 }),
});

const types: fc.Arbitrary<readonly InstanceType[]> = fc
  .array(type, { minLength: 1, maxLength: 8 })
  .map((all) =>
    all.map(({ cpu, memory, price, ...rest }, at) => typeOf(`t${at}`, cpu, memory, price, rest)),
  );

const pod = fc.record({
  cpu: fc.integer({ min: 100, max: 3500 }),
  memory: fc.integer({ min: 1, max: 7 }).map((each) => each * GI),
  zone: fc.option(fc.constantFrom(...ZONES), { nil: undefined }),
});

const nodePools = fc
  .subarray(['spot', 'on-demand'], { minLength: 1 })
  .map((values) => [
    poolOf('general', { requirements: [{ key: CAPACITY_TYPE, operator: 'In', values }] }),
  ]);

const podsOf = (all: readonly { cpu: number; memory: number; zone: string | undefined }[]) =>
  all.map(({ zone, ...requests }, at) => {
    const selector = zone === undefined ? {} : { nodeSelector: { [ZONE]: zone } };
    return podOf(`p${at}`, { ...requests, ...selector });
  });

describe('the runner-up', () => {
  it('is what a pod gets without the chosen type, at exactly the difference', () => {
    let compared = 0;
    fc.assert(
      fc.property(types, pod, nodePools, (all, one, pools) => {
        const pods = podsOf([one]);
        const [claim] = planOf({ types: all, pods, nodePools: pools }).newNodeClaims;
        if (claim === undefined) return;
        const { chosen, runnerUp } = claim;
        const others = all.filter(({ name }) => name !== chosen.type);
        const [next] = planOf({ types: others, pods, nodePools: pools }).newNodeClaims;
        if (next === undefined) {
          expect([undefined, chosen.type]).toContain(runnerUp?.type);
          return;
        }
        compared += 1;
        expect(runnerUp).toMatchObject(next.chosen);
        expect(runnerUp?.priceDifference).toBe(next.chosen.price - chosen.price);
      }),
      { numRuns: 1000 },
    );
    expect(compared).toBeGreaterThan(500);
  });

  it('holds the same pods, and no other type does for less', () => {
    fc.assert(
      fc.property(types, fc.array(pod, { maxLength: 12 }), nodePools, (all, many, pools) => {
        const { newNodeClaims } = planOf({ types: all, pods: podsOf(many), nodePools: pools });
        for (const claim of newNodeClaims) {
          const prices = pricesOf(all, claim).filter(([name]) => name !== claim.chosen.type);
          const least = Math.min(...prices.map(([, price]) => price));
          if (claim.runnerUp === undefined || claim.runnerUp.type === claim.chosen.type) {
            expect(prices).toEqual([]);
          } else expect(claim.runnerUp.price).toBe(least);
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** What each type that holds the pods of the claim costs at least, as its requirements allow. */
function pricesOf(
  all: readonly InstanceType[],
  claim: PlannedNodeClaim,
): readonly (readonly [string, number])[] {
  const allowed = (key: string) => claim.requirements.find((each) => each.key === key)?.values;
  const isAllowed = (key: string, value: string) => allowed(key)?.includes(value) ?? true;
  return all.flatMap(({ name, capacity, overhead, offerings }) => {
    if (!fitsResources(claim.requests, subtractResources(capacity, overhead.kubeReserved)))
      return [];
    const open = offerings.filter(
      ({ zone, capacityType }) => isAllowed(ZONE, zone) && isAllowed(CAPACITY_TYPE, capacityType),
    );
    return open.length === 0 ? [] : [[name, Math.min(...open.map(({ price }) => price))] as const];
  });
}
