import { describe, expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import type { LaunchFaultKind } from '../../../../shared/core/launch/faults.ts';
import { NOMINATED_UNTIL } from '../../../../shared/core/model/labels.ts';
import {
  type ClusterEvent,
  type FleetRequest,
  PortError,
  type Ports,
} from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { bufferOf } from '../../../builders/capacity-buffers.ts';
import { nodeOverlay } from '../../../builders/overlays.ts';
import { deployment, nodePool } from '../../../sim/small-world.ts';
import {
  clockOf,
  overtaken,
  reading,
  settings,
  spread,
  waitingWorld,
  withPorts,
} from '../world.ts';

const refuse = async (): Promise<never> => {
  throw new PortError('throttled', 'RequestLimitExceeded', 'later');
};

async function launchedConditions(ports: Ports): Promise<readonly string[]> {
  const { objects } = await ports.cluster.read();
  return objects.nodeClaims
    .flatMap((claim) => claim.conditions.filter((each) => each.type === 'Launched'))
    .map((each) => `${each.status} ${each.message}`);
}

describe('a launch that EC2 refuses', () => {
  it('to be looked for stops its own group alone', async () => {
    const { world, ports, add } = await waitingWorld([deployment('web', 1, '1')]);
    await provision(withPorts(ports, { compute: { launch: refuse } }), settings);
    await add([deployment('api', 1, '3')]);
    const blind = withPorts(ports, { compute: { list: refuse } });
    expect((await provision(blind, settings)).launched).toHaveLength(1);
    expect(world.compute.machines.size).toBe(1);
    expect((await provision(ports, settings)).launched).toHaveLength(1);
    expect(world.compute.machines.size).toBe(2);
  });

  it('for want of subnets is said on the claim and made up for later', async () => {
    const { ports } = await waitingWorld([deployment('web', 1, '1')]);
    const blind = withPorts(ports, { network: { subnets: refuse } });
    const { created, launched } = await provision(blind, settings);
    expect([created.length, launched.length]).toEqual([1, 0]);
    expect(await launchedConditions(ports)).toEqual(['Unknown RequestLimitExceeded: later']);
    expect((await provision(ports, settings)).launched).toEqual(created);
  });
});

it('a NodeClaim that the cluster refuses does not stop the others', async () => {
  const { ports } = await waitingWorld([spread('web', 3)]);
  let calls = 0;
  const createNodeClaim: Ports['cluster']['createNodeClaim'] = async (claim) => {
    calls += 1;
    return calls === 1 ? await refuse() : await ports.cluster.createNodeClaim(claim);
  };
  const report = await provision(withPorts(ports, { cluster: { createNodeClaim } }), settings);
  expect(report.created).toHaveLength(2);
  expect(report.launched).toHaveLength(2);
  const message = 'RequestLimitExceeded: later';
  expect(report.failures).toEqual([{ object: 'NodePool/default', message }]);
});

it.each([
  ['for pods', [spread('web', 3)], 3],
  ['of a static NodePool', [nodePool(['on-demand'], { replicas: 3 })], 3],
])('claims %s that are named alike at first get a name each', async (_, objects, count) => {
  const { world, ports } = await waitingWorld(objects);
  const suffixes = ['bbbbb', 'bbbbb', 'ccccc', 'bbbbb', 'ccccc', 'ddddd'];
  const ids = { suffix: () => suffixes.shift() ?? ports.ids.suffix() };
  const { created, launched } = await provision({ ...ports, ids }, settings);
  expect(new Set(launched).size).toBe(count);
  expect(created.length).toBe(new Set(created).size);
  expect(world.compute.machines.size).toBe(count);
});

it('events name the uid of their pods, by which kubectl describe looks for them', async () => {
  const { ports } = await waitingWorld([deployment('web', 1, '1'), deployment('huge', 1, '1k')]);
  const told: ClusterEvent[] = [];
  const event = async (each: ClusterEvent): Promise<void> => void told.push(each);
  await provision(withPorts(ports, { cluster: { event } }), settings);
  const { pods } = (await ports.cluster.read()).objects;
  const uids = pods.map(({ uid }) => uid).sort();
  const ofPods = told.filter(({ regarding }) => regarding.kind === 'Pod');
  expect(ofPods.map(({ reason }) => reason).sort()).toEqual(['FailedScheduling', 'Nominated']);
  expect(ofPods.map(({ regarding }) => regarding.uid).sort()).toEqual(uids);
});

it('a claim that may not be noted stops no launch', async () => {
  const { world, ports, add } = await waitingWorld([deployment('web', 1, '1')]);
  await provision(ports, settings);
  await add([deployment('small', 1, '100m'), deployment('large', 1, '3')]);
  const patchNodeClaim: Ports['cluster']['patchNodeClaim'] = (ref, patch) =>
    NOMINATED_UNTIL in (patch.annotations ?? {})
      ? refuse()
      : ports.cluster.patchNodeClaim(ref, patch);
  const refusing = withPorts(ports, { cluster: { patchNodeClaim } });
  const { launched, failures } = await provision(refusing, settings);
  expect(failures.map(({ message }) => message)).toEqual(['RequestLimitExceeded: later']);
  expect(launched).toHaveLength(1);
  expect(world.compute.machines.size).toBe(2);
});

it('a buffer whose status is refused stops no launch', async () => {
  const { world, ports } = await waitingWorld([deployment('web', 1, '1')]);
  const buffer = bufferOf('spare', { kind: 'absent', what: 'PodTemplate', name: 'slot' });
  const read = reading(ports, (state) => ({ ...state, capacityBuffers: [buffer] }));
  const refusing = withPorts(ports, { cluster: { read, patchCapacityBufferStatus: refuse } });
  const { launched, failures } = await provision(refusing, settings);
  expect(failures.map(({ object }) => object)).toEqual(['CapacityBuffer/team/spare']);
  expect(launched).toHaveLength(1);
  expect(world.compute.machines.size).toBe(1);
});

it('a pod of an architecture that no image is for is not planned again and again', async () => {
  const { ports, world } = await waitingWorld([
    deployment('web', 1, '1', { nodeSelector: { 'kubernetes.io/arch': 'amd64' } }),
  ]);
  const onlyArm = reading(ports, (state) => ({
    ...state,
    nodeClasses: state.nodeClasses.map((each) => ({
      ...each,
      status: {
        ...each.status,
        images: each.status.images.filter(({ name }) => name?.includes('arm64')),
      },
    })),
  }));
  const blind = withPorts(ports, { cluster: { read: onlyArm } });
  const { created, unplaced } = await provision(blind, settings);
  expect([created, [...unplaced.keys()].length]).toEqual([[], 1]);
  expect(world.compute.machines.size).toBe(0);
});

/** Every call that changes something, and every look at Karpenter's lease, in order. */
function recorded(ports: Ports, calls: string[]): Ports {
  const record = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: readonly unknown[]) => {
          if (!['read', 'list', 'describe'].includes(String(name))) calls.push(String(name));
          return await Reflect.apply(value, target, args);
        };
      },
    });
  return { ...ports, cluster: record(ports.cluster), compute: record(ports.compute) };
}

