import { describe, expect, it } from 'vitest';
import { DRAIN, HOSTNAME, ZONE } from '../../../shared/core/model/labels.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { Playback } from '../../../shared/core/scheduling/playback/playback.ts';
import { strandedPods, strandingOf } from '../../../shared/core/scheduling/playback/stranded.ts';
import { compileProblem } from '../../../shared/core/scheduling/problem/compile.ts';
import { weighPreferences } from '../../../shared/core/scheduling/weighing.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { FAMILY, GI, nodeOf, podOf, podsOf, snapshotOf } from '../../builders/scheduling.ts';

function worldOf(rest: Parameters<typeof snapshotOf>[0]) {
  const problem = compileProblem(snapshotOf(rest), DEFAULT_SCHEDULING_SETTINGS);
  return weighPreferences(problem).state;
}

function leftOver(state: ReturnType<typeof worldOf>, batches: number): number {
  const bins = state.bins.map((_, index) => index);
  return new Playback(state).run({ bins, batches });
}

/** Small pods come first; kube-scheduler spreads them and leaves no node whole for the large ones. */
const spreadOut = [
  ...podsOf(8, 'small', { cpu: 1000, memory: GI }, { createdAtMs: 1 }),
  ...podsOf(2, 'large', { cpu: 7500, memory: GI }, { createdAtMs: 2 }),
];
const together = termOver(HOSTNAME, ofApp('group'));
/** Seven pods that must be together, and six others whose node has room for two of them. */
const group = [
  ...podsOf(7, 'group', { cpu: 1000, podAffinity: [together] }, { labels: { app: 'group' } }),
  ...podsOf(6, 'other', { cpu: 1000 }, { createdAtMs: 1 }),
];
const eights = FAMILY.filter((each) => each.name === 'm.2xlarge');

describe('a plan played back', () => {
  it('binds every pod where nodes have room to spare', () => {
    expect(leftOver(worldOf({ pods: podsOf(9, 'a') }), 1)).toBe(0);
  });

  it.each([1, 3, 10])('binds equal pods under a hard spread in %d batches', (batches) => {
    const constraint = spreadOver(ZONE, ofApp('web'));
    const pods = podsOf(300, 'a', { cpu: 900, memory: GI, topologySpread: [constraint] });
    expect(leftOver(worldOf({ pods, types: eights }), batches)).toBe(0);
  });

  it.each([1, 3])(
    'keeps room for large pods that small ones came before, in %d batches',
    (batches) => {
      const state = worldOf({ pods: spreadOut, types: eights });
      expect(state.bins).toHaveLength(3);
      expect(leftOver(state, batches)).toBe(0);
    },
  );

  it('keeps nodes with room for the first of a group closed until those of the group are ready', () => {
    const state = worldOf({ pods: group, types: eights });
    const own = state.bins.findIndex(({ content }) => [...content.values()].includes(7));
    expect(state.bins).toHaveLength(2);
    const playback = new Playback(state);
    expect(playback.isCertain).toBe(false);
    expect(playback.run({ bins: [own, 1 - own], batches: 2 })).toBe(0);
    expect(playback.run({ bins: [1 - own, own], batches: 1 })).toBe(0);
    expect(playback.run({ bins: [1 - own, own], batches: 2 })).toBe(0);
  });

  it('uses nodes that are there, whichever the plan meant', () => {
    const state = worldOf({ pods: podsOf(6, 'a'), nodes: [nodeOf('n', 8, 32)] });
    expect(state.bins).toEqual([]);
    expect(leftOver(state, 1)).toBe(0);
  });

  it('reports its orders and what they leave over', () => {
    // The first of the group finds room on a node that is there, and no other of them does.
    const state = worldOf({ pods: group.slice(0, 7), types: eights, nodes: [nodeOf('n', 1, 4)] });
    expect(strandedPods(state)).toEqual({ orders: 5, pods: 5 * 6 });
    const certain = strandedPods(worldOf({ pods: spreadOut, types: eights }));
    expect(certain).toEqual({ orders: 5, pods: 0 });
  });
});

describe('pods that come where they were evicted elsewhere', () => {
  const nodes = [nodeOf('host', 8, 32), nodeOf('side', 8, 32)];
  const beside = podOf('beside', { cpu: 6500 }, { nodeName: 'side' });
  /** The plan has room for it beside what runs; kube-scheduler likes the empty node better. */
  const evicted = podOf('evicted', { cpu: 1000 });
  const goesTo = (rest: Parameters<typeof podOf>[2]) =>
    podOf('blocked', { cpu: 7500 }, { nodeName: 'host', ...rest });

  it('take the room of one that is inbound, for which a spot node has to be launched', () => {
    const state = worldOf({ nodes, pods: [beside, evicted, goesTo({ isInbound: true })] });
    expect(state.bins).toEqual([]);
    expect(strandingOf(state).price).toBeCloseTo(0.4 * 0.4, 12);
  });

  it('come one after the other where those of one owner, if they were first, leave others no room', () => {
    const sites = [nodeOf('large', 16, 64), nodeOf('small', 4, 8)];
    const runs = podOf('runs', { cpu: 4250, memory: 11 * GI }, { nodeName: 'large' });
    const tied = (from: number, createdAtMs: number) =>
      podsOf(
        from,
        `tied-${createdAtMs}`,
        { cpu: 700, memory: GI / 8, nodeSelector: { [HOSTNAME]: 'small' } },
        { createdAtMs },
      );
    const free = podOf('free', { cpu: 2000, memory: GI / 8 }, { createdAtMs: 2 });
    const pods = [runs, ...tied(3, 1), free, ...tied(2, 3)];
    const { price, order } = strandingOf(worldOf({ nodes: sites, pods }));
    expect(price).toBe(0);
    expect(order?.at(-1)).toBe(free.uid);
  });

  it('have no order that a restart of their Deployment would not follow', () => {
    const sites = [nodeOf('wide', 4, 16), nodeOf('narrow', 4, 16, { labels: { narrow: 'yes' } })];
    const tied = podOf('tied', { cpu: 3000, nodeSelector: { narrow: 'yes' } }, { createdAtMs: 1 });
    const controller = { kind: 'ReplicaSet', name: 'set', uid: 'set-1', apiVersion: 'apps/v1' };
    const free = (annotations: Record<string, string>) =>
      podOf('free', { cpu: 3000 }, { annotations, controller, createdAtMs: 2 });
    const runs = podOf('runs', { cpu: 500 }, { nodeName: 'wide' });
    const evicted = strandingOf(worldOf({ nodes: sites, pods: [runs, tied, free({})] }));
    expect(evicted).toEqual({ price: 0, order: [tied.uid, 'set-1'] });
    const restarted = free({ [DRAIN]: 'rollout' });
    expect(strandingOf(worldOf({ nodes: sites, pods: [runs, tied, restarted] })).price).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  it('are looked for among 40,000 nodes without a search for each node', () => {
    const many = Array.from({ length: 40_000 }, (_, at) => nodeOf(`node-${at}`, 4, 16));
    expect(strandingOf(worldOf({ nodes: many, pods: [podOf('a')] })).price).toBe(0);
  }, 12_000);

  it('do not where it runs there already, or where the room is enough for both', () => {
    const settled = worldOf({ nodes, pods: [beside, evicted, goesTo({})] });
    expect(strandingOf(settled).price).toBe(0);
    const small = podOf('small', { cpu: 4000 }, { nodeName: 'host', isInbound: true });
    expect(strandingOf(worldOf({ nodes, pods: [beside, evicted, small] })).price).toBe(0);
  });
});
