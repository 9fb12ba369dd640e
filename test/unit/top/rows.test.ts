import { describe, expect, it } from 'vitest';
import { renderTop } from '../../../cli/top/render.ts';
import { type NodeRow, nodeRows, type Sort, sorted, totalsOf } from '../../../cli/top/rows.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE } from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';
import { runningWorld, spread } from '../app/world.ts';

const catalog = await loadCatalog('us-east-1');
const NOW = 600_000;
const zone = 'us-east-1a';
const ready = yes('Ready');
const up = yes('Launched', 'Registered', 'Initialized');

function labelled(type: string, rest: Readonly<Record<string, string>> = {}) {
  return { [INSTANCE_TYPE]: type, ...rest };
}

function stateOf(
  nodes: readonly Node[],
  nodeClaims: readonly NodeClaim[] = [],
  pods: ClusterState['objects']['pods'] = [],
): ClusterState {
  return { objects: snapshotOf({ nodes, nodeClaims, pods }) } as unknown as ClusterState;
}

const own = nodeOf('a', 4, 16, {
  zone,
  providerId: 'aws:///a',
  conditions: ready,
  labels: labelled('c6a.xlarge', { [CAPACITY_TYPE]: 'spot' }),
});

const web = podOf('web', {}, { nodeName: 'a' });

function one(node: Node, claim?: Partial<NodeClaim>, pods = [web]): NodeRow {
  const claims = [claimOf('a', { providerId: 'aws:///a', conditions: up, ...claim })];
  const [row] = nodeRows(stateOf([node], claims, pods), catalog, NOW);
  if (row === undefined) throw new Error('a row for the node');
  return row;
}

describe('a node', () => {
  it('has what its pods request, those of DaemonSets too and finished ones not', () => {
    const on = { nodeName: 'a' };
    const pods = [
      podOf('p', { cpu: 500 }, on),
      podOf('q', { cpu: 250 }, { ...on, controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } }),
      podOf('r', { cpu: 1000 }, { ...on, phase: 'Succeeded' }),
      podOf('s', { cpu: 1000 }),
    ];
    const [row] = nodeRows(stateOf([own], [], pods), catalog, NOW);
    expect(row).toMatchObject({ cpu: { requested: 750, allocatable: 4000 }, pods: 2 });
  });

  it('costs what its labels name', () => {
    const types = catalog.types.find(({ name }) => name === 'c6a.xlarge');
    expect(one(own).pricePerHour).toBe(types?.spotPrices[zone]);
    const onDemand = { ...own, labels: { ...own.labels, [CAPACITY_TYPE]: 'on-demand' } };
    expect(one(onDemand).pricePerHour).toBe(types?.onDemandPrice);
    const { [CAPACITY_TYPE]: _, ...rest } = own.labels;
    const ofGroup = { ...own, labels: { ...rest, 'eks.amazonaws.com/capacityType': 'ON_DEMAND' } };
    expect(one(ofGroup)).toMatchObject({
      capacityType: 'on-demand',
      pricePerHour: types?.onDemandPrice,
    });
    const unknown = { ...own, labels: { ...own.labels, [INSTANCE_TYPE]: 'x99.large' } };
    expect(one(unknown).pricePerHour).toBeUndefined();
  });

  it('without a catalog has no price', () => {
    expect(nodeRows(stateOf([own]), undefined, NOW)[0]?.pricePerHour).toBeUndefined();
  });

  const effect = 'NoSchedule' as const;
  const taint = (key: string) => ({ ...own, taints: [{ key, value: '', effect }] });
  it.each<[string, NodeRow]>([
    ['Ready', one(own)],
    ['NotReady', one({ ...own, conditions: [] })],
    ['Disrupted', one(taint('karpenter.sh/disrupted'))],
    ['Cordoned', one(taint('node.kubernetes.io/unschedulable'))],
    ['Deleting', one(own, { deletedAtMs: 1 })],
    ['Drifted', one(own, { conditions: [...up, ...yes('Drifted')] })],
    ['Empty', one(own, {}, [])],
    ['Starting', one(own, { conditions: yes('Launched') })],
    ['NotReady,Deleting', one({ ...own, conditions: [] }, { deletedAtMs: 1 })],
  ])('is %s', (state, row) => {
    expect(row.state.join()).toBe(state);
  });
});

describe('a NodeClaim without a node', () => {
  it.each([
    ['Waiting', {}],
    ['Starting', { providerId: 'aws:///b' }],
    ['NodeGone', { providerId: 'aws:///b', conditions: yes('Launched', 'Registered') }],
    ['Deleting', { deletedAtMs: 1 }],
  ])('is %s', (state, claim) => {
    const [row] = nodeRows(stateOf([], [claimOf('b', claim)]), catalog, NOW);
    expect(row).toMatchObject({ node: undefined, nodeClaim: 'b', state: [state] });
  });
});

describe('the list', () => {
  const rows = nodeRows(
    stateOf(
      [
        nodeOf('x', 8, 32, { zone, pool: 'b', conditions: ready, labels: labelled('m6a.2xlarge') }),
        own,
        { ...nodeOf('other', 2, 8, { conditions: ready }), labels: {} },
      ],
      [claimOf('c', { labels: { 'karpenter.sh/nodepool': 'b' } })],
      [podOf('p', { cpu: 3000 }, { nodeName: 'a' }), podOf('q', { cpu: 500 }, { nodeName: 'x' })],
    ),
    catalog,
    NOW,
  );
  const names = (list: readonly NodeRow[]) => list.map(({ node, nodeClaim }) => node ?? nodeClaim);

  it('is by NodePool and name, others last', () => {
    expect(names(rows)).toEqual(['c', 'x', 'a', 'other']);
  });

  it.each<[Sort, readonly string[]]>([
    ['name', ['a', 'c', 'other', 'x']],
    ['price', ['x', 'a', 'c', 'other']],
    ['cpu', ['a', 'x', 'c', 'other']],
    ['pods', ['x', 'a', 'c', 'other']],
  ])('sorted by %s', (by, expected) => {
    expect(names(sorted(rows, by))).toEqual(expected);
  });

  it('adds up by NodePool, and says what has no price', () => {
    const { byPool, all } = totalsOf(rows);
    expect(byPool.map(({ nodePool, nodes, unpriced }) => [nodePool, nodes, unpriced])).toEqual([
      ['b', 2, 1],
      ['general', 1, 0],
      [undefined, 1, 1],
    ]);
    expect(all).toMatchObject({ nodes: 4, cpu: { requested: 3500, allocatable: 14_000 } });
  });

  it('is what a person reads', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const state = await world.ports.cluster.read();
    const list = nodeRows(state, catalog, world.timeline.nowMs());
    await expect(renderTop(list, totalsOf(list))).toMatchFileSnapshot('golden/top.txt');
    const wide = renderTop(list, totalsOf(list), true);
    await expect(wide).toMatchFileSnapshot('golden/top-wide.txt');
    expect(renderTop([], totalsOf([]))).toBe('No nodes.');
  });
});
