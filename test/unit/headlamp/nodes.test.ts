import { describe, expect, it } from 'vitest';
import { blockersAround } from '../../../headlamp-plugin/src/model/blockers.ts';
import { type Cluster, decoded, pausesOf } from '../../../headlamp-plugin/src/model/cluster.ts';
import { joinerEvents } from '../../../headlamp-plugin/src/model/events.ts';
import { nodeRows, totalsOf } from '../../../headlamp-plugin/src/model/node-list.ts';
import { nodeView } from '../../../headlamp-plugin/src/model/node-view.ts';
import { DO_NOT_DISRUPT, NODE_POOL, PRICE } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { budgetOf, claimOf, podOf, poolOf, yes } from '../../builders/scheduling.ts';
import { aNode } from '../launch/builders.ts';

const NOW_MS = 1_000_000_000;
const ID = 'aws:///us-east-1a/i-1';
const POOL = { [NODE_POOL]: 'general' };
const OPEN = {
  budgets: [],
  consolidateAfter: 0,
  consolidationPolicy: 'WhenEmptyOrUnderutilized',
} as const;

const node = aNode({
  name: 'n',
  taints: [],
  providerId: ID,
  labels: POOL,
  conditions: yes('Ready'),
});
const pool = poolOf('general', { disruption: OPEN, conditions: yes('Ready') });
const claim = claimOf('general-1', {
  providerId: ID,
  labels: POOL,
  annotations: { [PRICE]: '0.5' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
});
const pod: Pod = { ...podOf('web'), nodeName: 'n', phase: 'Running' };
const calm: Cluster = {
  nodeClaims: [claim],
  nodes: [node],
  nodePools: [pool],
  pods: [pod],
  budgets: [],
  pauses: {},
  unread: new Set(),
};

function blockers(change: Partial<Cluster>, own: Partial<NodeClaim> = {}, events: object[] = []) {
  const cluster = { ...calm, ...change };
  const [there = node] = cluster.nodes;
  const candidate = { claim: { ...claim, ...own }, node: there, pods: cluster.pods };
  return blockersAround(candidate, cluster, joinerEvents(events), NOW_MS).map(
    ({ hinders, why }) => `${hinders}: ${why.text}`,
  );
}

describe('what blocks a node', () => {
  const held = { ...node, annotations: { [DO_NOT_DISRUPT]: 'true' } };
  const closed = budgetOf({ disruptionsAllowed: 0, selector: undefined });
  it.each<readonly [string, Partial<Cluster>, Partial<NodeClaim>, readonly RegExp[]]>([
    ['nothing', {}, {}, []],
    ['its annotation', { nodes: [held] }, {}, [/^disruption: Node n has the annotation/]],
    [
      'a pause, as long as it lasts',
      { pauses: { disrupt: Number.POSITIVE_INFINITY, launch: NOW_MS - 1 } },
      {},
      [/^disruption: disruptions are paused/],
    ],
    ['launches that are paused', { pauses: { launch: NOW_MS + 1 } }, {}, [/^disruption: Launches/]],
    [
      'a NodePool that is not ready',
      { nodePools: [{ ...pool, conditions: [] }] },
      {},
      [/^disruption: The NodePool is not ready: it is new/],
    ],
    [
      'its NodePool',
      { nodePools: [{ ...pool, replicas: 1 }] },
      {},
      [/^consolidation: NodePool general is static/],
    ],
    ['nothing while it starts', { nodes: [held] }, { conditions: [] }, []],
    ['a drain only what it waits for', { budgets: [closed] }, { deletedAtMs: NOW_MS }, []],
    ['nothing of a NodePool that is not there', { nodePools: [] }, {}, []],
  ])('%s', (_, change, own, texts) => {
    const found = blockers(change, own);
    expect(found).toHaveLength(texts.length);
    for (const [at, text] of texts.entries()) expect(found[at]).toMatch(text);
  });

  it('a budget holds the drain of a node that is deleted', () => {
    const budget = budgetOf({
      namespace: pod.namespace,
      disruptionsAllowed: 0,
      selector: { matchLabels: {}, matchExpressions: [] },
    });
    expect(blockers({ budgets: [budget] }, { deletedAtMs: NOW_MS })).toEqual([
      expect.stringMatching(/^drain: PodDisruptionBudget .* does not allow the eviction/),
    ]);
  });

  it('an event adds what objects do not show, and repeats nothing', () => {
    const event = (message: string) => ({
      involvedObject: { kind: 'Node', name: 'n' },
      reportingComponent: 'joiner-disrupt',
      reason: 'Unconsolidatable',
      message,
    });
    const known = `Node n has the annotation ${DO_NOT_DISRUPT}`;
    expect(blockers({ nodes: [held] }, {}, [event(known), event('too dear')])).toEqual([
      `disruption: ${known}`,
      'consolidation: too dear',
    ]);
  });
});

describe('the list', () => {
  const others = aNode({
    name: 'other',
    providerId: 'aws:///b/i-2',
    taints: [],
    labels: {},
    conditions: yes('Ready'),
  });
  const waiting = claimOf('general-2', { labels: POOL, providerId: undefined, conditions: [] });

  it('has nodes and NodeClaims by NodePool, those of others last', () => {
    const rows = nodeRows(
      { ...calm, nodes: [others, node], nodeClaims: [waiting, claim] },
      [],
      NOW_MS,
    );
    expect(
      rows.map(({ name, nodePool, priceText, state, target }) => [
        name,
        nodePool,
        priceText,
        state,
        target.kind,
      ]),
    ).toEqual([
      ['general-2', 'general', '-', 'Launching', 'NodeClaim'],
      ['n', 'general', '$0.5000/h', 'Ready', 'Node'],
      ['other', '', '-', 'Ready', 'Node'],
    ]);
    const { byPool, all } = totalsOf(rows);
    expect(byPool).toEqual([
      { nodePool: 'general', nodes: 2, hour: '$0.5000/h', month: '$365.00 a month', unpriced: 1 },
      { nodePool: '', nodes: 1, hour: '-', month: '-', unpriced: 1 },
    ]);
    expect(all).toMatchObject({ nodes: 3, unpriced: 2 });
  });

  it('is the same in any order of the objects', () => {
    const [a, b] = [
      [others, node],
      [node, others],
    ].map((nodes) => nodeRows({ ...calm, nodes, nodeClaims: [claim, waiting] }, [], NOW_MS));
    expect(a).toEqual(b);
  });
});

describe('the view of a NodeClaim', () => {
  it('has no node and no obstacle before it is launched', () => {
    const waiting = claimOf('general-2', { labels: {}, providerId: undefined, conditions: [] });
    const view = nodeView(waiting, calm, [], NOW_MS);
    expect(view).toMatchObject({ state: 'Launching', look: 'warning', blockers: [] });
    expect(view.facts).toContainEqual({ name: 'Node', value: 'none yet' });
    expect(view.facts).toContainEqual({ name: 'NodePool', value: 'none' });
  });

  it('has a node that is not known while Nodes are not read', () => {
    const blind = { ...calm, nodes: [], unread: new Set(['Node'] as const) };
    const stateOf = (own: Partial<NodeClaim>) => nodeView({ ...claim, ...own }, blind, [], NOW_MS);
    const view = stateOf({ nodeName: undefined });
    expect(view).toMatchObject({ state: 'Unknown', look: 'warning', blockers: [] });
    expect(view.facts).toContainEqual({ name: 'Node', value: 'not known' });
    expect(stateOf({ deletedAtMs: NOW_MS }).state).toBe('Unknown');
    expect(stateOf({ providerId: undefined }).state).toBe('Launching');
  });
});

describe('objects', () => {
  it('that can be read in part are, and others are left out', () => {
    const odd = { metadata: { name: 'n', labels: 7 } };
    expect(decoded('Node', [odd, 7, {}]).map(({ name }) => name)).toEqual(['n']);
  });

  it('a pause without an end is one that is no time', () => {
    const data = { 'pause.launch': '2026-01-01T00:00:00Z', 'pause.disrupt': 'on', other: 'x' };
    expect(pausesOf([{ data }])).toEqual({
      launch: Date.parse('2026-01-01T00:00:00Z'),
      disrupt: Number.POSITIVE_INFINITY,
    });
    expect(pausesOf([])).toEqual({});
    expect(pausesOf([{ data: { 'pause.launch': '' } }])).toEqual({});
  });
});
