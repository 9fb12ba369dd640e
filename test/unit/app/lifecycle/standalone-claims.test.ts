import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { maintainNodeClasses } from '../../../../shared/app/nodeclass/nodeclass.ts';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { conditionOf } from '../../../../shared/core/lifecycle/conditions.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { withSpec, withStatus } from '../../../../shared/sim/objects.ts';
import type { KubeObject } from '../../../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../../../shared/sim/world.ts';
import { nodeClass, smallWorld } from '../../../sim/small-world.ts';
import { clockOf, MINUTE, settings, withPorts } from '../world.ts';

const claim: Json = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'hand', labels: { 'karpenter.sh/nodepool': 'gone' } },
  spec: {
    nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
    requirements: [],
  },
};

async function worldOf(...manifests: readonly Json[]) {
  const { world } = await smallWorld(manifests);
  const warnings: string[] = [];
  const event: Ports['cluster']['event'] = async ({ type, reason }) => {
    if (type === 'Warning') warnings.push(reason);
  };
  const at = (ms: number, more: Parameters<typeof withPorts>[1] = {}): Ports =>
    withPorts(world.ports, {
      ...more,
      cluster: { event, ...more.cluster },
      clock: clockOf(() => WORLD_START_MS + ms),
    });
  return { world, warnings, at };
}

function launchedOf(world: World) {
  const [found] = readState(world.store).objects.nodeClaims;
  const isGone = found === undefined || found.deletedAtMs !== undefined;
  return isGone ? 'deleted' : conditionOf(found, 'Launched')?.reason;
}

function ready(status: string) {
  const condition = { type: 'Ready', status, reason: 'X', message: '', observedGeneration: 1 };
  return (object: KubeObject): KubeObject => withStatus(object, { conditions: [condition] });
}

describe('a NodeClaim whose EC2NodeClass', () => {
  it.each<[string, (object: KubeObject) => KubeObject, string | undefined]>([
    ['has no status yet waits', (object) => object, 'NodeClassReadinessUnknown'],
    ['says Ready=Unknown waits', ready('Unknown'), 'NodeClassReadinessUnknown'],
    ['says Ready=False is given up', ready('False'), 'deleted'],
    [
      'says Ready=False of an older spec waits',
      (object) => withSpec(ready('False')(object), { tags: { team: 'a' } }),
      'NodeClassReadinessUnknown',
    ],
    [
      'is being deleted is given up',
      ({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, finalizers: ['x'], deletionTimestamp: '2026-01-01T00:00:00Z' },
      }),
      'deleted',
    ],
  ])('%s', async (_, change, expected) => {
    const { world, warnings, at } = await worldOf(nodeClass, claim);
    for (const each of world.store.list('EC2NodeClass')) world.store.update(each, change);
    const { failures } = await provision(at(1000), settings);
    expect([launchedOf(world), failures]).toEqual([expected, []]);
    expect(warnings).toEqual(expected === 'deleted' ? ['NodeClassNotReady'] : []);
  });

  it('does not exist is given up', async () => {
    const { world, at } = await worldOf(claim);
    await provision(at(1000), settings);
    expect(launchedOf(world)).toBe('deleted');
  });

  it('comes together with it is launched once the class is ready', async () => {
    const { world, at } = await worldOf(nodeClass, claim);
    await provision(at(1000), settings);
    await maintainNodeClasses(at(2000));
    expect((await provision(at(3000), settings)).launched).toEqual(['hand']);
    expect(launchedOf(world)).toBe('Launched');
  });

  it('never gets ready is given up after 5 minutes, by which it has been tried', async () => {
    const { world, at } = await worldOf(nodeClass, claim);
    await lifecycle(at(20 * MINUTE), settings);
    expect(launchedOf(world)).toBeUndefined();
    for (const minute of [20, 22, 24]) await provision(at(minute * MINUTE), settings);
    await lifecycle(at(25 * MINUTE - 1), settings);
    expect(launchedOf(world)).toBe('NodeClassReadinessUnknown');
    await lifecycle(at(25 * MINUTE), settings);
    expect(launchedOf(world)).toBe('deleted');
  });
});

describe('the 5 minutes that a launch may take', () => {
  const refused = async () => {
    throw new PortError('throttled', 'RequestLimitExceeded', 'slow down');
  };

  it('count from the first try, however long the claim was in line, and from no later one', async () => {
    const { world, at } = await worldOf(nodeClass, claim);
    await maintainNodeClasses(at(0));
    for (const minute of [30, 33]) {
      await lifecycle(at(minute * MINUTE), settings);
      await provision(at(minute * MINUTE, { compute: { launch: refused } }), settings);
    }
    await lifecycle(at(35 * MINUTE - 1), settings);
    expect(launchedOf(world)).toBe('LaunchFailed');
    await lifecycle(at(35 * MINUTE), settings);
    expect(launchedOf(world)).toBe('deleted');
  });

  it('count from when EC2 is asked, which may take it long to answer', async () => {
    const { world, at } = await worldOf(nodeClass, claim);
    await maintainNodeClasses(at(0));
    const seen: unknown[] = [];
    const launch: Ports['compute']['launch'] = async (fleet) => {
      // Meanwhile, and with nothing but what the claim says.
      await lifecycle(at(35 * MINUTE - 1), settings);
      seen.push(readState(world.store).objects.nodeClaims.map(({ deletedAtMs }) => deletedAtMs));
      return await world.ports.compute.launch(fleet);
    };
    await provision(at(30 * MINUTE, { compute: { launch } }), settings);
    expect(seen).toEqual([[undefined]]);
  });

  it('count for a claim whose NodePool is halted, too', async () => {
    const { world, at } = await worldOf(nodeClass, claim);
    await maintainNodeClasses(at(0));
    const nowMs = WORLD_START_MS + 10 * MINUTE;
    const failed = new Map([['gone', { count: 9, lastAtMs: nowMs }]]);
    const memory = { ...plain(world.ports.memory), failedRegistrations: async () => failed };
    await provision(at(10 * MINUTE, { memory }), settings);
    expect(launchedOf(world)).toBe('LaunchesHalted');
    await lifecycle(at(15 * MINUTE, { memory }), settings);
    expect(launchedOf(world)).toBe('deleted');
  });
});

/** An object with the members of a class's instance. */
function plain(memory: Ports['memory']): Ports['memory'] {
  return {
    unavailable: () => memory.unavailable(),
    unavailableSubnets: () => memory.unavailableSubnets(),
    markUnavailable: (...args) => memory.markUnavailable(...args),
    forgetBars: (kind) => memory.forgetBars(kind),
    failedRegistrations: () => memory.failedRegistrations(),
    recordRegistration: (...args) => memory.recordRegistration(...args),
    recordLaunchWay: (...args) => memory.recordLaunchWay(...args),
    unusedLaunches: () => memory.unusedLaunches(),
    recordOutcomes: (...args) => memory.recordOutcomes(...args),
    recordAllocatable: (...args) => memory.recordAllocatable(...args),
    allocatable: () => memory.allocatable(),
  };
}
