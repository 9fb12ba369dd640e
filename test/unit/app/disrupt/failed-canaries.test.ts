import { describe, expect, it } from 'vitest';
import {
  allFailedCanaries,
  forgetCanaries,
  noteFailedCanary,
} from '../../../../shared/app/disrupt/canary.ts';
import { ConsolidationMemory } from '../../../../shared/app/disrupt/consolidation-memory.ts';
import { BlockedEvents } from '../../../../shared/app/disrupt/events.ts';
import { type DisruptPass, newOutcome, noChanges } from '../../../../shared/app/disrupt/pass.ts';
import { PassUsage } from '../../../../shared/app/disrupt/usage.ts';
import { resolveTypes } from '../../../../shared/app/planning/provisioning-input.ts';
import { SharedGroups } from '../../../../shared/app/planning/shared-groups.ts';
import { KarpenterLease } from '../../../../shared/app/writes/karpenter-lease.ts';
import { failedCanaries } from '../../../../shared/core/disruption/canary.ts';
import { driftTarget } from '../../../../shared/core/disruption/drift.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import type { NodeClass } from '../../../../shared/core/model/node-class.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { aNodeClass } from '../../../builders/launches.ts';
import { runningWorld, settings, spread } from '../world.ts';

async function passOf(world: World, driftResults: DisruptPass['driftResults'] = new Map()) {
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
    karpenter: new KarpenterLease(ports, state, nowMs),
    shared: await SharedGroups.read(ports, settings),
    driftResults,
    commands: [],
    draining: [],
    proven: new Set(),
    canaries: [],
    usage: new PassUsage(),
    asked: undefined,
    approved: undefined,
    memory: new ConsolidationMemory(),
    outcome: newOutcome(new BlockedEvents(ports, 20)),
    changes: noChanges(),
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

const CAUSE = reason('canary-late', { nodeClaim: 'c', minutes: 10, said: '' });

describe('failed canaries', () => {
  it('that fail in one pass are all noted', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const pass = await passOf(world);
    const pool = onlyPool(pass.state.objects);
    await noteFailedCanary(pass, pool, ['a'], CAUSE);
    await noteFailedCanary(pass, pool, ['b'], CAUSE);
    expect(noted(world)).toEqual(['a', 'b']);
    expect([...allFailedCanaries(pass).keys()]).toEqual(['a', 'b']);
  });

  it('count from the last one where several pools had one', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const pass = await passOf(world);
    const pool = onlyPool(pass.state.objects);
    const nodePools = ['early', 'late', 'older'].map((name) => ({ ...pool, name }));
    const times = [1, 3, 2].map((atMs) => new Map([['a', atMs]]));
    const failedCanaries = new Map(nodePools.map(({ name }, at) => [name, times[at] ?? new Map()]));
    const changes = { ...pass.changes, failedCanaries };
    const state = { ...pass.state, objects: { ...pass.state.objects, nodePools } };
    expect([...allFailedCanaries({ ...pass, state, changes })]).toEqual([['a', 3]]);
  });

  it('are kept while a class is not ready, and forgotten when nothing asks for them', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const first = await passOf(world);
    const { nodeClaims, ...objects } = first.state.objects;
    const [claim] = nodeClaims;
    const pool = onlyPool({ ...objects, nodeClaims });
    if (claim === undefined) throw new Error('the world has no claim');
    await noteFailedCanary(first, pool, ['a'], CAUSE);
    const judgedBy = (nodeClass: NodeClass | undefined): DisruptPass['driftResults'] => {
      const parts = { pool, poolHash: '', nodeClass, nodeClassHash: '', hashVersion: '' };
      const target = driftTarget({ ...parts, types: [], isCatalogCurrent: true });
      return new Map([[claim.uid, { claim, target, drifts: [], states: [], isUndecided: false }]]);
    };
    await forgetCanaries(await passOf(world, judgedBy(undefined)));
    expect(noted(world)).toEqual(['a']);
    await forgetCanaries(await passOf(world, judgedBy(aNodeClass())));
    expect(noted(world)).toEqual([]);
  });
});
