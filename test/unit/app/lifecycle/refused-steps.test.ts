import { describe, expect, it } from 'vitest';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import { TAGGED, TERMINATION_TIMESTAMP } from '../../../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../../../shared/core/lifecycle/conditions.ts';
import { INTERRUPTED, type Labels } from '../../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import { type ObjectRef, PortError, type Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../../sim/small-world.ts';
import { clockOf, MINUTE, reading, runningWorld, settings, withPorts } from '../world.ts';

const refused = (): never => {
  throw new PortError('unknown', '500', 'a webhook refuses');
};

const PAST = new Date(WORLD_START_MS).toISOString();

/** Its pods are drained after all others. */
const critical: Json = deployment('dns', 1, '100m', {
  priorityClassName: 'system-cluster-critical',
});

interface Leaving {
  readonly world: World;
  readonly claim: NodeClaim;
  /** Names of pods, without what their ReplicaSet adds. */
  readonly asked: string[];
  /** One pod of the node may not go; the rest as said. */
  readonly ports: (more?: Partial<Ports['cluster']>, isRefusing?: boolean) => Ports;
}

/** A node with six pods of `web` and one of `dns`, which is deleted. */
async function leaving(annotations: Labels, labels: Labels = {}): Promise<Leaving> {
  const world = await runningWorld([deployment('web', 6, '100m'), critical]);
  const { cluster } = world.ports;
  const { nodeClaims, pods } = readState(world.store).objects;
  const [claim, second] = nodeClaims;
  if (claim === undefined || second !== undefined) throw new Error('the world has one node');
  const ref: ObjectRef = { kind: 'NodeClaim', name: claim.name, uid: claim.uid };
  await cluster.patchNodeClaim(ref, { annotations, labels });
  await cluster.delete(ref);
  // In the order in which they are asked, the first of them.
  const [stuck] = pods
    .map(({ name }) => name)
    .filter((name) => name.startsWith('web'))
    .sort();
  const asked: string[] = [];
  const ask =
    <Answer>(isRefusing: boolean, act: (pod: ObjectRef) => Promise<Answer>) =>
    async (pod: ObjectRef): Promise<Answer> => {
      asked.push(pod.name.split('-')[0] ?? '');
      return isRefusing && pod.name === stuck ? refused() : await act(pod);
    };
  const ports: Leaving['ports'] = (more = {}, isRefusing = true) =>
    withPorts(world.ports, {
      cluster: {
        evict: ask(isRefusing, (pod) => cluster.evict(pod)),
        deletePod: ask(isRefusing, (pod) => cluster.deletePod(pod, 0)),
        ...more,
      },
    });
  return { world, claim, asked, ports };
}

const WEB = Array.from({ length: 6 }, () => 'web');

describe('a pod that is refused to leave', () => {
  it.each<[string, Labels, Partial<Ports['cluster']>]>([
    ['of a drain', {}, {}],
    ['of a drain that EC2 began', { [INTERRUPTED]: 'spot_interrupted' }, { isWarm: () => false }],
    ['of one in a process that knows the cluster', {}, { isWarm: () => true }],
  ])('%s keeps none of the others', async (_, mark, more) => {
    const { asked, ports } = await leaving(mark, mark);
    const { evictions, failures } = await lifecycle(ports(more), settings);
    expect([evictions, asked.slice(0, 6)]).toEqual([5, WEB]);
    const [first, ...again] = failures;
    expect(first?.object).toMatch(/^Pod\/default\/web-/);
    expect(first?.message).toBe('500: a webhook refuses');
    // A drain that EC2 began is gone on with at once.
    expect(again).toEqual(asked.slice(6).map(() => first));
  });

  it('keeps those that are drained after it', async () => {
    const { world, asked, ports } = await leaving({});
    await lifecycle(ports(), settings);
    await world.run(world.timeline.nowMs() + 1);
    asked.length = 0;
    await lifecycle(ports(), settings);
    expect(asked).toEqual(['web']);
    await lifecycle(ports({}, false), settings);
    expect(asked.slice(1)).not.toContain('dns');
  });

  it('past the deadline keeps neither the others nor the instance', async () => {
    const { world, claim, asked, ports } = await leaving({ [TERMINATION_TIMESTAMP]: PAST });
    const { terminated, failures } = await lifecycle(ports(), settings);
    expect(asked.toSorted()).toEqual(['dns', ...WEB]);
    expect([terminated, failures]).toEqual([[claim.name], [expect.anything()]]);
    const machines = [...world.compute.machines.values()];
    expect(machines.map(({ state }) => state)).toEqual(['shutting-down']);
  });
});

