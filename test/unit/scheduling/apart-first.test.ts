import { expect, it } from 'vitest';
import { nodeOf, planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

it('pods that share nodes leave existing ones to those of equal size that keep apart', () => {
  const hostPorts = [{ ip: '0.0.0.0', port: 81, protocol: 'TCP' }];
  const nodes = [0, 1, 2, 3].map((at) => nodeOf(`n-${at}`, 4, 32));
  const apart = podsOf(20, 'apart', { cpu: 1000, hostPorts });
  // Those that matter more come first, here as in the order of their creation.
  const others = podsOf(30, 'other', { cpu: 1000, priority: 5 });
  const types = [typeOf('m.xlarge', 4, 16, 0.2)];
  const plan = planOf({ types, nodes, pods: [...apart, ...others] });
  expect(plan.unplaced.size).toBe(0);
  expect(plan.newNodeClaims).toHaveLength(16);
});
