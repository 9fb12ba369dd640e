import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import type { Attempt } from '../../../shared/core/scheduling/attempt.ts';
import { budgetsOf } from '../../../shared/core/scheduling/effort.ts';
import { grown } from '../../../shared/core/scheduling/one-attempt.ts';
import { improved } from '../../../shared/core/scheduling/placing/improve.ts';
import { PlanSteps } from '../../../shared/core/scheduling/plan-steps.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import { SearchContext } from '../../../shared/core/scheduling/search/search-state.ts';
import { nodeOf, planOf, podOf, podsOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

/** As many as are wanted. */
const any = () => new PlanSteps(Number.POSITIVE_INFINITY);

const port = { protocol: 'TCP', ip: '0.0.0.0', port: 80 } as const;

function contextOf(rest: Parameters<typeof snapshotOf>[0]): SearchContext {
  const problem = compileProblem(snapshotOf(rest), DEFAULT_SCHEDULING_SETTINGS);
  return new SearchContext(problem, { kinds: new Set() });
}

const [IMPROVING] = budgetsOf('normal').flatMap(({ improving }) => improving ?? []);
if (IMPROVING === undefined) throw new Error('a normal effort improves plans');

function plainly(context: SearchContext): Attempt {
  const found = grown(context);
  if (found === undefined) throw new Error('it was not bounded');
  return found;
}

describe('improving a small plan', () => {
  // Large pods first: 3 and 2 on a, which leaves b with 3 and 2 and nowhere for the last.
  const nodes = [nodeOf('a', 4, 64), nodeOf('b', 6, 64)];
  const pods = [...podsOf(2, 'big', { cpu: 3000 }), ...podsOf(2, 'small', { cpu: 2000 })];

  it('finds room on existing nodes by placing pods anew', () => {
    const context = contextOf({ nodes, pods, types: [] });
    const start = plainly(context);
    expect(start.placed).toEqual([3]);
    const better = improved(start, context.resolvedClasses, IMPROVING, any());
    expect(better.placed).toEqual([4]);
    const all = better.state.existingNodes.map(({ content }) => [...content.values()]);
    expect(all).toEqual([[2], [2]]);
  });

  it('is part of solving', () => {
    expect(planOf({ nodes, pods, types: [] }).unplaced.size).toBe(0);
  });

  it('launches less where pods fit on what is there', () => {
    const types = [typeOf('m.large', 2, 8, 0.1)];
    expect(planOf({ nodes, pods, types }).newNodeClaims).toEqual([]);
  });

  it('finds the same again', () => {
    const context = contextOf({ nodes, pods, types: [] });
    const [one, two] = [
      improved(plainly(context), context.resolvedClasses, IMPROVING, any()),
      improved(plainly(context), context.resolvedClasses, IMPROVING, any()),
    ];
    expect(one.state.steps).toBe(two.state.steps);
    expect(one.price).toBe(two.price);
  });

  it('leaves a plan alone of which nothing can be moved', () => {
    const context = contextOf({ pods: [podOf('huge', { cpu: 1_000_000 })] });
    const start = plainly(context);
    expect(improved(start, context.resolvedClasses, IMPROVING, any())).toBe(start);
  });

  it('never uses more of a reservation than there is', () => {
    const [base] = typeOf('m.large', 2, 8, 0.1, { zones: ['zone-a'] }).offerings;
    if (base === undefined) throw new Error('an offering');
    const reservation = { id: 'cr-1', type: 'default' as const, capacity: 2 };
    const free = { ...base, capacityType: 'reserved' as const, price: 0.000001, reservation };
    const context = contextOf({
      types: [typeOf('m.large', 2, 8, 0.1, { offerings: [base, free] })],
      pods: podsOf(5, 'a', { cpu: 2000 }),
    });
    const { state } = improved(plainly(context), context.resolvedClasses, IMPROVING, any());
    const reserved = state.bins.filter(({ chosen }) => chosen.offering.reservation !== undefined);
    expect(reserved).toHaveLength(2);
    expect(state.bins).toHaveLength(5);
  });
});

describe('of plans of one price', () => {
  const types = [typeOf('c.xlarge', 4, 8, 0.17), typeOf('c.2xlarge', 8, 16, 0.34)];
  const chosen = (pods: readonly Pod[], offered: readonly InstanceType[] = types) =>
    planOf({ types: offered, pods }).newNodeClaims.map((claim) => claim.chosen.type);

  it('the one with fewer nodes is taken', () => {
    const all = [...types, typeOf('c.4xlarge', 16, 32, 0.68)];
    const pods = [2500, 1750, 1250, 3250, 750].map((cpu, at) => podOf(`p${at}`, { cpu }));
    expect(chosen(pods, all).toSorted()).toEqual(['c.2xlarge', 'c.xlarge']);
    const random = numbers(1);
    for (let round = 0; round < 20; round++) {
      const some = Array.from({ length: 2 + below(14, random) }, (_, at) =>
        podOf(`p${at}`, { cpu: 250 * (1 + below(14, random)) }),
      );
      // Prices go by size: two nodes that are not the largest would do as one, but for what is full.
      const claims = planOf({ types: all, pods: some }).newNodeClaims;
      const small = claims.filter((claim) => claim.chosen.type === 'c.xlarge');
      expect(small.length).toBeLessThan(2);
    }
  });

  it('not where the larger node costs more, or pods keep apart', () => {
    const pods = podsOf(2, 'web', { cpu: 3000 });
    const dearer = [typeOf('c.xlarge', 4, 8, 0.17), typeOf('c.2xlarge', 8, 16, 0.4)];
    expect(chosen(pods, dearer)).toEqual(['c.xlarge', 'c.xlarge']);
    const apart = podsOf(2, 'web', { cpu: 3000, hostPorts: [port] });
    expect(chosen(apart)).toEqual(['c.xlarge', 'c.xlarge']);
  });
});
