import { expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld, withPodAnnotations } from './small-world.ts';

const disruption = { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] };

/** Its pod is not to be disrupted for six hours. */
const kept = withPodAnnotations(deployment('kept', 1, '1900m'), {
  'karpenter.sh/do-not-disrupt': '6h',
});

function deleteNodeClaimOf(world: World, app: string): void {
  const { pods, nodes, nodeClaims } = readState(world.store).objects;
  const pod = pods.find(({ name }) => name.startsWith(app));
  const node = nodes.find(({ name }) => name === pod?.nodeName);
  const claim = nodeClaims.find(({ providerId }) => providerId === node?.providerId);
  const object = world.store.get('NodeClaim', undefined, claim?.name ?? '');
  if (object === undefined) throw new Error(`no NodeClaim for ${app}`);
  world.store.delete(object);
}

it('room that waits for a pod of a long drain costs no node a minute', async () => {
  const pool = nodePool(['on-demand'], { disruption });
  const manifests = [nodeClass, pool, kept, deployment('middle', 1, '1500m')];
  const { world, script } = await smallWorld(manifests, { types: /^c7g\.large$/ });
  await world.run(WORLD_START_MS + 10 * MINUTE);
  deleteNodeClaimOf(world, 'kept');
  await world.run(WORLD_START_MS + 15 * MINUTE);
  expect(world.launched).toBe(3);
  // kube-scheduler likes the empty node better than the one with room, and does so every time.
  script.apply([deployment('small', 1, '250m')]);
  await world.run(WORLD_START_MS + 135 * MINUTE);
  expect(world.launched).toBeLessThanOrEqual(4);
  expect(world.evictions).toBeLessThanOrEqual(1);
});
