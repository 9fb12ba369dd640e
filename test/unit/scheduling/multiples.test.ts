import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { Master } from '../../../shared/core/scheduling/packing/master.ts';
import type { Pattern } from '../../../shared/core/scheduling/packing/pattern.ts';
import type { LaunchOption } from '../../../shared/core/scheduling/problem/launch-options.ts';
import { below, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';
import { GI, planOf, podsOf, poolOf, typeOf } from '../../builders/scheduling.ts';

const TYPES = [2, 4, 8].flatMap((perCpu, family) =>
  [2, 4, 8, 16, 32, 64].map((cpu) =>
    typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu)),
  ),
);

/** Pods of 24 odd shapes, so many of each. */
function mixOf(count: number): readonly Pod[] {
  const random = numbers(7);
  return Array.from({ length: 24 }, (_, shape) => {
    const cpu = 100 * (1 + below(shape % 3 === 0 ? 160 : 40, random));
    const memory = cpu * (1 + below(7, random)) * 1e6;
    return podsOf(count, `s${shape}`, { cpu, memory });
  }).flat();
}

function costOf(pods: readonly Pod[]): number {
  const plan = planOf({ types: TYPES, pods, nodePools: [poolOf('general')] });
  expect(plan.unplaced.size).toBe(0);
  return plan.newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price + 0.003, 0);
}

describe('the restricted master problem', () => {
  const patternOf = (price: number, ...amounts: readonly number[]): Pattern => {
    const option = { price, free: [], group: { id: 0 } } as unknown as LaunchOption;
    const shapes = amounts.flatMap((amount, id) => (amount > 0 ? [id] : []));
    return { option, shapes, amounts: amounts.filter((amount) => amount > 0), value: 0 };
  };
  const masterOf = (...patterns: readonly Pattern[]): Master => {
    const starts = [patternOf(1, 2, 0), patternOf(1, 0, 1)];
    const master = new Master(Float64Array.from([10, 8]), starts, 0);
    for (const pattern of patterns) master.add(pattern);
    master.solve();
    return master;
  };
  const usesOf = (master: Master) =>
    master
      .uses()
      .filter(({ nodes }) => nodes > 1e-9)
      .map(({ pattern, nodes }) => [pattern.amounts, Math.round(nodes * 1e6) / 1e6]);

  it('uses the patterns that it starts with', () => {
    expect(usesOf(masterOf(patternOf(9, 1, 1)))).toEqual([
      [[2], 5],
      [[1], 8],
    ]);
  });

  it('mixes patterns so that they cost least', () => {
    // 8 of the mixed ones have both pods for the price of one: 2 of the first are left.
    expect(usesOf(masterOf(patternOf(1, 1, 1)))).toEqual([
      [[2], 1],
      [[1, 1], 8],
    ]);
  });

  it('may have room for more pods than there are', () => {
    expect(usesOf(masterOf(patternOf(0.9, 2, 1)))).toEqual([[[2, 1], 8]]);
  });

  it('says what a pod is worth', () => {
    const [first, second] = masterOf(patternOf(1, 1, 1)).values();
    expect(first).toBeCloseTo(0.5);
    expect(second).toBeCloseTo(0.5);
  });

  it('knows each pattern once', () => {
    const master = masterOf(patternOf(1, 1, 1));
    expect(master.add(patternOf(1, 1, 1))).toBe(false);
    expect(master.add(patternOf(2, 1, 1))).toBe(true);
  });
});

describe('many pods of few shapes', () => {
  it('cost no more for each pod than few', () => {
    const few = costOf(mixOf(10));
    for (const times of [10, 100]) {
      expect(costOf(mixOf(10 * times)) / times / few).toBeLessThanOrEqual(1);
    }
  });

  it('stay within the limits of their pool', () => {
    const pods = mixOf(40);
    const cpu = 640_000;
    const nodePools = [poolOf('general', { limits: { cpu } })];
    const { newNodeClaims, unplaced } = planOf({ types: TYPES, pods, nodePools });
    const launched = newNodeClaims.map(({ chosen }) => Number(chosen.type.split('.')[1]) * 1000);
    expect(launched.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(cpu);
    expect(unplaced.size).toBeGreaterThan(0);
    expect(unplaced.size).toBeLessThan(pods.length);
  });

  it('keep apart where they have to', () => {
    const hostPorts = [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }];
    const apart = podsOf(40, 'apart', { cpu: 900, memory: 3e9, hostPorts });
    const plan = planOf({ types: TYPES, pods: [...mixOf(10), ...apart] });
    expect(plan.unplaced.size).toBe(0);
    for (const { pods } of plan.newNodeClaims) {
      expect(pods.filter((pod) => pod.startsWith('default/apart-')).length).toBeLessThan(2);
    }
  });
});

describe('pods so small that their number fills nodes', () => {
  it('go beside large ones before they get nodes of their own', () => {
    const places = { 2: 29, 4: 58, 8: 58, 16: 234, 32: 234, 48: 234, 64: 737, 96: 737 };
    const prices = { 2: 0.0425, 4: 0.048, 8: 0.063 };
    const types = Object.entries(prices).flatMap(([perCpu, price]) =>
      Object.entries(places).map(([size, pods]) => {
        const [cpu, memoryGi] = [Number(size), Number(size) * Number(perCpu)];
        const capacity = { cpu: cpu * 1000, memory: memoryGi * GI, pods };
        return typeOf(`f${perCpu}.${size}`, cpu, memoryGi, cpu * price, { capacity });
      }),
    );
    const plan = planOf({
      types,
      pods: [
        ...podsOf(20, 'huge', { cpu: 90_000, memory: 100 * GI }),
        ...podsOf(20_000, 'tiny', { cpu: 10, memory: GI / 50 }),
      ],
    });
    expect(plan.unplaced.size).toBe(0);
    // 600 tiny ones beside each huge one, and 234 on each of 34 nodes of 16 cpu.
    expect(plan.pricePerHour).toBeLessThan(20 * 4.08 + 35 * 0.68);
  });
});
