import { describe, expect, it } from 'vitest';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { grown } from '../../../shared/core/scheduling/attempts.ts';
import { improved } from '../../../shared/core/scheduling/placing/improve.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { Ground } from '../../../shared/core/scheduling/world/world.ts';
import { nodeOf, planOf, podOf, podsOf, snapshotOf, typeOf } from '../../builders/scheduling.ts';

function groundOf(rest: Parameters<typeof snapshotOf>[0]): Ground {
  const problem = compileProblem(snapshotOf(rest), DEFAULT_SCHEDULING_SETTINGS);
  return new Ground(problem, { kinds: new Set() });
}

describe('improving a small plan', () => {
  // Large pods first: 3 and 2 on a, which leaves b with 3 and 2 and nowhere for the last.
  const nodes = [nodeOf('a', 4, 64), nodeOf('b', 6, 64)];
  const pods = [...podsOf(2, 'big', { cpu: 3000 }), ...podsOf(2, 'small', { cpu: 2000 })];

  it('finds room on existing nodes by placing pods anew', () => {
    const ground = groundOf({ nodes, pods, types: [] });
    const start = grown(ground);
    expect(start.placed).toEqual([3]);
    const better = improved(start, ground.views);
    expect(better.placed).toEqual([4]);
    const all = better.world.rooms.map(({ content }) => [...content.values()]);
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
    const ground = groundOf({ nodes, pods, types: [] });
    const [one, two] = [
      improved(grown(ground), ground.views),
      improved(grown(ground), ground.views),
    ];
    expect(one.world.steps).toBe(two.world.steps);
    expect(one.price).toBe(two.price);
  });

  it('leaves a plan alone of which nothing can be moved', () => {
    const ground = groundOf({ pods: [podOf('huge', { cpu: 1_000_000 })] });
    const start = grown(ground);
    expect(improved(start, ground.views)).toBe(start);
  });

  it('never uses more of a reservation than there is', () => {
    const [base] = typeOf('m.large', 2, 8, 0.1, { zones: ['zone-a'] }).offerings;
    if (base === undefined) throw new Error('an offering');
    const reservation = { id: 'cr-1', type: 'default' as const, capacity: 2 };
    const free = { ...base, capacityType: 'reserved' as const, price: 0.000001, reservation };
    const ground = groundOf({
      types: [typeOf('m.large', 2, 8, 0.1, { offerings: [base, free] })],
      pods: podsOf(5, 'a', { cpu: 2000 }),
    });
    const { world } = improved(grown(ground), ground.views);
    const reserved = world.bins.filter(({ held }) => held.offering.reservation !== undefined);
    expect(reserved).toHaveLength(2);
    expect(world.bins).toHaveLength(5);
  });
});