it.each<[string, PortError, readonly string[]]>([
  [
    'is said on its claim',
    new PortError('unknown', 'OperationNotPermitted', 'is protected', { isTransient: false }),
    ['FailedTermination OperationNotPermitted: is protected'],
  ],
  ['for a moment is not', new PortError('throttled', 'RequestLimitExceeded', 'later'), []],
])('an instance that EC2 refuses to terminate %s', async (_, fault, said) => {
  const past = new Date(WORLD_START_MS).toISOString();
  const { claim, ports } = await leaving({ [TERMINATION_TIMESTAMP]: past });
  const told: string[] = [];
  const event: Ports['cluster']['event'] = async ({ regarding, reason, message }) => {
    if (regarding.name === claim.name) told.push(`${reason} ${message}`);
  };
  const terminate = async () => {
    throw fault;
  };
  const { failures } = await lifecycle(
    withPorts(ports({ event }, false), { compute: { terminate } }),
    settings,
  );
  expect(told).toEqual(said);
  expect(failures.map(({ message }) => message)).toEqual([`${fault.code}: ${fault.message}`]);
});

describe('a node that may not be tainted', () => {
  it('keeps its pods, as they would come back', async () => {
    const { asked, ports } = await leaving({});
    const { failures } = await lifecycle(ports({ patchNode: async () => refused() }), settings);
    expect([asked, failures.length]).toEqual([[], 1]);
  });

  it('goes when its time is up', async () => {
    const { claim, ports } = await leaving({ [TERMINATION_TIMESTAMP]: PAST });
    const { terminated } = await lifecycle(ports({ patchNode: async () => refused() }), settings);
    expect(terminated).toEqual([claim.name]);
  });
});

describe('a claim whose status may not be written', () => {
  const patchNodeClaimStatus = async () => refused();

  it.each([
    ['ends when its process has seen the taint for five seconds', new LifecycleMemory(), 1],
    ['waits where no process lives so long', undefined, 0],
  ])('%s', async (_, memory, ended) => {
    const { world, claim, ports } = await leaving({});
    const startMs = world.timeline.nowMs();
    let nowMs = startMs;
    // Nothing of the world's own happens meanwhile but that its pods have gone.
    const read = reading(world.ports, (state) => ({
      ...state,
      objects: { ...state.objects, pods: [] },
    }));
    const clock = clockOf(() => nowMs);
    const timed = withPorts(ports({ patchNodeClaimStatus, read }), { clock });
    const terminated: string[] = [];
    const pass = async (): Promise<void> => {
      terminated.push(...(await lifecycle(timed, settings, memory)).terminated);
    };
    await pass();
    nowMs = startMs + 1000;
    await pass();
    nowMs = startMs + 5999;
    await pass();
    expect(terminated).toEqual([]);
    nowMs = startMs + 6000;
    await pass();
    expect(terminated).toEqual([claim.name].slice(0, ended));
  });
});

describe('an instance that may not be tagged', () => {
  const claimsOf = (world: World) => readState(world.store).objects.nodeClaims;

  it('is initialised all the same, and tagged when it may be', async () => {
    let isDenied = true;
    const wrap = (ports: Ports): Ports =>
      withPorts(ports, {
        compute: {
          tag: async (id, tags) => {
            if (isDenied) throw new PortError('unauthorised', 'UnauthorizedOperation', 'no');
            await ports.compute.tag(id, tags);
          },
        },
      });
    const manifests = [nodeClass, nodePool(['on-demand']), deployment('web', 2, '1')];
    const { world } = await smallWorld(manifests, { wrap });
    await world.run(WORLD_START_MS + 3 * MINUTE);
    const [claim] = claimsOf(world);
    expect(claim && isTrue(claim, 'Initialized')).toBe(true);
    const { failures, isUnsettled } = await lifecycle(world.ports, settings);
    expect(failures).toEqual([
      { object: `NodeClaim/${claim?.name}`, message: 'UnauthorizedOperation: no' },
    ]);
    expect(isUnsettled).toBe(false);
    isDenied = false;
    await lifecycle(world.ports, settings);
    expect(claimsOf(world).map(({ annotations }) => annotations[TAGGED])).toEqual(['true']);
  });
});

describe('a NodeClaim that nothing can be decided about', () => {
  it('keeps no other from going, and fails the invocation', async () => {
    const { world, claim, ports } = await leaving({ [TERMINATION_TIMESTAMP]: PAST });
    const defect = new RangeError('Invalid time value');
    const broken: NodeClaim = {
      ...{ ...claim, name: 'broken', uid: 'broken', providerId: undefined },
      get expireAfter(): never {
        throw defect;
      },
    };
    const read = async () => {
      const state = readState(world.store);
      const nodeClaims = [broken, ...state.objects.nodeClaims];
      return { ...state, objects: { ...state.objects, nodeClaims } };
    };
    await expect(lifecycle(ports({ read }), settings)).rejects.toBe(defect);
    const machines = [...world.compute.machines.values()];
    expect(machines.map(({ state }) => state)).toEqual(['shutting-down']);
  });
});
