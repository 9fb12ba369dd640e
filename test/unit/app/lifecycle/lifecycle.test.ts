import { describe, expect, it } from 'vitest';
import { interrupt } from '../../../../shared/app/interrupt/interrupt.ts';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import type { Condition } from '../../../../shared/core/model/cluster.ts';
import type { Labels } from '../../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import {
  type ClaimsState,
  type ClusterState,
  PortError,
  type Ports,
} from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { ACCOUNT } from '../../../../shared/sim/world.ts';
import { deployment } from '../../../sim/small-world.ts';
import { clockOf, MINUTE, reading, runningWorld, settings, spread, withPorts } from '../world.ts';

const INTERRUPTED = 'joiner.dev/interrupted';

function withClaims(
  state: ClusterState,
  change: (claim: NodeClaim, index: number) => NodeClaim | undefined,
): ClusterState {
  const nodeClaims = state.objects.nodeClaims.flatMap((each, at) => change(each, at) ?? []);
  return { ...state, objects: { ...state.objects, nodeClaims } };
}

/** Every claim is being deleted and its node is gone: its instance is the next to go. */
function ending(annotations: (index: number) => Labels = () => ({})) {
  return (state: ClusterState): ClusterState => {
    const claims = withClaims(state, (claim, index) => ({
      ...claim,
      deletedAtMs: claim.createdAtMs,
      annotations: { ...claim.annotations, ...annotations(index) },
    }));
    return { ...claims, objects: { ...claims.objects, nodes: [] } };
  };
}

const forgotten = (state: ClusterState): ClusterState => withClaims(state, () => undefined);

function shuttingDown(world: World): number {
  return [...world.compute.machines.values()].filter((each) => each.state === 'shutting-down')
    .length;
}

function portsOf(
  world: World,
  change: (state: ClusterState) => ClusterState,
  more: Parameters<typeof withPorts>[1] = {},
): Ports {
  const read = reading(world.ports, change);
  const readClaims = async (): Promise<ClaimsState> => {
    const { objects, karpenterRenewedAtMs } = await read();
    return { nodeClaims: objects.nodeClaims, karpenterRenewedAtMs };
  };
  return withPorts(world.ports, { ...more, cluster: { ...more.cluster, read, readClaims } });
}

const capped = (terminationsPerMinuteMax: number) => ({ ...settings, terminationsPerMinuteMax });
const web = [spread('web', 5)];

