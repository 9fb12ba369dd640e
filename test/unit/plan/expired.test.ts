import { expect, it } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { PAUSE } from '../../../shared/core/model/labels.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { preview } from '../../../shared/preview/preview.ts';
import { EXPIRY_HELD } from '../../../shared/preview/removals.ts';
import { MINUTE, runningWorld, spread } from '../app/world.ts';

const prices = await loadCatalog('us-east-1');

const NEVER_NOW = 'disrupt from 0 0 1 1 * for 1m';
const FOR_EVER = Number.POSITIVE_INFINITY;

it.each<[string, string, ClusterState['pausedUntilMs'], boolean]>([
  ['goes', NEVER_NOW, {}, true],
  ['goes while terminations are paused, too', NEVER_NOW, { terminate: FOR_EVER }, true],
  ['waits while its pool disrupts nothing', 'disrupt from @daily for 24h', {}, false],
  ['waits while its pool launches nothing', 'launch from @daily for 24h', {}, false],
  ['waits while nothing is disrupted', NEVER_NOW, { disrupt: FOR_EVER }, false],
  ['waits while nothing is launched', NEVER_NOW, { launch: FOR_EVER }, false],
])('a preview says of an expired node that it %s', async (_, window, pausedUntilMs, isLeaving) => {
  const world = await runningWorld([spread('web', 2)]);
  const state = await world.ports.cluster.read();
  const [first, ...others] = state.objects.nodeClaims;
  if (first === undefined) throw new Error('no NodeClaim');
  const nodePools = state.objects.nodePools.map((pool) => ({
    ...pool,
    annotations: { ...pool.annotations, [PAUSE]: window },
  }));
  const nodeClaims = [{ ...first, expireAfter: 1 }, ...others];
  const { catalog, cluster, clock } = world.ports;
  const { leaving, held, pricePerHour } = await preview({
    ...{ live: cluster, catalog, prices },
    nowMs: clock.nowMs() + MINUTE,
    state: { ...state, pausedUntilMs, objects: { ...state.objects, nodePools, nodeClaims } },
  });
  expect(leaving.map(({ nodeClaim }) => nodeClaim)).toEqual(isLeaving ? [first.name] : []);
  expect(pricePerHour.after < pricePerHour.now).toBe(isLeaving);
  const remarks = held.filter(({ message }) => message === EXPIRY_HELD);
  expect(remarks.map(({ object }) => object)).toEqual(isLeaving ? [] : [`NodeClaim/${first.name}`]);
});
