import { describe, expect, it } from 'vitest';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

function pool(more: Json): Json {
  const one = nodePool(['on-demand'], { disruption: { consolidateAfter: 'Never' } });
  const template = objectAt(one, 'spec', 'template');
  const spec = { ...objectAt(template, 'spec'), ...more };
  return { ...one, spec: { ...objectAt(one, 'spec'), template: { ...template, spec } } };
}

/** Its pods hold their nodes until the time of these is over. */
function held(): Json {
  const web = deployment('web', 2, '1', { terminationGracePeriodSeconds: 30 });
  const template = objectAt(web, 'spec', 'template');
  const annotations = { 'karpenter.sh/do-not-disrupt': 'true' };
  const metadata = { ...objectAt(template, 'metadata'), annotations };
  return { ...web, spec: { ...objectAt(web, 'spec'), template: { ...template, metadata } } };
}

async function ran(minutes: number, manifests: readonly Json[]) {
  const { world } = await smallWorld([nodeClass, ...manifests]);
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return world;
}

describe('the timeline', () => {
  it('says that a node expires, before it is deleted', async () => {
    const world = await ran(15, [pool({ expireAfter: '10m' }), deployment('web', 1, '1')]);
    const [expired] = entries(world, 'expired');
    expect(expired?.message).toBe('The NodeClaim is older than spec.expireAfter');
    const told = world.journal.entries.filter(
      ({ kind, object }) =>
        object === expired?.object && ['expired', 'deleted', 'removed'].includes(kind),
    );
    expect(told.map(({ kind }) => kind)).toEqual(['expired', 'deleted', 'removed']);
  });

  it('says so of no node that goes for another reason', async () => {
    const world = await ran(10, [pool({ expireAfter: 'Never' }), deployment('web', 1, '1')]);
    const [claim] = world.store.list('NodeClaim');
    if (claim !== undefined) world.store.delete(claim);
    await world.run(WORLD_START_MS + 20 * MINUTE);
    expect(entries(world, 'removed')).toHaveLength(1);
    expect(entries(world, 'expired')).toEqual([]);
  });

  it('names the pods that are deleted as the terminationGracePeriod runs out', async () => {
    const limited = pool({ expireAfter: '10m', terminationGracePeriod: '2m' });
    const world = await ran(20, [limited, held()]);
    const deleted = entries(world, 'deleted').filter(({ object }) => object.startsWith('Pod/'));
    expect(deleted.map(({ at }) => Math.round(at / 30))).toEqual([23, 23]);
    expect(deleted.map(({ object }) => object)).toEqual([
      expect.stringMatching(/^Pod\/default\/web-/),
      expect.stringMatching(/^Pod\/default\/web-/),
    ]);
    for (const { message } of deleted) {
      expect(message).toMatch(/^terminationGracePeriod of its node runs out: \d+s left to stop$/);
    }
  });
});
