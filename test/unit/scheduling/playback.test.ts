import { describe, expect, it } from 'vitest';
import { ZONE } from '../../../shared/core/model/labels.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { Playback } from '../../../shared/core/scheduling/playback.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem.ts';
import { repair } from '../../../shared/core/scheduling/repair.ts';
import { weighPreferences } from '../../../shared/core/scheduling/solve.ts';
import {
  FAMILY,
  GI,
  nodeOf,
  planOf,
  podsOf,
  snapshotOf,
  typeOf,
} from '../../builders/scheduling.ts';

function worldOf(rest: Parameters<typeof snapshotOf>[0]) {
  const problem = compileProblem(snapshotOf(rest), DEFAULT_SCHEDULING_SETTINGS);
  return weighPreferences(problem).world;
}

function leftOver(world: ReturnType<typeof worldOf>, batches: number): number {
  const bins = world.bins.map((_, index) => index);
  const stranded = new Playback(world).run({ bins, batches });
  return [...stranded.values()].reduce((sum, each) => sum + each, 0);
}

/** Small pods come first; kube-scheduler spreads them and leaves no node whole for the large ones. */
const spreadOut = [
  ...podsOf(8, 'small', { cpu: 1000, memory: GI }, { createdAtMs: 1 }),
  ...podsOf(2, 'large', { cpu: 7500, memory: GI }, { createdAtMs: 2 }),
];
const eights = FAMILY.filter((each) => each.name === 'm.2xlarge');

describe('a plan played back', () => {
  it('binds every pod where nodes have room to spare', () => {
    expect(leftOver(worldOf({ pods: podsOf(9, 'a') }), 1)).toBe(0);
  });

  it.each([1, 3, 10])('binds equal pods under a hard spread in %d batches', (batches) => {
    const web = { matchLabels: { app: 'web' }, matchExpressions: [] };
    const constraint = {
      topologyKey: ZONE,
      maxSkew: 1,
      minDomains: undefined,
      whenUnsatisfiable: 'DoNotSchedule' as const,
      labelSelector: web,
      matchLabelKeys: [],
      nodeAffinityPolicy: 'Honor' as const,
      nodeTaintsPolicy: 'Ignore' as const,
    };
    const pods = podsOf(300, 'a', { cpu: 900, memory: GI, topologySpread: [constraint] });
    expect(leftOver(worldOf({ pods, types: eights }), batches)).toBe(0);
  });

  it('leaves large pods over that small ones came before', () => {
    const world = worldOf({ pods: spreadOut, types: eights });
    expect(world.bins).toHaveLength(3);
    expect(leftOver(world, 1)).toBeGreaterThan(0);
  });

  it('binds large pods first where they matter more', () => {
    const pods = spreadOut.map((pod) =>
      pod.name.startsWith('large') ? { ...pod, spec: { ...pod.spec, priority: 100 } } : pod,
    );
    expect(leftOver(worldOf({ pods, types: eights }), 1)).toBe(0);
  });

  it('uses nodes that are there, whichever the plan meant', () => {
    const world = worldOf({ pods: podsOf(6, 'a'), nodes: [nodeOf('n', 8, 32)] });
    expect(world.bins).toEqual([]);
    expect(leftOver(world, 1)).toBe(0);
  });

  it('reports its orders and what they leave over', () => {
    const { stranded } = planOf({ pods: spreadOut, types: eights });
    expect(stranded.orders).toBe(5);
    expect(stranded.pods).toBeGreaterThan(0);
    expect(planOf({ pods: podsOf(9, 'a') }).stranded).toEqual({ orders: 5, pods: 0 });
  });
});

describe('repair', () => {
  const mixed = Array.from({ length: 120 }, (_, index) => [
    ...podsOf(7, `small-${index}`, { cpu: 250, memory: GI }, { createdAtMs: index }),
    ...podsOf(2, `large-${index}`, { cpu: 3000, memory: GI }, { createdAtMs: index }),
  ]).flat();

  it('adds at most 3 % to the price, and leaves fewer pods over', () => {
    const types = [
      typeOf('m.2xlarge', 8, 32, 0.4),
      typeOf('m.4xlarge', 16, 64, 0.85),
      typeOf('m.8xlarge', 32, 128, 1.7),
    ];
    const world = worldOf({ pods: mixed, types });
    const price = () => world.bins.reduce((sum, bin) => sum + bin.held.price, 0);
    const before = { price: price(), left: leftOver(world, 1) };
    repair(world);
    expect(before.left).toBeGreaterThan(0);
    expect(leftOver(world, 1)).toBeLessThan(before.left);
    expect(price()).toBeLessThanOrEqual(before.price * 1.03 + 1e-9);
  });
});
