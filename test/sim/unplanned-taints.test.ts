import { expect, it } from 'vitest';
import { haltedPools } from '../../shared/core/launch/halted-pools.ts';
import type { Taint } from '../../shared/core/model/taint.ts';
import type { Ports } from '../../shared/ports.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { spread, withPorts } from '../unit/app/world.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const TAINT: Taint = { key: 'example.com/gpu', value: 'yes', effect: 'NoSchedule' };

/** Five pods that need a node each, where every node joins with a taint that no plan knows of. */
async function launchedWith(taint: Taint, workload: Json) {
  const wrap = (ports: Ports): Ports =>
    withPorts(ports, {
      compute: {
        launch: (fleet) => ports.compute.launch({ ...fleet, taints: [...fleet.taints, taint] }),
      },
    });
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), workload], { wrap });
  await world.run(WORLD_START_MS + 2 * MINUTE);
  return world;
}

it('nodes that join with a taint which their plan did not have stop the launches of the pool', async () => {
  const world = await launchedWith(TAINT, spread('web', 5));
  const failed = await world.ports.memory.failedRegistrations();
  expect(failed.get('default')?.count).toBeGreaterThanOrEqual(5);
  expect(haltedPools(failed, world.timeline.nowMs())).toEqual(new Set(['default']));
});

it.each<[string, Taint]>([
  ['of the control plane', { ...TAINT, key: 'node.kubernetes.io/memory-pressure' }],
  ['of an agent that is not ready', { ...TAINT, key: 'node.cilium.io/agent-not-ready' }],
  ['that repels nothing for good', { ...TAINT, effect: 'PreferNoSchedule' }],
])('a taint %s does not', async (_, taint) => {
  const world = await launchedWith(taint, spread('web', 5));
  expect(await world.ports.memory.failedRegistrations()).toEqual(new Map());
});