describe('terminations', () => {
  it('of claims are at most so many in a minute, and go on in the next', async () => {
    const world = await runningWorld(web);
    const ports = portsOf(world, ending());
    expect((await lifecycle(ports, capped(2))).terminated).toHaveLength(2);
    expect((await lifecycle(ports, capped(2))).terminated).toHaveLength(0);
    const later = clockOf(() => world.timeline.nowMs() + MINUTE);
    const next = portsOf(world, ending(), { clock: later });
    expect((await lifecycle(next, capped(2))).terminated).toHaveLength(2);
    expect(shuttingDown(world)).toBe(4);
  });

  it('are counted for a minute, though their claims are gone', async () => {
    const world = await runningWorld(web);
    const memory = new LifecycleMemory();
    const first = await lifecycle(portsOf(world, ending()), capped(2), memory);
    const gone = new Set(first.terminated);
    const rest = portsOf(world, (state) =>
      withClaims(ending()(state), (claim) => (gone.has(claim.name) ? undefined : claim)),
    );
    expect((await lifecycle(rest, capped(2), memory)).terminated).toEqual([]);
    expect((await lifecycle(rest, capped(3), memory)).terminated).toHaveLength(1);
  });

  it('of interrupted claims are neither held up nor counted', async () => {
    const world = await runningWorld(web);
    const interrupted = (index: number): Labels =>
      index < 3 ? { [INTERRUPTED]: 'spot_interrupted' } : {};
    const ports = portsOf(world, ending(interrupted));
    const names = (await ports.cluster.read()).objects.nodeClaims.map((each) => each.name);
    const { terminated } = await lifecycle(ports, capped(1));
    expect(terminated).toEqual(expect.arrayContaining(names.slice(0, 3)));
    expect(terminated).toHaveLength(4);
    expect((await lifecycle(ports, capped(1))).terminated).toEqual([]);
    expect((await lifecycle(ports, capped(2))).terminated).toHaveLength(1);
  });

  it('of instances without a claim have the same cap', async () => {
    const world = await runningWorld(web);
    const ports = portsOf(world, forgotten);
    await lifecycle(ports, capped(2));
    expect(shuttingDown(world)).toBe(2);
    await lifecycle(ports, capped(2));
    expect(shuttingDown(world)).toBe(2);
    await lifecycle(ports, capped(3));
    expect(shuttingDown(world)).toBe(3);
  });

  it('of instances without a claim are counted for a minute, though EC2 lists them no more', async () => {
    const world = await runningWorld(web);
    const memory = new LifecycleMemory();
    const list: Ports['compute']['list'] = async (...query) => {
      const listed = await world.ports.compute.list(...query);
      return listed.filter(({ state }) => state === 'running');
    };
    const ports = portsOf(world, forgotten, { compute: { list } });
    await lifecycle(ports, capped(2), memory);
    await lifecycle(ports, capped(2), memory);
    expect(shuttingDown(world)).toBe(2);
    const later = clockOf(() => world.timeline.nowMs() + MINUTE);
    const next = portsOf(world, forgotten, { compute: { list }, clock: later });
    await lifecycle(next, capped(2), memory);
    expect(shuttingDown(world)).toBe(4);
  });

  it('of instances without a claim come after those of claims', async () => {
    const world = await runningWorld(web);
    const ports = portsOf(world, (state) =>
      withClaims(ending()(state), (claim, index) => (index < 2 ? claim : undefined)),
    );
    const { terminated } = await lifecycle(ports, capped(3));
    expect(terminated).toHaveLength(2);
    expect(shuttingDown(world)).toBe(3);
  });

  it.each([
    ['claims', ending()],
    ['instances without a claim', forgotten],
  ])('of %s wait while they are paused', async (_, change) => {
    const world = await runningWorld(web);
    const pausedUntilMs = { terminate: world.timeline.nowMs() + 1 };
    const ports = portsOf(world, (state) => ({ ...change(state), pausedUntilMs }));
    await lifecycle(ports, settings);
    expect(shuttingDown(world)).toBe(0);
  });

  it('that EC2 refuses are reported, and the pass goes on', async () => {
    const world = await runningWorld(web);
    const terminate = async (): Promise<void> => {
      throw new PortError('throttled', 'RequestLimitExceeded', 'later');
    };
    const ports = portsOf(world, forgotten, { compute: { terminate } });
    const { failures } = await lifecycle(ports, settings);
    expect(failures).toHaveLength(5);
    for (const { object, message } of failures) {
      expect(object).toMatch(/^Instance\/i-/);
      expect(message).toBe('RequestLimitExceeded: later');
    }
  });

  it('wait where EC2 cannot be asked, and nothing is taken for gone', async () => {
    const world = await runningWorld(web);
    const list = async (): Promise<never> => {
      throw new PortError('throttled', 'RequestLimitExceeded', 'later');
    };
    const ports = portsOf(world, (state) => state, { compute: { list } });
    const { failures, terminated } = await lifecycle(ports, settings);
    expect(failures).toEqual([{ object: 'instances', message: 'RequestLimitExceeded: later' }]);
    expect(terminated).toEqual([]);
    const { objects } = await world.ports.cluster.read();
    expect(objects.nodeClaims).toHaveLength(5);
    expect(objects.nodeClaims.every(({ deletedAtMs }) => deletedAtMs === undefined)).toBe(true);
  });

  it('end when Karpenter starts in the middle of the pass', async () => {
    const world = await runningWorld(web);
    let nowMs = world.timeline.nowMs();
    // Each look at the clock is a second later.
    const clock = clockOf(() => (nowMs += 1000));
    const karpenterRenewedAtMs = async (): Promise<number> => nowMs;
    const ports = portsOf(world, ending(), { clock, cluster: { karpenterRenewedAtMs } });
    const { terminated } = await lifecycle(ports, settings);
    expect(terminated.length).toBeLessThan(5);
    expect(shuttingDown(world)).toBe(terminated.length);
    await lifecycle(portsOf(world, ending(), { clock }), settings);
    expect(shuttingDown(world)).toBe(5);
  });
});

/** The API server takes 300 ms for each taint; by instance, how long its node was tainted then. */
async function slowDrains() {
  const world = await runningWorld([spread('web', 30)]);
  const { cluster, compute } = world.ports;
  const { nodeClaims, nodes } = readState(world.store).objects;
  for (const { name, uid } of nodeClaims) await cluster.delete({ kind: 'NodeClaim', name, uid });
  let nowMs = world.timeline.nowMs();
  const taintedAtMs = new Map<string, number>();
  const drainedMs: number[] = [];
  const patchNode: Ports['cluster']['patchNode'] = async (ref, patch) => {
    nowMs += 300;
    if (patch.taints !== undefined) taintedAtMs.set(ref.name, nowMs);
    return await cluster.patchNode(ref, patch);
  };
  const terminate = async (ids: readonly string[]): Promise<void> => {
    const own = nodes.filter(({ providerId }) => ids.some((id) => providerId?.endsWith(id)));
    drainedMs.push(...own.map(({ name }) => nowMs - (taintedAtMs.get(name) ?? nowMs)));
    await compute.terminate(ids);
  };
  const withoutPods = (state: ClusterState): ClusterState => ({
    ...state,
    objects: { ...state.objects, pods: [] },
  });
  const clock = clockOf(() => nowMs);
  const ports = portsOf(world, withoutPods, {
    clock,
    cluster: { patchNode },
    compute: { terminate },
  });
  const passAfter = async (ms: number, memory: LifecycleMemory): Promise<void> => {
    nowMs += ms;
    await lifecycle(ports, capped(100), memory);
  };
  return { drainedMs, passAfter };
}

