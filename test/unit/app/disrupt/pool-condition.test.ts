import { expect, it } from 'vitest';
import { noteFailedCanary } from '../../../../shared/app/disrupt/canary.ts';
import { observePass } from '../../../../shared/app/disrupt/disrupt.ts';
import { noteFailedMove } from '../../../../shared/app/disrupt/failed-moves.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import { runningWorld, settings, spread } from '../world.ts';

it('two conditions of a NodePool that one pass writes are both there', async () => {
  const world = await runningWorld([spread('web', 1)]);
  const pass = await observePass(world.ports, settings, {});
  const [pool] = pass.state.objects.nodePools;
  const [claim] = pass.state.objects.nodeClaims;
  if (pool === undefined || claim === undefined) throw new Error('the world is empty');
  const cause = reason('canary-late', { nodeClaim: 'c', minutes: 10, said: '' });
  await noteFailedCanary(pass, pool, ['a'], cause);
  await noteFailedMove(pass, claim, cause);
  const [now] = (await world.ports.cluster.read()).objects.nodePools;
  const failed = now?.conditions.filter(({ status }) => status === 'False') ?? [];
  expect(failed.map(({ type }) => type)).toEqual(['CanaryHealthy', 'ConsolidationHealthy']);
});
