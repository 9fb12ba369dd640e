import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../shared/core/lifecycle/conditions.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { CHANGE, claimsOf, entries, MINUTE, run } from './rolls.ts';
import { deployment, nodeClass, nodePool } from './small-world.ts';

const PODS = 24;
const FEW = 6;

const scaled = (at: number, replicas: number): Scenario['steps'][number] => ({
  at,
  scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas },
});

/** Pods that like to be on nodes of their own, so that a scale-down leaves none of them empty. */
const spread = {
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { app: 'web' } },
    },
  ],
};

/** Four pods a node, and nothing cheaper to buy: what can be saved is a node as a whole. */
function web(consolidateAfter: string): readonly Json[] {
  const disruption = { budgets: [{ nodes: '100%' }], consolidateAfter };
  const pool = nodePool(['on-demand'], { disruption });
  const { template, ...spec } = pool['spec'] as { readonly template: { readonly spec: Json } };
  const size = { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m6a.xlarge'] };
  const inner = { ...template.spec, requirements: [size] };
  return [
    nodeClass,
    { ...pool, spec: { ...spec, template: { ...template, spec: inner } } },
    deployment('web', PODS, '900m', spread),
  ];
}

/** Minutes after the change at which the first node was taken in hand. */
function firstMove(world: World): number {
  const moves = world.recorder.decisions.filter(
    ({ useCase, action }) => useCase === 'disrupt' && (action === 'delete' || action === 'replace'),
  );
  const first = Math.min(...moves.map(({ atMs }) => atMs));
  return (first - WORLD_START_MS - CHANGE) / MINUTE;
}

describe('consolidateAfter damps', () => {
  it('dips: what comes back in time finds its nodes', async () => {
    const steps = [50, 100, 150].flatMap((minute) => [
      scaled(minute * MINUTE, FEW),
      scaled((minute + 5) * MINUTE, PODS),
    ]);
    const { world, broken } = await run(web('30m'), 200, steps);
    expect(broken).toEqual([]);
    expect(world.evictions).toBe(0);
    expect(entries(world, 'removed')).toEqual([]);
    expect(world.launched).toBe(claimsOf(world).length);
  });

  it.each([
    ['a few pods leave', FEW],
    ['all pods leave', 0],
  ])('nodes that %s: it counts from then, not from when they came', async (_, replicas) => {
    const { world, broken } = await run(web('10m'), 40, [scaled(CHANGE + 20 * MINUTE, replicas)]);
    expect(broken).toEqual([]);
    const after = firstMove(world) - 20;
    expect(after).toBeGreaterThanOrEqual(10);
    expect(after).toBeLessThan(13);
  });
});

describe('what alerts read of a claim', () => {
  const said = (world: World) =>
    claimsOf(world).map((claim) => conditionOf(claim, 'Consolidatable')?.status);

  it('is Consolidatable once no pod has come or gone for consolidateAfter', async () => {
    const { world: early } = await run(web('10m'), 9, []);
    expect(new Set(said(early))).toEqual(new Set([undefined]));
    const { world: late } = await run(web('10m'), 16, []);
    expect(new Set(said(late))).toEqual(new Set(['True']));
    const { world: again } = await run(web('10m'), 18, [scaled(16 * MINUTE, FEW)]);
    expect(said(again)).toContain(undefined);
  });

  it('is not Consolidatable where consolidateAfter is Never', async () => {
    const { world } = await run(web('Never'), 16, []);
    expect(new Set(said(world))).toEqual(new Set([undefined]));
  });
});
