import { describe, expect, it } from 'vitest';
import { planAround } from '../../../shared/core/disruption/replaced.ts';
import { REPLACED_BY } from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import {
  type ClusterSnapshot,
  DEFAULT_SCHEDULING_SETTINGS,
} from '../../../shared/core/model/snapshot.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { replan } from '../../../shared/core/scheduling/replan.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const joined = yes('Launched', 'Registered', 'Initialized');

/** A node with a pod of 1 cpu that waits for its replacement, unless the claim says otherwise. */
const claim = (name: string, rest: object = {}) =>
  claimOf(name, {
    providerId: `aws:///zone-a/${name}`,
    conditions: joined,
    annotations: { [REPLACED_BY]: 'new' },
    ...rest,
  });
const closed = (name: string) => ({ ...nodeOf(name, 2, 8), taints: [DISRUPTED] });
const on = (node: string, name: string) =>
  podOf(name, { cpu: 1000 }, { nodeName: node, phase: 'Running', unschedulable: false });

function planned(snapshot: ClusterSnapshot) {
  const asked: number[] = [];
  const { plan } = planAround(snapshot, (each) => {
    asked.push(each.nodes.length);
    return replan(each, DEFAULT_SCHEDULING_SETTINGS);
  });
  const opened = plan.newNodeClaims.flatMap(({ pods }) => pods).sort();
  const kept = new Map(plan.existing.map(({ node, pods }) => [node, [...pods].sort()]));
  return { opened, kept, plans: asked.length };
}

const waiting = podOf('waits', { cpu: 1000 });

