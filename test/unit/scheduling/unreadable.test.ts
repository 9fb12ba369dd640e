import { expect, it } from 'vitest';
import { nodeOf, planOf, podOf } from '../../builders/scheduling.ts';

const unreadable = 'spec.tolerations[0].operator must be one of Equal, Exists, Gt, Lt, not "Ge"';
const requests = { cpu: 1, pods: Number.MAX_SAFE_INTEGER };
const nodes = [nodeOf('here', 64, 256)];

it('a node with a pod that cannot be read is given no other', () => {
  const waiting = podOf('waiting');
  const alone = planOf({ pods: [waiting], nodes });
  expect(alone.existing).toMatchObject([{ node: 'here', pods: ['default/waiting'] }]);
  const odd = podOf('odd', { unreadable, requests }, { nodeName: 'here' });
  const plan = planOf({ pods: [waiting, odd], nodes });
  expect(plan.existing).toEqual([]);
  expect(plan.newNodeClaims).toMatchObject([{ pods: ['default/waiting'] }]);
});

it('a pod that cannot be read is given no node, and says why', () => {
  const plan = planOf({ pods: [podOf('odd', { unreadable, requests })], nodes });
  expect([...plan.existing, ...plan.newNodeClaims]).toEqual([]);
  expect(plan.unplaced.get('default/odd')?.message).toBe(`cannot be read: ${unreadable}`);
});
