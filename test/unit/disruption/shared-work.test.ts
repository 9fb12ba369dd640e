import { describe, expect, it } from 'vitest';
import { withLeaving, withPlaces } from '../../../shared/core/disruption/simulation.ts';
import type { PodSpec } from '../../../shared/core/model/pod.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { replan } from '../../../shared/core/scheduling/replan.ts';
import { nodeOf, podOf, snapshotOf } from '../../builders/scheduling.ts';

const apart: Partial<PodSpec> = {
  podAntiAffinity: [
    {
      labelSelector: { matchLabels: { app: 'apart' }, matchExpressions: [] },
      topologyKey: 'kubernetes.io/hostname',
      namespaces: [],
      namespaceSelector: undefined,
      matchLabelKeys: [],
      mismatchLabelKeys: [],
    },
  ],
};

const on = (node: string, name: string, cpu: number, app = 'plain') => {
  const spec = app === 'apart' ? apart : {};
  const bound = { nodeName: node, phase: 'Running', unschedulable: false } as const;
  const pod = podOf(name, { cpu }, { labels: { app }, ...bound });
  return { ...pod, spec: { ...pod.spec, ...spec } };
};

/** Pods that keep apart, ordinary ones, and one that runs where it can be moved from. */
const cluster: ClusterSnapshot = snapshotOf({
  nodes: ['a', 'b', 'c', 'd'].map((name) => nodeOf(name, 4, 16)),
  pods: [
    ...[on('a', 'a1', 1000, 'apart'), on('a', 'a2', 500)],
    ...[on('b', 'b1', 1000, 'apart'), on('b', 'b2', 2500)],
    ...[on('c', 'c1', 3000), on('d', 'd1', 1500), on('d', 'd2', 1000)],
  ],
});

const planOf = (snapshot: ClusterSnapshot) => replan(snapshot, DEFAULT_SCHEDULING_SETTINGS);

/** The same, with no list or object that any plan has seen. */
const fresh = (snapshot: ClusterSnapshot): ClusterSnapshot => structuredClone(snapshot);

describe('plans of one snapshot', () => {
  it('are each what they would be by themselves, whichever nodes go and in whatever order', () => {
    const groups = [['a'], ['b'], ['c'], ['d'], ['a', 'b'], ['b', 'd'], ['a', 'b', 'c'], ['a']];
    for (const names of groups) {
      const without = names.reduce(withLeaving, cluster);
      expect(planOf(without)).toEqual(planOf(fresh(without)));
    }
  });

  it('see pods where they have been placed since', () => {
    planOf(withLeaving(cluster, 'a'));
    const placed = withPlaces(cluster, new Map([['default/a1', 'd']]));
    for (const name of ['a', 'b', 'd']) {
      const without = withLeaving(placed, name);
      expect(planOf(without)).toEqual(planOf(fresh(without)));
    }
  });

  it('see the room of a node that has changed', () => {
    const leaving = ['a', 'b'];
    const before = planOf(leaving.reduce(withLeaving, cluster));
    const nodes = cluster.nodes.map((node) => (node.name === 'c' ? nodeOf('c', 8, 32) : node));
    const without = leaving.reduce(withLeaving, { ...cluster, nodes });
    const plan = planOf(without);
    expect(plan).toEqual(planOf(fresh(without)));
    expect(plan.newNodeClaims.length).toBeLessThan(before.newNodeClaims.length);
  });
});
