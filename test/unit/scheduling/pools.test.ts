import { describe, expect, it } from 'vitest';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { PodSpec } from '../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import {
  claimOf,
  FAMILY,
  GI,
  nodeOf,
  planOf,
  podOf,
  podsByZone,
  podsOf,
  poolOf,
  typeOf,
} from '../../builders/scheduling.ts';

it('a reason names the NodePools first that took the pod but for a taint', () => {
  const taints = [{ key: 'team', value: 'a', effect: 'NoSchedule' }] as const;
  const others = ['a', 'b', 'c', 'd'].map((name) => poolOf(name));
  const selected = poolOf('selected', { labels: { intent: 'apps' }, taints });
  const plan = planOf({
    nodePools: [...others, selected],
    types: [typeOf('m.large', 2, 8, 0.1)],
    pods: [podOf('web', { nodeSelector: { intent: 'apps' } })],
  });
  const { message, reasons } = plan.unplaced.get('default/web') ?? {};
  const [reason] = reasons ?? [];
  expect(message).toMatch(/^NodePool selected: .* after its taint team=a:NoSchedule/);
  expect(message).toMatch(/; and 2 more NodePools$/);
  const pools = reason?.code === 'pod-unplaced' ? reason.parameters.nodePools : [];
  expect(pools.map(({ nodePool }) => nodePool)).toEqual(['selected', 'a', 'b', 'c', 'd']);
});