describe('a drain', () => {
  it('takes five seconds from the taint of its node, however long the pass takes', async () => {
    const { drainedMs, passAfter } = await slowDrains();
    const memory = new LifecycleMemory();
    await passAfter(0, memory);
    await passAfter(1000, memory);
    await passAfter(4999, memory);
    expect(drainedMs).toEqual([]);
    await passAfter(1, memory);
    expect(drainedMs).toHaveLength(30);
    expect(Math.min(...drainedMs)).toBeGreaterThanOrEqual(5000);
  });

  it('goes on in another process by what the claim says', async () => {
    const { drainedMs, passAfter } = await slowDrains();
    await passAfter(0, new LifecycleMemory());
    await passAfter(1000, new LifecycleMemory());
    await passAfter(4000, new LifecycleMemory());
    expect(drainedMs).toEqual([]);
    await passAfter(2000, new LifecycleMemory());
    expect(drainedMs).toHaveLength(30);
    expect(Math.min(...drainedMs)).toBeGreaterThanOrEqual(5000);
  });
});

describe('attachments of volumes', () => {
  it('are looked through for nodes that go, and for no other', async () => {
    const world = await runningWorld(web);
    let looks = 0;
    const attachment = {
      name: 'attachment',
      persistentVolumeName: 'volume',
      get nodeName(): string {
        looks += 1;
        return 'another';
      },
    };
    const leaving = (state: ClusterState): ClusterState => ({
      ...withClaims(state, (claim, index) =>
        index === 0 ? { ...claim, deletedAtMs: claim.createdAtMs } : claim,
      ),
      volumeAttachments: [attachment],
    });
    await lifecycle(portsOf(world, leaving), settings);
    expect(looks).toBe(1);
  });
});

describe('an interruption', () => {
  async function warn(world: World, ports: Ports): Promise<readonly string[]> {
    const [machine] = world.compute.machines.values();
    world.compute.takeBack(machine?.id ?? '');
    const body = JSON.stringify({
      source: 'aws.ec2',
      'detail-type': 'EC2 Spot Instance Interruption Warning',
      account: ACCOUNT,
      region: 'us-east-1',
      time: new Date(world.timeline.nowMs()).toISOString(),
      detail: { 'instance-id': machine?.id },
    });
    return (await interrupt(ports, settings, [{ id: '1', body }])).deleted;
  }

  it.each([
    ['a running claim', (state: ClusterState) => state, 1],
    ['a claim that is being deleted', ending(), 0],
  ])('is written on %s, so that no cap holds it up', async (_, change, deleted) => {
    const world = await runningWorld([deployment('web', 1, '1')], 'spot');
    expect(await warn(world, portsOf(world, change))).toHaveLength(deleted);
    const { objects } = await world.ports.cluster.read();
    const [claim] = objects.nodeClaims;
    expect(claim?.annotations[INTERRUPTED]).toBe('spot_interrupted');
    expect(claim?.deletedAtMs !== undefined).toBe(deleted === 1);
  });
});

describe('a node that says it is the instance of another one', () => {
  it('ends nothing of that when it is deleted or unwell', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const unwell: Condition = {
      type: 'NetworkingReady',
      status: 'False',
      reason: '',
      message: '',
      lastTransitionAtMs: 0,
    };
    const ports = portsOf(world, (state) => {
      const [victim, ...others] = state.objects.nodes;
      const forged = others.map((node) => ({
        ...node,
        providerId: victim?.providerId,
        deletedAtMs: world.timeline.nowMs(),
        conditions: [unwell],
      }));
      const nodes = victim === undefined ? [] : [victim, ...forged];
      return { ...state, objects: { ...state.objects, nodes } };
    });
    const later = clockOf(() => world.timeline.nowMs() + 40 * MINUTE);
    await lifecycle(withPorts(ports, { clock: later }), settings);
    const ending = readState(world.store).objects.nodeClaims.filter(
      ({ deletedAtMs }) => deletedAtMs !== undefined,
    );
    expect(ending).toEqual([]);
  });
});
