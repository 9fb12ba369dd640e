import { describe, expect, it } from 'vitest';
import { GainBound } from '../../../../shared/core/disruption/consolidation/bound.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../../../shared/core/disruption/consolidation/payback.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE } from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { RequirementExpression } from '../../../../shared/core/model/requirement.ts';
import { type Cluster, clusterOf, poolUses, type Used } from '../../../builders/consolidation.ts';
import { daemonSetOf, GI, podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

/** 0.05 USD an hour for a CPU, 0.0125 for a GiB. */
const TYPES = [
  typeOf('m.small', 0.5, 2, 0.025),
  typeOf('m.large', 2, 8, 0.1),
  typeOf('m.xlarge', 4, 16, 0.2),
];
/** Free evictions, and an hour to pay back: the bound is the saving. */
const SETTINGS = { ...DEFAULT_CONSOLIDATION_SETTINGS, evictionPrice: 0, horizonMs: 3_600_000 };

const used = (name: string, ...pods: readonly Pod[]): Used => ({ name, type: 'm.large', pods });
const pod = (name: string, cpu: number, rest: Partial<Pod> = {}) =>
  podOf(name, { cpu, memory: 0 }, rest);

/** Pods that fit into the smallest type. */
const small = (name: string, count: number, rest: Partial<Pod> = {}) =>
  Array.from({ length: count }, (_, at) => pod(`${name}${at}`, 500, rest));

/** USD an hour that doing without the first nodes saves at most. */
function bound(
  { snapshot, usages }: Cluster,
  count: number,
  closed: readonly string[] = [],
  settings = SETTINGS,
): number {
  const own = { settings, pools: poolUses(usages) };
  return new GainBound(snapshot, new Set(closed), own).of(usages.slice(0, count)).saving;
}

/** The same at the horizon, less what the move costs. */
function gain({ snapshot, usages }: Cluster, settings: typeof SETTINGS): number {
  const own = { settings, pools: poolUses(usages) };
  return new GainBound(snapshot, new Set(), own).of(usages.slice(0, 1)).gain;
}

const at = (...nodes: readonly Used[]) => clusterOf(nodes, { types: TYPES });

describe('what doing without nodes saves at most', () => {
  it('is what they cost, where others have room for their pods', () => {
    expect(bound(at(used('a', pod('a', 1500)), used('b', pod('b', 500))), 1)).toBeCloseTo(0.1, 9);
    expect(bound(at(used('a')), 1)).toBeCloseTo(0.1, 9);
  });

  it('is less what their pods cost at the least where others have not', () => {
    // 1,500 are asked for and 500 are there: one CPU is to be bought.
    const cluster = at(used('a', ...small('a', 3)), used('b', pod('b', 1500)));
    expect(bound(cluster, 1)).toBeCloseTo(0.1 - 0.05, 9);
    expect(bound(at(used('a', ...small('a', 3))), 1)).toBeCloseTo(0.1 - 0.075, 9);
  });

  it('is by the resource that costs most', () => {
    const wide = Array.from({ length: 3 }, (_, n) => podOf(`a${n}`, { cpu: 300, memory: 2 * GI }));
    expect(bound(at(used('a', ...wide)), 1)).toBeCloseTo(0.1 - 0.075, 9);
    const unknown = podOf('a', { requests: { 'example.com/gpu': 1 } });
    expect(bound(at(used('a', unknown)), 1)).toBeCloseTo(0.1, 9);
  });

  it('does not count the room of the nodes themselves, nor of those that take nothing in', () => {
    const cluster = at(used('a', ...small('a', 3)), used('b', ...small('b', 3)), used('c'));
    expect(bound(cluster, 1)).toBeCloseTo(0.1, 9);
    // 3,000 are asked for and 2,000 are there.
    expect(bound(cluster, 2)).toBeCloseTo(0.2 - 0.05, 9);
    expect(bound(cluster, 1, ['c'])).toBeCloseTo(0.1 - 0.05, 9);
    expect(bound(cluster, 1, ['b', 'c'])).toBeCloseTo(0.1 - 0.075, 9);
    expect(bound(cluster, 1, ['a', 'b'])).toBeCloseTo(0.1, 9);
  });

  it('does not count room on nodes that are about to go', () => {
    const cluster = at(used('a', ...small('a', 3)), used('b'));
    const taints = [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }] as const;
    const nodes = cluster.snapshot.nodes.map((node) =>
      node.name === 'b' ? { ...node, taints } : node,
    );
    const leaving = { ...cluster, snapshot: { ...cluster.snapshot, nodes } };
    expect(bound(leaving, 1)).toBeCloseTo(0.1 - 0.075, 9);
  });

  it('counts what is overcommitted as full, not as less', () => {
    const cluster = at(used('a', pod('a', 1500)), used('b', pod('b', 3000)), used('c'));
    expect(bound(cluster, 1)).toBeCloseTo(0.1, 9);
  });

  it('counts no pods that are over or need not move', () => {
    const daemon = pod('d', 1500, { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } });
    expect(bound(at(used('a', daemon)), 1)).toBeCloseTo(0.1, 9);
    const over = at(used('a', ...small('a', 3)), used('b', pod('b', 2000)));
    for (const phase of ['Succeeded', 'Failed'] as const) {
      const pods = over.snapshot.pods.map((each) =>
        each.name === 'b' ? { ...each, phase } : each,
      );
      expect(bound({ ...over, snapshot: { ...over.snapshot, pods } }, 1)).toBeCloseTo(0.1, 9);
    }
    expect(bound(over, 1)).toBeCloseTo(0.1 - 0.075, 9);
  });

  it('counts no room that a CapacityBuffer asks for', () => {
    const annotations = { 'karpenter.sh/capacity-buffer-fake-pod': 'true' };
    expect(bound(at(used('a', pod('a', 1500, { annotations }))), 1)).toBeCloseTo(0.1, 9);
  });

  it('is by the cheapest that can be had now', () => {
    const [, large, xlarge] = TYPES;
    if (large === undefined || xlarge === undefined) throw new Error('two types');
    const cluster = at(used('a', ...small('a', 8)));
    const withTypes = (types: readonly (typeof large)[]) => ({
      ...cluster,
      snapshot: { ...cluster.snapshot, instanceTypes: new Map([['general', types]]) },
    });
    const cheap = typeOf('cheap', 4, 16, 0.04);
    expect(bound(withTypes([large, cheap, xlarge]), 1)).toBeCloseTo(0.1 - 0.04, 9);
    const offerings = cheap.offerings.map((each) => ({ ...each, available: false }));
    expect(bound(withTypes([large, { ...cheap, offerings }]), 1)).toBeCloseTo(0.1 - 0.2, 9);
    const full = { ...cheap, capacity: { cpu: 0 } };
    expect(bound(withTypes([large, full]), 1)).toBeCloseTo(0.1 - 0.2, 9);
    const kept = { ...cheap.overhead, kubeReserved: { cpu: 5000 } };
    expect(bound(withTypes([large, { ...cheap, overhead: kept }]), 1)).toBeCloseTo(0.1 - 0.2, 9);
  });

  it('is by what the NodePool may launch', () => {
    const spot = typeOf('spot', 2, 8, 0.02, { spot: true });
    const onDemand = { key: CAPACITY_TYPE, operator: 'In', values: ['on-demand'] } as const;
    const others = { key: INSTANCE_TYPE, operator: 'NotIn', values: ['spot'] } as const;
    const save = (...requirements: readonly RequirementExpression[]) => {
      const pool = poolOf('general', { requirements });
      const nodes = [used('a', ...small('a', 3))];
      return bound(clusterOf(nodes, { types: [...TYPES, spot], pools: [pool] }), 1);
    };
    // A pod fits into no part of it.
    expect(save()).toBeCloseTo(0.1 - 0.008, 9);
    expect(save(onDemand)).toBeCloseTo(0.1 - 0.02, 9);
    expect(save(others)).toBeCloseTo(0.1 - 0.075, 9);
  });

  it('counts room in which no pod fits as none', () => {
    const tight = [pod('a', 1200)];
    const cluster = at(
      used('a', ...tight),
      ...['b', 'c', 'd'].map((name) => used(name, pod(name, 1000))),
    );
    // Each of the three has 1,000 left: what it takes is a node for 0.1, and nothing is saved.
    expect(bound(cluster, 1)).toBeCloseTo(0, 9);
    expect(bound(at(used('a', ...tight), used('b', pod('b', 500))), 1)).toBeCloseTo(0.1, 9);
  });

  it('is less what the evictions cost, within the NodePool’s own horizon', () => {
    const pods = [pod('a', 100), pod('b', 100)];
    const paying = { ...SETTINGS, evictionPrice: 0.01 };
    const cluster = at(used('a', ...pods), used('b'));
    expect(gain(cluster, paying)).toBeCloseTo(0.1 - 0.02, 9);
    expect(gain(cluster, { ...paying, horizonMs: 7_200_000 })).toBeCloseTo(0.2 - 0.02, 9);
    const annotations = { 'joiner.dev/consolidation-guard': 'horizon=30m' };
    const guarded = clusterOf([used('a', ...pods), used('b')], {
      types: TYPES,
      pools: [poolOf('general', { annotations })],
    });
    expect(gain(guarded, paying)).toBeCloseTo(0.05 - 0.02, 9);
  });
});

it('pods of DaemonSets that are still to come take room, too', () => {
  const cluster = at(used('a', pod('a', 1500)), used('b'));
  const daemonSets = [daemonSetOf('agent', podOf('d', { cpu: 1000, memory: 0 }).spec)];
  const snapshot = { ...cluster.snapshot, daemonSets };
  expect(bound({ ...cluster, snapshot }, 1)).toBeLessThanOrEqual(0.1);
});
