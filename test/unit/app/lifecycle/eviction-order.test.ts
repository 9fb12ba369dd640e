import { expect, it } from 'vitest';
import { claimRef } from '../../../../shared/app/writes/references.ts';
import { evictionOrderText } from '../../../../shared/core/lifecycle/eviction-order.ts';
import { EVICTION_ORDER } from '../../../../shared/core/model/labels.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { MINUTE, runningWorld, spread } from '../world.ts';

interface Evicted {
  /** Names of Deployments, as their pods were evicted. */
  readonly names: readonly string[];
  /** How many moments that took. */
  readonly moments: number;
}

/** All nodes of two Deployments of two pods each are drained, in this order of the two or at once. */
async function drained(order: readonly string[], others: readonly Json[] = []): Promise<Evicted> {
  const world = await runningWorld([spread('a', 2), spread('b', 2), ...others]);
  const { nodeClaims, pods } = readState(world.store).objects;
  const owners = order.map(
    (name) => pods.find((pod) => pod.labels['app'] === name)?.controller?.uid ?? '',
  );
  const startMs = world.timeline.nowMs();
  for (const claim of nodeClaims) {
    const annotations = { [EVICTION_ORDER]: order.length > 0 ? evictionOrderText(owners) : null };
    await world.ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
    await world.ports.cluster.delete(claimRef(claim));
  }
  const before = world.journal.entries.length;
  await world.run(startMs + 5 * MINUTE);
  const evicted = world.journal.entries.slice(before).filter(({ kind }) => kind === 'evicted');
  const names = evicted.map(({ object }) => /^Pod\/default\/(\w+)-/.exec(object)?.[1] ?? object);
  return { names, moments: new Set(evicted.map(({ at }) => at)).size };
}

it('pods of nodes with an eviction order go one after the other, in that order', async () => {
  expect(await drained(['b', 'a'])).toEqual({ names: ['b', 'b', 'a', 'a'], moments: 4 });
  expect(await drained(['a', 'b'])).toEqual({ names: ['a', 'a', 'b', 'b'], moments: 4 });
  expect((await drained([])).moments).toBeLessThan(4);
});

it('pods that a PodDisruptionBudget blocks keep those after them waiting', async () => {
  const budget: Json = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'b', namespace: 'default' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'b' } } },
  };
  const { names } = await drained(['b', 'a'], [budget]);
  expect(names).toEqual(['b', 'b', 'a', 'a']);
});