/** Karpenter starts before the look with this number; the clock makes each look a new one. */
async function callsWithKarpenterAt(look: number): Promise<readonly string[]> {
  const { world, ports: free } = await waitingWorld([deployment('web', 1, '1')]);
  const calls: string[] = [];
  let looks = 0;
  let nowMs = world.timeline.nowMs();
  const karpenterRenewedAtMs = async (): Promise<number | undefined> => {
    looks += 1;
    if (looks < look) return undefined;
    calls.push('Karpenter seen');
    return nowMs;
  };
  const clock = clockOf(() => (nowMs += 5000));
  const ports = withPorts(free, { clock, cluster: { karpenterRenewedAtMs } });
  await provision(recorded(ports, calls), settings);
  return calls.filter((each) => !/^(karpenterRenewedAtMs|pausedUntilMs)$/.test(each));
}

describe('Karpenter that starts in the middle of a pass', () => {
  it.each<[number, string]>([
    [1, ''],
    [2, 'wantedPods'],
    [3, 'wantedPods createNodeClaim'],
    [4, 'wantedPods createNodeClaim patchNodeClaim'],
    // What EC2 has launched is written on its claim all the same; people are told nothing.
    [5, 'wantedPods createNodeClaim patchNodeClaim launch patchNodeClaim patchNodeClaimStatus'],
  ])('ends it at look %i: each write and event is checked first', async (look, before) => {
    const calls = await callsWithKarpenterAt(look);
    const isSeen = (each: string): boolean => each === 'Karpenter seen';
    expect(calls.filter((each) => !isSeen(each)).join(' ')).toBe(before);
    expect(calls.at(-1)).toBe('Karpenter seen');
  });

  it('is not looked for any more once the last event is written', async () => {
    expect((await callsWithKarpenterAt(6)).at(-1)).toBe('event');
  });
});

