import { describe, expect, it } from 'vitest';
import { type FinalState, finalState } from '../../shared/sim/report.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const TYPE = 'c6a.xlarge';

function overlay(name: string, spec: object) {
  return {
    apiVersion: 'karpenter.sh/v1alpha1',
    kind: 'NodeOverlay',
    metadata: { name },
    spec: { requirements: [], ...spec },
  };
}

const pool = nodePool(['on-demand']);
const manifests = [
  nodeClass,
  pool,
  deployment('web', 1, '3', { nodeSelector: { 'node.kubernetes.io/instance-type': TYPE } }),
];

async function outcome(
  steps: Scenario['steps'],
  more: readonly object[] = [],
): Promise<FinalState> {
  const all = [...manifests, ...more] as Parameters<typeof smallWorld>[0];
  const { world, script } = await smallWorld(all, { scenario: { steps } });
  await world.run(WORLD_START_MS + 60 * MINUTE);
  return await finalState(world, 'test', 1, script.rejected);
}

const dearer: Scenario['steps'][number] = {
  at: 30 * MINUTE,
  price: { instanceType: TYPE, capacityType: 'on-demand', price: 9 },
};

describe('money', () => {
  it('a running instance costs the new price from the step on, in every figure', async () => {
    const [before, state] = [await outcome([]), await outcome([dearer])];
    const old = before.totals.pricePerHour;
    expect(before.totals.cost).toBeCloseTo(old, 4);
    expect(state.nodeClaims).toMatchObject([{ pricePerHour: 9, adjustedPricePerHour: 9 }]);
    expect(state.totals).toMatchObject({ pricePerHour: 9, adjustedPricePerHour: 9, launched: 1 });
    expect(state.timeline.find(({ kind }) => kind === 'price')?.pricePerHour).toBe(9);
    expect(state.totals.cost).toBeCloseTo((old + 9) / 2, 4);
  });

  it('a price elsewhere changes nothing here', async () => {
    const other = { instanceType: TYPE, capacityType: 'spot', price: 9, zone: undefined } as const;
    const state = await outcome([{ at: 30 * MINUTE, price: other }]);
    expect(state.totals).toEqual((await outcome([])).totals);
  });

  it('a claim keeps the overlays that it was launched with', async () => {
    const slices = { capacity: { 'example.com/slice': '4' } };
    const half = overlay('half', { priceAdjustment: '-50%' });
    const step = (at: number, objects: readonly object[]) => ({ at, apply: objects as never });
    const gone = { kind: 'NodeOverlay', name: 'half', namespace: '' };
    const steps = [
      { at: 10 * MINUTE, delete: [gone] },
      step(11 * MINUTE, [overlay('later', { priceAdjustment: '+100%', ...slices })]),
    ];
    const state = await outcome(steps, [half]);
    const [claim] = state.nodeClaims;
    expect(claim?.overlays).toEqual(['half']);
    expect(claim?.adjustedPricePerHour).toBeCloseTo((claim?.pricePerHour ?? 0) / 2, 10);
  });
});
