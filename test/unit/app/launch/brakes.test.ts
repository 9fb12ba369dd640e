import { describe, expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import type { AppSettings } from '../../../../shared/app/settings.ts';
import type { FailedLaunches } from '../../../../shared/core/launch/halted-pools.ts';
import { APPROVED, PAUSE } from '../../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterState, Ports } from '../../../../shared/ports.ts';
import {
  clockOf,
  MINUTE,
  reading,
  settings,
  spread,
  type WaitingWorld,
  waitingWorld,
  withPorts,
} from '../world.ts';

function capped(launchesPerMinuteMax: number): AppSettings {
  return { ...settings, launchesPerMinuteMax };
}

/** A world with NodeClaims of this many nodes, of which none is launched. */
async function unlaunched(count: number): Promise<WaitingWorld> {
  const waiting = await waitingWorld([spread('web', count)]);
  await provision(waiting.ports, capped(0));
  return waiting;
}

async function launched(ports: Ports, launchesPerMinuteMax: number): Promise<readonly string[]> {
  return (await provision(ports, capped(launchesPerMinuteMax))).launched.toSorted();
}

function withState(ports: Ports, change: (state: ClusterState) => ClusterState): Ports {
  return withPorts(ports, { cluster: { read: reading(ports, change) } });
}

async function namesOf({ ports }: WaitingWorld): Promise<readonly string[]> {
  const { nodeClaims } = (await ports.cluster.read()).objects;
  return nodeClaims.map(({ name }) => name).sort();
}

describe('the cap on launches', () => {
  it('launches so many in a minute, the first by name, and the others in the next', async () => {
    const waiting = await unlaunched(5);
    const { ports, world } = waiting;
    const names = await namesOf(waiting);
    expect([names.length, world.compute.machines.size]).toEqual([5, 0]);
    expect(await launched(ports, 2)).toEqual(names.slice(0, 2));
    expect(await launched(ports, 2)).toEqual([]);
    expect(await launched(ports, 3)).toEqual(names.slice(2, 3));
    const later = clockOf(() => world.timeline.nowMs() + MINUTE);
    const next = withPorts(ports, { clock: later });
    expect(await launched(next, 3)).toEqual(names.slice(3));
    expect(world.compute.machines.size).toBe(5);
  });

  it('is for all NodeClaims together, whoever made them', async () => {
    const waiting = await unlaunched(2);
    await waiting.add([spread('more', 3)]);
    expect((await provision(waiting.ports, capped(4))).launched).toHaveLength(4);
    expect(waiting.world.compute.machines.size).toBe(4);
  });
});

describe('the halt of a NodePool', () => {
  const failed = (count: number, secondsAgo: number) => async (ports: Ports) => {
    const launches: FailedLaunches = { count, lastAtMs: ports.clock.nowMs() - secondsAgo * 1000 };
    const failedRegistrations = async () => new Map([['default', launches]]);
    return await provision(withPorts(ports, { memory: { failedRegistrations } }), settings);
  };

  it.each<[string, ReturnType<typeof failed>, number]>([
    ['holds its NodeClaims after five launches in vain', failed(5, 59), 0],
    ['ends after a minute', failed(5, 60), 3],
    ['does not begin at four launches in vain', failed(4, 0), 3],
  ])('%s', async (_, pass, count) => {
    const { ports, world } = await unlaunched(3);
    expect((await pass(ports)).launched).toHaveLength(count);
    expect(world.compute.machines.size).toBe(count);
  });

  const healthOf = async (ports: Ports): Promise<string | undefined> => {
    const [pool] = (await ports.cluster.read()).objects.nodePools;
    return pool?.conditions.find(({ type }) => type === 'NodeRegistrationHealthy')?.reason;
  };

  it.each<[string, (state: ClusterState) => ClusterState]>([
    [
      'its EC2NodeClass',
      (state) => ({
        ...state,
        nodeClasses: state.nodeClasses.map((each) => ({
          ...each,
          generation: each.generation + 1,
          status: { ...each.status, observedGeneration: each.generation + 1 },
        })),
      }),
    ],
    [
      'its template',
      ({ objects, ...state }) => ({
        ...state,
        objects: {
          ...objects,
          nodePools: objects.nodePools.map(({ template, ...pool }) => ({
            ...pool,
            template: { ...template, labels: { ...template.labels, mended: 'yes' } },
          })),
        },
      }),
    ],
  ])('ends when %s is changed', async (_, change) => {
    const { ports, world } = await unlaunched(3);
    const failed = { launchedAtMs: ports.clock.nowMs() - 20 * MINUTE, tried: [] };
    for (const each of [1, 2, 3, 4, 5, 6, 7, 8]) {
      await ports.memory.recordRegistration('default', { ...failed, tried: [`${each}`] });
    }
    expect((await provision(ports, settings)).launched).toHaveLength(0);
    expect(await healthOf(ports)).toBe('LaunchesHalted');
    expect((await provision(withState(ports, change), settings)).launched).toHaveLength(3);
    expect(await healthOf(ports)).toBe('AwaitingReconciliation');
    expect(world.compute.machines.size).toBe(3);
  });
});

describe('a window of a NodePool that pauses launches', () => {
  it('gives up NodeClaims written before it, which is no failed launch', async () => {
    const { ports, world } = await unlaunched(3);
    const events: string[] = [];
    const inWindow = withState(ports, ({ objects, ...state }) => ({
      ...state,
      objects: {
        ...objects,
        nodePools: objects.nodePools.map((pool) => ({
          ...pool,
          annotations: { ...pool.annotations, [PAUSE]: 'launch from * * * * * for 1h' },
        })),
      },
    }));
    const told = withPorts(inWindow, {
      cluster: { event: async ({ type, reason }) => void events.push(`${type} ${reason}`) },
    });
    expect(await launched(told, 10)).toEqual([]);
    expect(world.compute.machines.size).toBe(0);
    expect(events).toContain('Warning LaunchesPaused');
    expect(events).not.toContain('Warning InsufficientCapacityError');
    const counted = [...world.recorder.counts.keys()].join('\n');
    expect(counted).toContain('nodeclaims_disrupted_total');
    expect(counted).not.toContain('launch_failures_total');
  });
});

describe('the pause of launches', () => {
  const until = Number.POSITIVE_INFINITY;

  it('lets what is approved through, which alone counts for the cap', async () => {
    const waiting = await unlaunched(4);
    const [first, ...others] = await namesOf(waiting);
    const approved = (claim: NodeClaim): NodeClaim => ({
      ...claim,
      annotations: { ...claim.annotations, [APPROVED]: 'launch' },
    });
    const paused = withState(waiting.ports, (state) => ({
      ...state,
      pausedUntilMs: { launch: until },
      objects: {
        ...state.objects,
        nodeClaims: state.objects.nodeClaims.map((claim) =>
          claim.name === first ? claim : approved(claim),
        ),
      },
    }));
    expect(await launched(paused, 2)).toEqual(others.slice(0, 2));
    expect(waiting.world.compute.machines.size).toBe(2);
  });

  it.each([
    ['launches', { launch: until }, 0],
    ['disruptions', { disrupt: until }, 2],
    ['terminations', { terminate: until }, 2],
  ])('holds all others while %s are paused', async (_, pausedUntilMs, count) => {
    const { ports, world } = await unlaunched(2);
    await provision(
      withState(ports, (state) => ({ ...state, pausedUntilMs })),
      settings,
    );
    expect(world.compute.machines.size).toBe(count);
  });
});

describe('the cap on the instance types of a fleet', () => {
  it.each([1, 2])('of %i', async (fleetTypesMax) => {
    const { ports } = await unlaunched(2);
    const types: number[] = [];
    const launch: Ports['compute']['launch'] = async (fleet) => {
      types.push(new Set(fleet.overrides.map(({ instanceType }) => instanceType)).size);
      return await ports.compute.launch(fleet);
    };
    await provision(withPorts(ports, { compute: { launch } }), { ...settings, fleetTypesMax });
    expect(types).toEqual([fleetTypesMax]);
  });
});