describe('Karpenter that comes up while provision waits for an answer', () => {
  /** What is written afterwards, of a pod that waits, two pools, an overlay and a buffer. */
  async function writesAfter(during: string, change: (ports: Ports) => Ports) {
    const { ports: free } = await waitingWorld([deployment('web', 1, '1')]);
    const { ports, writes, isUp } = overtaken(change(free), during);
    const spare = (name: string) =>
      bufferOf(name, { kind: 'absent', what: 'PodTemplate', name: 'slot' });
    const read = reading(ports, (state) => ({
      ...state,
      capacityBuffers: [spare('a'), spare('b')],
      objects: {
        ...state.objects,
        nodeOverlays: [nodeOverlay('a', { price: '1' }), nodeOverlay('b', { price: '2' })],
        nodePools: ['default', 'other'].flatMap((name) =>
          state.objects.nodePools.map((pool) => ({ ...pool, name, conditions: [] })),
        ),
      },
    }));
    await provision(withPorts(ports, { cluster: { read } }), settings);
    expect(isUp()).toBe(true);
    return writes;
  }
  const refused = (kind: LaunchFaultKind) => (ports: Ports) =>
    withPorts(ports, {
      compute: {
        launch: async () => {
          const fault = { kind, code: 'Code', message: 'no', offering: undefined };
          return { instances: [], faults: [fault] };
        },
      },
    });
  const same = (ports: Ports) => ports;

  it.each([
    ['of a pool', 'patchNodePoolStatus', same],
    ['of an overlay', 'patchNodeOverlayStatus', same],
    ['of a buffer', 'patchCapacityBufferStatus', same],
    [
      'of subnets, which EC2 refuses',
      'subnets',
      (ports: Ports) => withPorts(ports, { network: { subnets: refuse } }),
    ],
    [
      'of a fleet, which EC2 does not give',
      'launch',
      (ports: Ports) => withPorts(ports, { compute: { launch: refuse } }),
    ],
    ['of a fleet that cannot be had', 'launch', refused('shortage')],
    ['of a fleet that is refused', 'launch', refused('class')],
  ] as const)('finds nothing written after that %s', async (_, during, change) => {
    expect(await writesAfter(during, change)).toEqual([]);
  });

  it('finds on no claim what an earlier call has launched', async () => {
    const { ports: free } = await waitingWorld([deployment('web', 1, '1')]);
    const launch = async (fleet: FleetRequest): Promise<never> => {
      await free.compute.launch(fleet);
      throw new PortError('unknown', 'TimeoutError', 'no answer');
    };
    await provision(withPorts(free, { compute: { launch } }), settings);
    const { ports, writes, isUp } = overtaken(free, 'list');
    await provision(ports, settings);
    expect([isUp(), writes]).toEqual([true, []]);
    expect((await provision(free, settings)).launched).toHaveLength(1);
  });

  it('finds what was launched written on its claim, or it would be launched twice', async () => {
    expect(await writesAfter('launch', same)).toEqual(['patchNodeClaim', 'patchNodeClaimStatus']);
  });
});

it('a claim whose minValues were given up is counted as such', async () => {
  const requirement = { key: 'karpenter.k8s.aws/instance-family', operator: 'Exists' };
  const pool = structuredClone(nodePool(['on-demand'])) as {
    spec: { template: { spec: { requirements: object[] } } };
  };
  pool.spec.template.spec.requirements.push({ ...requirement, minValues: 40 });
  const { world, ports } = await waitingWorld([deployment('web', 1, '1')], { ...pool });
  const scheduling = { ...settings.scheduling, minValuesPolicy: 'BestEffort' as const };
  expect((await provision(ports, { ...settings, scheduling })).created).toHaveLength(1);
  const counts = [...world.recorder.counts.keys()];
  const created = counts.filter((each) => each.startsWith('nodeclaims_created_total'));
  expect(created).toEqual([expect.stringContaining('min_values_relaxed="true"')]);
});

describe('a NodePool whose launches do not join', () => {
  async function provisioned(count: number) {
    const { world, ports } = await waitingWorld([deployment('web', 1, '1')]);
    const lastAtMs = world.timeline.nowMs();
    const failed = new Map([['default', { count, lastAtMs }]]);
    const failedRegistrations = async () => failed;
    const memory = new Proxy(ports.memory, {
      get: (target, name) => {
        if (name === 'failedRegistrations') return failedRegistrations;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const report = await provision(withPorts(ports, { memory }), settings);
    const [pool] = readState(world.store).objects.nodePools;
    const health = pool?.conditions.find(({ type }) => type === 'NodeRegistrationHealthy');
    return { report, health };
  }

  it('after one failure is not yet said to be unhealthy', async () => {
    const { report, health } = await provisioned(1);
    expect(report.created).toHaveLength(1);
    expect(health?.status).toBe('Unknown');
  });

  it('after two says so and goes on', async () => {
    const { report, health } = await provisioned(2);
    expect(report.created).toHaveLength(1);
    expect(health).toMatchObject({ status: 'False', reason: 'RegistrationFailed' });
  });

  it('after five stops, until when it says, in the log too', async () => {
    const { report, health } = await provisioned(5);
    expect(report.created).toHaveLength(0);
    expect(health).toMatchObject({ status: 'False', reason: 'LaunchesHalted' });
    expect(health?.message).toMatch(/5 launches in a row .* no launch before 20/);
    expect([...report.unplaced.values()].join()).toContain('LaunchesHalted');
    expect(report.failures.map(({ object }) => object)).toContain('NodePool/default');
  });
});