describe('pods of a node that is being replaced', () => {
  it('have no new node opened for them where there is no place', () => {
    const { opened, plans } = planned(
      snapshotOf({ nodes: [closed('a')], nodeClaims: [claim('a')], pods: [on('a', 'a1')] }),
    );
    expect(opened).toEqual([]);
    expect(plans).toBe(2);
  });

  it.each([
    ['before', 0],
    ['after', 1],
  ])('have none where another Node, listed %s theirs, has its provider id', (_, at) => {
    const pretender = { ...nodeOf('b', 0.5, 8), providerId: closed('a').providerId };
    const nodes: ClusterSnapshot['nodes'] = [closed('a')];
    const { opened } = planned(
      snapshotOf({
        nodes: nodes.toSpliced(at, 0, pretender),
        nodeClaims: [claim('a', { nodeName: 'a' })],
        pods: [on('a', 'a1')],
      }),
    );
    expect(opened).toEqual([]);
  });

  it('do where their claim is deleted: they have to go somewhere', () => {
    const gone = claim('a', { deletedAtMs: 1 });
    const { opened } = planned(
      snapshotOf({ nodes: [closed('a')], nodeClaims: [gone], pods: [on('a', 'a1')] }),
    );
    expect(opened).toEqual(['default/a1']);
  });

  it.each<[string, object, readonly string[]]>([
    ['stay put while consolidation drains their node', {}, []],
    ['have to go where EC2 takes the node', { 'joiner.dev/interrupted': 'spot' }, ['default/a1']],
  ])('%s', (_, annotations, expected) => {
    const conditions = [
      ...joined,
      { ...yes('DisruptionReason')[0], reason: 'Underutilized' },
    ] as NodeClaim['conditions'];
    const gone = claim('a', { deletedAtMs: 1, conditions, annotations });
    const node = { ...closed('a'), deletedAtMs: 1 };
    const { opened } = planned(
      snapshotOf({ nodes: [node], nodeClaims: [gone], pods: [on('a', 'a1')] }),
    );
    expect(opened).toEqual(expected);
  });

  it('keep the place that is there for them from pods that wait', () => {
    const room = nodeOf('x', 1.2, 8);
    const { opened, kept, plans } = planned(
      snapshotOf({
        nodes: [closed('a'), room],
        nodeClaims: [claim('a'), claim('x', { annotations: {} })],
        pods: [on('a', 'a1'), { ...waiting, createdAtMs: Number.MAX_SAFE_INTEGER }],
      }),
    );
    expect(kept.get('x')).toEqual(['default/a1']);
    expect(opened).toEqual(['default/waits']);
    expect(plans).toBe(1);
  });

  it('do not take part in the nodes for those that wait', () => {
    const { opened } = planned(
      snapshotOf({
        nodes: [closed('a')],
        nodeClaims: [claim('a')],
        pods: [on('a', 'a1'), waiting],
      }),
    );
    expect(opened).toEqual(['default/waits']);
  });

  it('of several nodes stay where one of them has no place, and the others move', () => {
    const room = nodeOf('x', 1.2, 8);
    const { opened, kept } = planned(
      snapshotOf({
        nodes: [closed('a'), closed('b'), room],
        nodeClaims: [claim('a'), claim('b'), claim('x', { annotations: {} })],
        pods: [on('a', 'a1'), on('b', 'b1')],
      }),
    );
    expect(opened).toEqual([]);
    expect(kept.get('x')).toHaveLength(1);
  });

  it.each<[string, object, object]>([
    ['has no instance that is known', { providerId: undefined }, { providerId: undefined }],
    ['has a node that is deleted by somebody else', {}, { deletedAtMs: 1 }],
    ['is not being replaced', { annotations: {} }, {}],
  ])('have to go where their claim %s', (_, ofClaim, ofNode) => {
    const nodes = [{ ...closed('a'), ...ofNode }];
    const { opened, plans } = planned(
      snapshotOf({ nodes, nodeClaims: [claim('a', ofClaim)], pods: [on('a', 'a1')] }),
    );
    expect(opened).toEqual(['default/a1']);
    expect(plans).toBe(1);
  });

  it('are none where the claim has no node', () => {
    const { opened, plans } = planned(snapshotOf({ nodeClaims: [claim('a')], pods: [waiting] }));
    expect(opened).toEqual(['default/waits']);
    expect(plans).toBe(1);
  });

  it('all stay where one of them has no place', () => {
    const room = nodeOf('x', 1.2, 8);
    const { opened, kept } = planned(
      snapshotOf({
        nodes: [closed('a'), room],
        nodeClaims: [claim('a'), claim('x', { annotations: {} })],
        pods: [on('a', 'a1'), on('a', 'a2')],
      }),
    );
    expect(opened).toEqual([]);
    expect(kept.get('x') ?? []).toEqual([]);
  });

  it('of all nodes stay where the place of one is free only without those that stay', () => {
    const zone = 'topology.kubernetes.io/zone';
    const elsewhere = podOf('a1', { cpu: 1000, nodeSelector: { [zone]: 'zone-b' } }).spec;
    const apart = {
      labelSelector: { matchLabels: { app: 'a' }, matchExpressions: [] },
      topologyKey: zone,
      namespaces: [],
      namespaceSelector: undefined,
      matchLabelKeys: [],
      mismatchLabelKeys: [],
    };
    const b1 = on('b', 'b1');
    const { opened, kept, plans } = planned(
      snapshotOf({
        nodes: [closed('a'), closed('b'), nodeOf('x', 1.2, 8), nodeOf('untainted', 1.2, 8)],
        nodeClaims: [
          ...['a', 'b', 'untainted'].map((name) => claim(name)),
          claim('x', { annotations: {} }),
        ],
        pods: [
          { ...on('a', 'a1'), labels: { app: 'a' }, spec: elsewhere },
          { ...b1, spec: { ...b1.spec, podAntiAffinity: [apart] } },
          ...['p', 'q'].map((name) => podOf(name, { cpu: 1000 }, { createdAtMs: 1 })),
        ],
      }),
    );
    expect(opened).toEqual([]);
    const taken = ['x', 'untainted'].flatMap((name) => kept.get(name) ?? []);
    expect(taken.sort()).toEqual(['default/p', 'default/q']);
    expect(plans).toBe(3);
  });
});
