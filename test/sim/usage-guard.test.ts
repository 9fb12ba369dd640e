import { describe, expect, it } from 'vitest';
import type { MeteredUsage } from '../../shared/core/disruption/consolidation/usage-guard.ts';
import { USAGE_GUARD } from '../../shared/core/model/labels.ts';
import { podKey } from '../../shared/core/model/pod.ts';
import type { Ports } from '../../shared/ports.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { withPorts } from '../unit/app/world.ts';
import { CHANGE, entries, MINUTE, run, runningPods } from './rolls.ts';
import { deployment, nodeClass, nodePool } from './small-world.ts';

const GUARD = 'cpu=0.5';

/** Nodes that are full of pods of two kinds; where `b` goes, half of each node is left. */
function halves(guard?: string): readonly Json[] {
  const pool = nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } });
  const annotations = guard === undefined ? {} : { [USAGE_GUARD]: guard };
  const guarded = { ...pool, metadata: { name: 'default', annotations } };
  const beside = { labels: { app: 'a' } };
  return [nodeClass, guarded, deployment('a', 8, '800m'), deployment('b', 8, '800m', beside)];
}

const half: Scenario['steps'] = [
  { at: CHANGE, scale: { kind: 'Deployment', name: 'b', namespace: 'default', replicas: 0 } },
];

/** Milli-cores that each pod uses, `undefined`: metrics.k8s.io is not served; by the minute. */
type Meter = (minute: number) => number | undefined;

/** A run in which metrics.k8s.io answers so, and the minutes in which it was asked. */
async function metered(manifests: readonly Json[], minutes: number, meter: Meter) {
  const asked: number[] = [];
  const wrap = (ports: Ports): Ports => {
    const podUsage = async (): Promise<MeteredUsage> => {
      const minute = (ports.clock.nowMs() - beginMs) / MINUTE;
      asked.push(minute);
      const cpu = meter(minute);
      if (cpu === undefined) return { kind: 'missing', why: 'metrics.k8s.io is not served' };
      const { pods } = (await ports.cluster.read()).objects;
      return { kind: 'metered', pods: new Map(pods.map((pod) => [podKey(pod), { cpu }])) };
    };
    const beginMs = ports.clock.nowMs();
    return withPorts(ports, { cluster: { podUsage } });
  };
  const { world, broken } = await run(manifests, minutes, half, { wrap });
  expect(broken).toEqual([]);
  expect(runningPods(world)).toBe(8);
  return { world, asked };
}

describe('nodes that are half empty, with a guard on what pods use', () => {
  it('go without the guard, and nobody asks what pods use', async () => {
    const { world, asked } = await metered(halves(), 30, () => 800);
    expect(world.evictions).toBeGreaterThan(0);
    expect(asked).toEqual([]);
  });

  it('stay while their pods use too much, and go soon after they use less', async () => {
    const busy = await metered(halves(GUARD), 40, () => 800);
    expect(busy.world.evictions).toBe(0);
    const falling = await metered(halves(GUARD), 60, (minute) => (minute < 40 ? 800 : 300));
    expect(falling.world.evictions).toBeGreaterThan(0);
    const evicted = entries(falling.world, 'evicted').map(({ at }) => at / 60);
    expect(Math.min(...evicted)).toBeGreaterThanOrEqual(40);
    expect(Math.min(...evicted)).toBeLessThanOrEqual(48);
  });

  it('are not looked at every minute because usage flickers', async () => {
    const { asked } = await metered(halves(GUARD), 64, (minute) => 700 + (minute % 7) * 10);
    const later = asked.filter((minute) => minute >= 4);
    expect(later.length).toBeGreaterThanOrEqual(5);
    expect(later.length).toBeLessThanOrEqual(14);
  });

  it('stay where metrics.k8s.io is not served, the NodePool says so, and go once it is', async () => {
    const { world } = await metered(halves(GUARD), 60, (minute) => (minute < 30 ? undefined : 300));
    const said = entries(world, 'DisruptionBlocked').map(({ object, message }) => [
      object,
      message,
    ]);
    expect(said).toContainEqual([
      'NodePool/default',
      'joiner.dev/usage-guard of NodePool default needs the usage of pods, which cannot be read: ' +
        'metrics.k8s.io is not served',
    ]);
    const evicted = entries(world, 'evicted').map(({ at }) => at / 60);
    expect(Math.min(...evicted)).toBeGreaterThanOrEqual(30);
    expect(Math.min(...evicted)).toBeLessThanOrEqual(38);
  });

  it('stay where the guard cannot be read, and nobody asks what pods use', async () => {
    const { world, asked } = await metered(halves('cpu=80'), 20, () => 100);
    expect(world.evictions).toBe(0);
    expect(asked).toEqual([]);
    const said = entries(world, 'DisruptionBlocked').map(({ message }) => message);
    expect(said).toContain(
      'Annotation joiner.dev/usage-guard: "cpu=80" is invalid; example: cpu=0.8,memory=0.9',
    );
  });
});
