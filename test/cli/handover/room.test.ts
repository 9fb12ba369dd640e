import { expect, it } from 'vitest';
import { takeSteps } from '../../../cli/handover/run.ts';
import { TO_JOINER } from '../../../cli/handover/to-joiner.ts';
import { TO_KARPENTER } from '../../../cli/handover/to-karpenter.ts';
import type { Walk } from '../../../cli/handover/walk.ts';
import { claimOf } from '../../builders/scheduling.ts';
import { answer, FakeTiming, memoryClient } from '../../contract/kube-memory.ts';
import { clusterState } from './state.ts';

/** A cluster that has no ConfigMap, Lease or Deployment, and what is written to it. */
function walkWith(count: number): { readonly walk: Walk; readonly written: string[] } {
  const written: string[] = [];
  const client = memoryClient(({ method, path }) => {
    if (method !== 'GET') {
      written.push(`${method} ${path}`);
      return answer(201, {});
    }
    return path.includes('/configmaps/')
      ? answer(404, { reason: 'NotFound' })
      : answer(200, { items: [] });
  }, new FakeTiming());
  const nodeClaims = Array.from({ length: count }, (_, at) => claimOf(`a-node-pool-${at}`));
  const state = clusterState({ nodeClaims });
  const walk = { client, reader: { read: async () => state }, say: () => undefined };
  return { walk: walk as unknown as Walk, written };
}

it.each([
  ['adopt', TO_JOINER],
  ['hand-back', TO_KARPENTER],
])('%s writes nothing where its record has no room for the nodes', async (_, steps) => {
  const { walk, written } = walkWith(60_000);
  const [first] = await takeSteps(walk, steps, 'pause');
  expect(first).toMatchObject({
    step: 'pause',
    state: 'stopped',
    message: '60000 nodes are too many for one ConfigMap',
  });
  expect(written).toEqual([]);
});

it('a record with room is written', async () => {
  const { walk, written } = walkWith(3);
  const [first] = await takeSteps(walk, TO_JOINER, 'pause');
  expect(first).toMatchObject({ step: 'pause', state: 'done' });
  expect(written).toHaveLength(2);
});
