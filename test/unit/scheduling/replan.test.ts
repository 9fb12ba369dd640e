import { describe, expect, it } from 'vitest';
import { PLANNED_PODS } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { replan } from '../../../shared/core/scheduling/replan.ts';
import { claimOf, GI, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const ROOM = { cpu: 2000, memory: 8 * GI, pods: 110 };

/** A claim on its way that was planned for these pods, by name. */
function planned(pods: readonly string[], rest: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('c', {
    providerId: 'aws:///zone-a/n',
    allocatable: ROOM,
    capacity: ROOM,
    conditions: yes('Launched'),
    annotations: { [PLANNED_PODS]: pods.map((name) => `uid-${name}`).join(',') },
    ...rest,
  });
}

const node = nodeOf('n', 2, 8, { labels: {} });

/** The pods by where they go: nodes and claims that are there, `new`, or `ignored`. */
function places(
  pods: readonly Pod[],
  rest: Partial<Omit<ClusterSnapshot, 'instanceTypes' | 'pods'>>,
): Readonly<Record<string, string>> {
  const plan = replan(snapshotOf({ pods, ...rest }), DEFAULT_SCHEDULING_SETTINGS);
  const name = (key: string) => key.replace('default/', '');
  return Object.fromEntries([
    ...plan.existing.flatMap((each) => each.pods.map((key) => [name(key), each.node])),
    ...plan.newNodeClaims.flatMap((each) => each.pods.map((key) => [name(key), 'new'])),
    ...[...plan.ignored.keys()].map((key) => [name(key), 'ignored']),
  ]);
}

const old = podOf('old', { cpu: 1500 }, { createdAtMs: 1 });
const other = podOf('other', { cpu: 1500, priority: 9 });

describe('a pod that an earlier plan has put on a node', () => {
  it('stays there until the node is open, also where another pod matters more', () => {
    expect(places([old, other], { nodeClaims: [planned(['old'])] })).toEqual({
      old: 'c',
      other: 'new',
    });
    const nodes = [node];
    expect(places([old, other], { nodes, nodeClaims: [planned(['old'])] })).toEqual({
      old: 'n',
      other: 'new',
    });
  });

  it('stays there while it is nominated to it', () => {
    const nodeClaims = [planned(['old'], { conditions: yes('Launched', 'Registered') })];
    const nominated = { ...old, nominatedNodeName: 'n' };
    const there = { nodes: [node], nodeClaims };
    expect(places([nominated, other], there)).toEqual({ old: 'n', other: 'new' });
    // kube-scheduler has tried it there in vain.
    expect(places([old, other], there)).toEqual({ old: 'new', other: 'n' });
  });

  it.each<[string, Partial<NodeClaim>]>([
    ['is going away', { deletedAtMs: 1 }],
    ['has become smaller than planned', { allocatable: { ...ROOM, cpu: 1000 } }],
  ])('needs another place where the claim %s', (_, rest) => {
    const nodeClaims = [planned(['old'], { name: 'c', ...rest })];
    expect(places([old], { nodeClaims })).toEqual({ old: 'new' });
  });

  it('is planned anew once the node is initialised', () => {
    const conditions = yes('Launched', 'Registered', 'Initialized');
    const nominated = { ...old, nominatedNodeName: 'n' };
    const there = { nodes: [node], nodeClaims: [planned(['old'], { conditions })] };
    expect(places([nominated, other], there)).toEqual({ old: 'new', other: 'n' });
  });

  it('counts as long as there is room: what is there already comes first', () => {
    const running = podOf('running', { cpu: 1000 }, { nodeName: 'n' });
    const nodeClaims = [planned(['old'])];
    expect(places([old, running], { nodes: [node], nodeClaims })).toEqual({ old: 'new' });
  });

  it('is told from another pod of its name by the uid', () => {
    const nodeClaims = [planned(['old'])];
    const again = { ...old, uid: 'uid-again' };
    expect(places([again, other], { nodeClaims })).toEqual({ old: 'new', other: 'c' });
  });

  it('waits for a preemption elsewhere where kube-scheduler makes room for it', () => {
    const victim = podOf('victim', { cpu: 2000 }, { nodeName: 'm', deletedAtMs: 1 });
    const preempting = podOf('old', { cpu: 1500, priority: 5 }, { nominatedNodeName: 'm' });
    const nodes = [nodeOf('m', 2, 8)];
    const nodeClaims = [planned(['old'])];
    expect(places([preempting, victim], { nodes, nodeClaims })).toEqual({ old: 'ignored' });
  });
});
