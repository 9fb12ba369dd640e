import { expect, it } from 'vitest';
import { plannedClaim, staticClaim } from '../../../../shared/app/planning/new-claims.ts';
import { PLAN } from '../../../../shared/core/model/labels.ts';
import { planOf, podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

it('a claim that is not launched counts as the largest of its types takes of what is limited', () => {
  const types = [typeOf('a', 4, 16, 0.2), typeOf('b', 8, 32, 0.3)];
  const pool = poolOf('general', { limits: { cpu: 100_000 } });
  const plan = planOf({ nodePools: [pool], types, pods: [podOf('p')] });
  const [planned] = plan.newNodeClaims;
  if (planned === undefined) throw new Error('nothing was planned');
  expect(planned.instanceTypes).toEqual(['a', 'b']);
  const claim = plannedClaim(planned, pool, types, 'general-1', []);
  const { type, capacity, runnerUp } = JSON.parse(claim.annotations[PLAN] ?? '{}');
  expect({ type, capacity }).toMatchObject({ type: 'a', capacity: { cpu: '8', memory: '16Gi' } });
  const { zone, capacityType, price } = planned.runnerUp ?? {};
  expect(runnerUp).toEqual({ type: planned.runnerUp?.type, zone, capacityType, price });
});

it('a claim has the label of which its pool leaves one value, also of a static pool', () => {
  const requirements = [
    { key: 'example.com/team', operator: 'In', values: ['a'] },
    { key: 'example.com/tier', operator: 'In', values: ['x', 'y'] },
    { key: 'example.com/tier', operator: 'NotIn', values: ['x'] },
    { key: 'example.com/stage', operator: 'In', values: ['test', 'live'] },
    { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  ] as const;
  const pool = poolOf('general', { requirements });
  const labels = {
    'example.com/team': 'a',
    'example.com/tier': 'y',
    'karpenter.k8s.aws/ec2nodeclass': 'default',
    'karpenter.sh/nodepool': 'general',
  };
  expect(staticClaim(pool, 'general-1').labels).toEqual(labels);
  const [planned] = planOf({ nodePools: [pool], pods: [podOf('p')] }).newNodeClaims;
  expect(planned?.labels).toEqual(labels);
});
