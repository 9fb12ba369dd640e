import { expect, it } from 'vitest';
import { provision } from '../../../shared/app/provision.ts';
import { METRICS } from '../../../shared/contract.ts';
import { WORLD_START_MS } from '../../../shared/sim/world.ts';
import { deployment } from '../../sim/small-world.ts';
import { MINUTE, runningWorld, settings, waitingWorld } from './world.ts';

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
  for (const phase of ['observe', 'decide', 'act']) {
    expect(levels.get(`${phase}_duration_seconds`)).toBeGreaterThanOrEqual(0);
  }
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

it('every level has a metric', async () => {
  const world = await runningWorld([deployment('web', 1, '1')]);
  const names = new Set<string>(Object.values(METRICS));
  const unknown = [...world.recorder.levels.keys()].filter(
    (name) => !names.has(`karpenter_${name}`) && !names.has(`joiner_${name}`),
  );
  expect(unknown).toEqual([]);
});