describe('pools', () => {
  it('prefers the heavier pool, whatever the price', () => {
    const nodePools = [poolOf('cheap'), poolOf('heavy', { weight: 10 })];
    const instanceTypes = [typeOf('m.large', 2, 8, 0.1)];
    const plan = planOf({ nodePools, types: instanceTypes, pods: [podOf('a')] });
    expect(plan.newNodeClaims.map((each) => each.nodePool)).toEqual(['heavy']);
  });

  it('puts no pod on a lighter pool’s node that the heavier pool can take', () => {
    const nodePools = [poolOf('light'), poolOf('heavy', { weight: 10 })];
    const bound = podOf('bound', { cpu: 3000, nodeSelector: { [NODE_POOL]: 'light' } });
    const pods = [bound, podOf('free', { cpu: 1000 })];
    const plan = planOf({ nodePools, types: [typeOf('m.xlarge', 4, 16, 0.2)], pods });
    const byPool = plan.newNodeClaims.map((each) => [each.nodePool, each.pods]);
    expect(byPool).toContainEqual(['heavy', ['default/free']]);
    expect(byPool).toContainEqual(['light', ['default/bound']]);
  });

  it('fills up a lighter pool’s node where the heavier pool is at its limit', () => {
    const nodePools = [poolOf('light'), poolOf('heavy', { weight: 10, limits: { nodes: 0 } })];
    const bound = podOf('bound', { cpu: 3000, nodeSelector: { [NODE_POOL]: 'light' } });
    const pods = [bound, podOf('free', { cpu: 1000 })];
    const plan = planOf({ nodePools, types: [typeOf('m.xlarge', 4, 16, 0.2)], pods });
    expect(plan.newNodeClaims.map((each) => each.pods)).toEqual([
      ['default/bound', 'default/free'],
    ]);
  });

  it('stays within limits, counted exactly', () => {
    const nodePools = [poolOf('general', { limits: { cpu: 4000 } })];
    const plan = planOf({ nodePools, pods: podsOf(10, 'a') });
    expect(plan.newNodeClaims.flatMap((each) => each.pods)).toHaveLength(4);
    expect(plan.unplaced.size).toBe(6);
  });

  it('stays within a limit of nodes', () => {
    const nodePools = [poolOf('general', { limits: { nodes: 1 } })];
    const plan = planOf({ nodePools, pods: podsOf(30, 'a') });
    expect(plan.newNodeClaims).toHaveLength(1);
    expect(plan.newNodeClaims[0]?.pods).toHaveLength(16);
  });

  it.each(['', 'other'])('counts a node whose label says that it is of "%s"', (pool) => {
    const nodePools = [poolOf('general', { limits: { nodes: 1 } })];
    const node = nodeOf('n', 2, 8, { pool });
    const nodeClaims = [claimOf('n', { nodeName: 'n', providerId: node.providerId })];
    const plan = planOf({ nodePools, nodes: [node], nodeClaims, pods: podsOf(4, 'a') });
    expect(plan.newNodeClaims).toEqual([]);
    const strange = planOf({ nodePools, nodes: [node], pods: podsOf(4, 'a') });
    expect(strange.newNodeClaims).toHaveLength(1);
  });

  it('lists the types that the rest of a limit can pay for, whichever is launched', () => {
    const types = [
      typeOf('a', 4, 16, 0.2),
      typeOf('b', 4, 32, 0.21),
      typeOf('c', 8, 16, 0.22),
      typeOf('d', 16, 16, 0.23),
    ];
    const far: readonly string[] = ['a', 'b', 'c', 'd'];
    const listed = (limits: Record<string, number>, count = 1) =>
      planOf({
        nodePools: [poolOf('general', { limits })],
        types,
        pods: podsOf(count, 'p', { cpu: 3000, memory: 12 * GI }),
      }).newNodeClaims.map(({ instanceTypes }) => instanceTypes);
    expect(listed({ cpu: 1_000_000 })).toEqual([far]);
    expect(listed({ cpu: 1_000_000, memory: 1000 * GI })).toEqual([far]);
    expect(listed({ cpu: 12_000 })).toEqual([['a', 'b', 'c']]);
    expect(listed({ cpu: 4000 })).toEqual([['a', 'b']]);
    expect(listed({ cpu: 1_000_000, memory: 16 * GI })).toEqual([['a', 'c', 'd']]);
    // All grow by one type in turn: what pays for one and a half is shared alike as far as it goes.
    expect(listed({ cpu: 22_000 }, 2)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c'],
    ]);
    expect(listed({ cpu: 14_000 }, 2)).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b'],
    ]);
  });

  it('serves higher priorities first where limits bind', () => {
    const nodePools = [poolOf('general', { limits: { cpu: 4000 } })];
    const pods = [...podsOf(4, 'low', { cpu: 1000 }), ...podsOf(3, 'high', { priority: 9 })];
    const placed = planOf({ nodePools, pods }).newNodeClaims.flatMap((each) => each.pods);
    expect(placed.filter((pod) => pod.includes('high'))).toHaveLength(3);
    expect(placed).toHaveLength(4);
  });

  it('keeps minValues open, or says that it relaxed them', () => {
    const requirements = [
      { key: INSTANCE_TYPE, operator: 'Exists' as const, values: [], minValues: 3 },
    ];
    const nodePools = [poolOf('general', { requirements })];
    const few = FAMILY.slice(0, 2);
    expect(planOf({ nodePools, pods: [podOf('a')] }).newNodeClaims[0]?.instanceTypes.length).toBe(
      4,
    );
    expect(planOf({ nodePools, types: few, pods: [podOf('a')] }).unplaced.size).toBe(1);
    const relaxed = planOf(
      { nodePools, types: few, pods: [podOf('a')] },
      { minValuesPolicy: 'BestEffort' },
    );
    expect(relaxed.newNodeClaims[0]?.annotations).toMatchObject({
      'karpenter.sh/nodeclaim-min-values-relaxed': 'true',
    });
  });

  it('relaxes minValues of a key to the number there is, and keeps those that can be met', () => {
    const requirements = [
      { key: INSTANCE_TYPE, operator: 'Exists' as const, values: [], minValues: 3 },
      { key: ZONE, operator: 'Exists' as const, values: [], minValues: 2 },
    ];
    const nodePools = [poolOf('general', { requirements })];
    const problem = { nodePools, types: FAMILY.slice(0, 2), pods: [podOf('a')] };
    const [claim] = planOf(problem, { minValuesPolicy: 'BestEffort' }).newNodeClaims;
    const least = claim?.requirements.map(({ key, minValues }) => [key, minValues]);
    expect(Object.fromEntries(least ?? [])).toMatchObject({ [INSTANCE_TYPE]: 2, [ZONE]: 2 });
  });

  it('counts the zones and capacity types in which its types are offered', () => {
    const poolWith = (key: string, minValues: number) =>
      poolOf('general', {
        requirements: [{ key, operator: 'Exists', values: [], minValues }],
      });
    const noSpot = FAMILY.map((each) => typeOf(each.name, 4, 16, 0.2));
    const planWith = (nodePool: NodePool, types = FAMILY, spec = {}) =>
      planOf({ nodePools: [nodePool], types, pods: [podOf('a', spec)] });
    const zones = planWith(poolWith(ZONE, 3)).newNodeClaims[0];
    const zoneRule = zones?.requirements.find(({ key }) => key === ZONE);
    expect(zoneRule).toMatchObject({ values: ['zone-a', 'zone-b', 'zone-c'], minValues: 3 });
    expect(planWith(poolWith(ZONE, 4)).unplaced.size).toBe(1);
    expect(planWith(poolWith(CAPACITY_TYPE, 2), noSpot).unplaced.size).toBe(1);
    expect(planWith(poolWith(CAPACITY_TYPE, 2)).unplaced.size).toBe(0);
    const narrowed = planWith(poolWith(ZONE, 3), FAMILY, { nodeSelector: { [ZONE]: 'zone-b' } });
    const rule = narrowed.newNodeClaims[0]?.requirements.find(({ key }) => key === ZONE);
    expect(rule).toEqual({ key: ZONE, operator: 'In', values: ['zone-b'] });
    expect(narrowed.unplaced.size).toBe(0);
  });

  it('counts types that are offered in any zone that the claim leaves open', () => {
    const requirements = [
      { key: INSTANCE_TYPE, operator: 'Exists' as const, values: [], minValues: 3 },
    ];
    const types = ['zone-a', 'zone-b', 'zone-c'].map((zone, at) =>
      typeOf(`t${at}`, 4, 16, 0.2, { zones: [zone] }),
    );
    const plan = planOf({
      nodePools: [poolOf('general', { requirements })],
      types,
      pods: [podOf('a')],
    });
    expect(plan.newNodeClaims[0]?.instanceTypes).toEqual(['t0', 't1', 't2']);
  });

  it.each<[string, Partial<PodSpec>]>([
    ['a spread', { topologySpread: [spreadOver(ZONE, ofApp('web'))] }],
    ['affinity', { podAffinity: [termOver(ZONE, ofApp('web'))] }],
    ['anti-affinity', { podAntiAffinity: [termOver(ZONE, ofApp('web'))] }],
  ])('place a pod with %s where minValues can be met, not in the cheapest zone', (_, spec) => {
    const types = [
      typeOf('m.1', 2, 8, 0.1, { zones: ['zone-a'] }),
      typeOf('m.2', 2, 8, 0.2, { zones: ['zone-b'] }),
      typeOf('m.3', 2, 8, 0.3, { zones: ['zone-b'] }),
    ];
    const twoTypes = { key: INSTANCE_TYPE, operator: 'Exists', values: [], minValues: 2 } as const;
    const nodePools = [poolOf('general', { requirements: [twoTypes] })];
    const plan = planOf({ types, nodePools, pods: [podOf('web', spec)] });
    expect(podsByZone(plan)).toEqual({ 'zone-b': 1 });
  });

  it('counts the most of each limited resource that minValues keep open', () => {
    const requirements = [
      { key: INSTANCE_TYPE, operator: 'Exists' as const, values: [], minValues: 2 },
    ];
    const limits = { cpu: 100_000, memory: 400 * GI };
    const types = [typeOf('c.xlarge', 8, 16, 0.1), typeOf('r.large', 4, 32, 0.1)];
    const planWith = (own: Record<string, number>) =>
      planOf({
        nodePools: [poolOf('general', { requirements, limits: own })],
        types,
        pods: [podOf('a')],
      });
    expect(planWith(limits).newNodeClaims[0]?.instanceTypes).toHaveLength(2);
    expect(planWith({ ...limits, memory: 20 * GI }).unplaced.size).toBe(1);
  });

  it('launches nothing from a static or a deleted pool', () => {
    for (const rest of [{ replicas: 2 }, { isDeleting: true }, { invalid: 'bad' }]) {
      const plan = planOf({ nodePools: [poolOf('general', rest)], pods: [podOf('a')] });
      expect(plan.unplaced.size).toBe(1);
    }
  });
});
