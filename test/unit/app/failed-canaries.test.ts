import { describe, expect, it } from 'vitest';
import { allFailedCanaries, noteFailedCanary } from '../../../shared/app/disrupt-canary.ts';
import type { DisruptPass } from '../../../shared/app/disrupt-pass.ts';
import { resolveTypes } from '../../../shared/app/provision.ts';
import { Shadow } from '../../../shared/app/shadow.ts';
import { failedCanaries } from '../../../shared/core/disruption/canary.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { World } from '../../../shared/sim/world.ts';
import { runningWorld, settings, spread } from './world.ts';

async function passOf(world: World, judged: DisruptPass['judged'] = new Map()) {
  const { ports } = world;
  const nowMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const resolution = await resolveTypes(ports, settings, state);
  const pass: DisruptPass = {
    ports,
    settings,
    state,
    resolution,
    nowMs,
    shadow: new Shadow(ports, state, nowMs),
    failures: [],
    judged,
    commands: [],
    proven: new Set(),
    conditions: new Map(),
    notes: new Map(),
    created: [],
    deleted: [],
  };
  return pass;
}

function onlyPool({ nodePools }: ClusterState['objects']): NodePool {
  const [pool] = nodePools;
  if (pool === undefined) throw new Error('the world has no NodePool');
  return pool;
}

function noted(world: World): readonly string[] {
  const { annotations } = onlyPool(readState(world.store).objects);
  return [...failedCanaries(annotations).keys()];
}

describe('failed canaries', () => {
  it('that fail in one pass are all noted', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const pass = await passOf(world);
    const pool = onlyPool(pass.state.objects);
    await noteFailedCanary(pass, pool, ['a'], '');
    await noteFailedCanary(pass, pool, ['b'], '');
    expect(noted(world)).toEqual(['a', 'b']);
    expect([...allFailedCanaries(pass).keys()]).toEqual(['a', 'b']);
  });
});
