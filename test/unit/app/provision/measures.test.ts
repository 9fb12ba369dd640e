import { expect, it } from 'vitest';
import { measuresOf } from '../../../../shared/app/provision/measures.ts';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { METRICS } from '../../../../shared/contract/metrics.ts';
import { podKey } from '../../../../shared/core/model/pod.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import { WORLD_START_MS } from '../../../../shared/sim/world.ts';
import { planOf, podsOf, snapshotOf } from '../../../builders/scheduling.ts';
import { deployment } from '../../../sim/small-world.ts';
import {
  MINUTE,
  reading,
  runningWorld,
  settings,
  spread,
  waitingWorld,
  withPorts,
} from '../world.ts';

it('pods that wait are counted, and how long the first has waited', async () => {
  const { world, ports, add } = await waitingWorld([deployment('web', 2, '1')]);
  await add([deployment('huge', 1, '10000')]);
  await provision(ports, settings);
  const { levels } = world.recorder;
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(3);
  const waitedMs = ports.clock.nowMs() - WORLD_START_MS;
  const seconds = levels.get('pods_provisioning_unbound_time_seconds') ?? 0;
  expect(seconds).toBeGreaterThan(2);
  expect(seconds).toBeLessThanOrEqual(waitedMs / 1000);
  expect(levels.get('cluster_state_node_count')).toBe(0);
  expect(levels.has('cluster_utilization_percent_cpu')).toBe(false);
  expect(levels.get('nodepools_cost_total')).toBe(0);
  expect(levels.get('observe_duration_seconds')).toBeGreaterThanOrEqual(0);
  expect(levels.get('pods_backed_off')).toBe(0);
});

it('more pods may wait than a call takes arguments', () => {
  const pods = podsOf(200_000, 'web');
  const unplaced = new Map(pods.map((pod) => [podKey(pod), { reasons: [], message: '' }]));
  const plan = { ...planOf({}), unplaced };
  const levels = new Map(
    measuresOf({
      snapshot: snapshotOf({ pods }),
      plan,
      virtual: new Set(),
      typesOf: () => [],
      nowMs: MINUTE,
    }),
  );
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(200_000);
  expect(levels.get('pods_provisioning_unbound_time_seconds')).toBe(60);
});

it('nodes are counted with what they cost and how full they are', async () => {
  const world = await runningWorld([deployment('web', 3, '1')]);
  await world.run(WORLD_START_MS + 6 * MINUTE);
  const { levels } = world.recorder;
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(0);
  expect(levels.get('pods_provisioning_unbound_time_seconds')).toBe(0);
  expect(levels.get('cluster_state_node_count')).toBe(1);
  expect(world.pricePerHour()).toBeGreaterThan(0);
  expect(levels.get('nodepools_cost_total')).toBeCloseTo(world.pricePerHour(), 9);
  const cpu = levels.get('cluster_utilization_percent_cpu') ?? 0;
  expect(cpu).toBeGreaterThan(50);
  expect(cpu).toBeLessThanOrEqual(100);
  expect(levels.get('unavailable_offerings')).toBe(0);
});

it('pods that run on a node that is drained do not wait, however old they are', async () => {
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
  };
  const world = await runningWorld([deployment('web', 6, '1'), budget]);
  await world.run(WORLD_START_MS + 20 * MINUTE);
  const [claim] = world.store.list('NodeClaim');
  if (claim === undefined) throw new Error('the world has no claim');
  world.store.delete(claim);
  await world.run(WORLD_START_MS + 20 * MINUTE + 15_000);
  const { levels } = world.recorder;
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(1);
  expect(levels.get('pods_provisioning_unbound_time_seconds')).toBeLessThan(60);
});

it('every level has a metric', async () => {
  const world = await runningWorld([deployment('web', 1, '1')]);
  const names = new Set<string>(Object.values(METRICS).map(({ name }) => name));
  const unknown = [...world.recorder.levels.keys()].filter(
    (name) => !names.has(`karpenter_${name}`) && !names.has(`joiner_${name}`),
  );
  expect(unknown).toEqual([]);
});

it.each([
  ['a pause', { pausedUntilMs: { launch: Number.POSITIVE_INFINITY } }, 'launches-paused'],
  ['Karpenter', { karpenterRenewedAtMs: Number.POSITIVE_INFINITY }, 'karpenter-runs'],
])('what waits is measured while %s holds launches, and that it does', async (_, held, reason) => {
  const { world, ports } = await waitingWorld([deployment('web', 2, '1')]);
  world.recorder.levels.clear();
  const read = reading(ports, (state) => ({ ...state, ...held }));
  const blind = { read, karpenterRenewedAtMs: async () => Number.POSITIVE_INFINITY };
  const cluster = 'karpenterRenewedAtMs' in held ? blind : { read };
  const report = await provision(withPorts(ports, { cluster }), settings);
  expect(report.created).toEqual([]);
  const { levels, decisions } = world.recorder;
  expect(levels.get('held_back')).toBe(1);
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(2);
  expect(levels.get('pods_provisioning_unbound_time_seconds')).toBeGreaterThan(0);
  expect(decisions.map(({ detail }) => detail['reason'])).toContain(reason);
  await provision(ports, settings);
  expect(levels.get('held_back')).toBe(0);
});

it.each([
  ['a pause', { launch: Number.POSITIVE_INFINITY }],
  ['nothing', {}],
])('pods in launch back-off wait, too, while %s holds launches', async (_, pausedUntilMs) => {
  const { world, ports } = await waitingWorld([deployment('web', 2, '1')]);
  const { pods } = (await ports.cluster.read()).objects;
  const backoff = { untilMs: ports.clock.nowMs() + MINUTE, launches: [] };
  const toldBackoffs = new Map(pods.map((pod) => [podKey(pod), backoff]));
  world.recorder.levels.clear();
  const read = reading(ports, (state) => ({ ...state, pausedUntilMs }));
  const held = withPorts(ports, { cluster: { read }, memory: { toldBackoffs } });
  await provision(held, settings);
  const { levels } = world.recorder;
  expect(levels.get('pods_backed_off')).toBe(2);
  expect(levels.get('scheduler_unschedulable_pods_count')).toBe(2);
  expect(levels.get('pods_provisioning_unbound_time_seconds')).toBeGreaterThan(0);
});

it('launches are counted by the claim: tried, and failed whatever the cause', async () => {
  const { world, ports } = await waitingWorld([spread('web', 3)]);
  const sum = (name: string): number =>
    [...world.recorder.counts]
      .filter(([key]) => key.startsWith(`${name}{`))
      .reduce((total, [, by]) => total + by, 0);
  const launch = async () => {
    throw new PortError('unknown', 'InternalError', 'later');
  };
  await provision(withPorts(ports, { compute: { launch } }), settings);
  expect(sum('launch_attempts_total')).toBe(3);
  expect(sum('cloudprovider_instance_launch_failures_total')).toBe(3);
  const offering = { instanceType: 'm7g.large', zone: 'us-east-1a', capacityType: 'spot' } as const;
  const fault = { offering, kind: 'shortage', code: 'Short', message: 'none' } as const;
  const served: Ports['compute']['launch'] = async (request) => {
    const { instances } = await ports.compute.launch(request);
    return { instances, faults: Array.from({ length: 9 }, () => fault) };
  };
  const report = await provision(withPorts(ports, { compute: { launch: served } }), settings);
  expect(report.launched).toHaveLength(3);
  expect(sum('launch_attempts_total')).toBe(6);
  expect(sum('cloudprovider_instance_launch_failures_total')).toBe(3);
});
