import { expect, it } from 'vitest';
import { GI, nodeOf, planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

const GPU = 'example.com/gpu';

it('pods without a device leave room on existing nodes for those that ask for one', () => {
  const amounts = { cpu: 48_000, memory: 180 * GI, pods: 110, [GPU]: 4 };
  const nodes = Array.from({ length: 10 }, (_, at) =>
    nodeOf(`gpu-${at}`, 48, 180, { capacity: amounts, allocatable: amounts }),
  );
  const large = podsOf(40, 'large', { cpu: 11_500 });
  const small = podsOf(40, 'small', { requests: { cpu: 4000, memory: GI, [GPU]: 1, pods: 1 } });
  const types = [
    typeOf('c.large', 16, 64, 0.7),
    typeOf('g.large', 48, 180, 3.9, { capacity: amounts }),
  ];
  // Largest first, four of `large` fill a node, and its devices are of no use to anybody.
  const plan = planOf({ types, nodes, pods: [...large, ...small] });
  expect(plan.unplaced.size).toBe(0);
  const launched = plan.newNodeClaims.map(({ chosen }) => chosen.type);
  expect(launched).toEqual(Array.from({ length: 20 }, () => 'c.large'));
});
