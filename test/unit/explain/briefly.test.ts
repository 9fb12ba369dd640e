import { expect, it } from 'vitest';
import { briefly } from '../../../shared/core/explain/briefly.ts';
import type { PoolStages, Stage } from '../../../shared/core/explain/parameters.ts';
import { type Reason, reason } from '../../../shared/core/explain/reason.ts';

function stage(what: string, after: number): Stage {
  return { code: 'node-affinity', parameters: {}, what, before: 9, after };
}

function unplaced(...nodePools: readonly PoolStages[]): Reason {
  return reason('pod-unplaced', { nodePools, existingNodes: 2 });
}

const near = { nodePool: 'near', stages: [stage('disk', 3), stage('cpu 500', 0)] };
const far = { nodePool: 'far', stages: [stage('disk', 0), stage('cpu 500', 0)] };
const missing = reason('volume-claim-missing', { volumeClaim: 'data' });

it.each<[string, readonly Reason[], string]>([
  ['the code', [missing], 'volume-claim-missing'],
  ['what leaves nothing of the nearest NodePool', [unplaced(near, far)], 'cpu 500'],
  ['all that does', [unplaced(far, near)], 'disk and cpu 500'],
  ['that there is no NodePool', [unplaced()], 'no NodePool'],
  ['that the NodePool has no obstacle', [unplaced({ ...near, stages: [] })], 'no NodePool'],
  ['each reason', [missing, unplaced(near)], 'volume-claim-missing and cpu 500'],
])('pods are counted by %s', (_, reasons, expected) => {
  expect(briefly(reasons)).toBe(expected);
});
