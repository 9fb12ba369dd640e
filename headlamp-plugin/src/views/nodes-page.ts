import { createElement as h, type ReactNode, useMemo } from 'react';
import type { Column, Headlamp, Parts } from '../headlamp.ts';
import { type NodeRow, nodeRows, type PoolTotal, totalsOf } from '../model/node-list.ts';
import { target } from '../model/target.ts';
import { useReading } from './reading.ts';
import { linked, problemList } from './tables.ts';

function nodeColumns(parts: Parts): readonly Column<NodeRow>[] {
  return [
    {
      label: 'Node',
      share: 3,
      cell: (row) => linked(parts, row.target, row.name),
      sortedBy: ({ name }) => name,
    },
    {
      label: 'NodePool',
      cell: ({ nodePool }) => linked(parts, target('NodePool', nodePool), nodePool),
      sortedBy: ({ nodePool }) => nodePool,
    },
    {
      label: 'Instance type',
      cell: ({ instanceType }) => instanceType,
      sortedBy: (row) => row.instanceType,
    },
    {
      label: 'Capacity type',
      cell: ({ capacityType }) => capacityType,
      sortedBy: (row) => row.capacityType,
    },
    { label: 'Zone', cell: ({ zone }) => zone, sortedBy: ({ zone }) => zone },
    {
      label: 'Price',
      cell: ({ priceText }) => priceText,
      sortedBy: ({ price }) => price?.amount ?? 0,
    },
    {
      label: 'State',
      cell: ({ state, look }) => h(parts.Status, { look }, state),
      sortedBy: ({ state }) => state,
    },
    { label: 'Why', share: 4, cell: ({ detail }) => detail },
  ];
}

function totalColumns(parts: Parts): readonly Column<PoolTotal>[] {
  return [
    {
      label: 'NodePool',
      cell: ({ nodePool, nodes }) =>
        nodePool === '' && nodes > 0
          ? 'nodes of others'
          : linked(parts, target('NodePool', nodePool), nodePool),
    },
    { label: 'Nodes', cell: ({ nodes }) => String(nodes), sortedBy: ({ nodes }) => nodes },
    { label: 'An hour', cell: ({ hour }) => hour },
    { label: 'A month', cell: ({ month }) => month },
    { label: 'Of unknown price', cell: ({ unpriced }) => String(unpriced) },
  ];
}

const MINUTE_MS = 60_000;

/** The page with all nodes, their prices and what keeps them. */
export function nodesPage(headlamp: Headlamp) {
  return function NodesPage(): ReactNode {
    const { parts } = headlamp;
    const { cluster, events, isLoading, problems } = useReading(headlamp, undefined, undefined);
    const { nodes, nodeClaims, unread } = cluster;
    // The same rows until something changes, or a minute has passed.
    const minute = Math.floor(headlamp.nowMs() / MINUTE_MS);
    const rows = useMemo(
      () => nodeRows({ nodes, nodeClaims, unread }, events, minute * MINUTE_MS),
      [nodes, nodeClaims, unread, events, minute],
    );
    const { byPool, all } = useMemo(() => totalsOf(rows), [rows]);
    const unpriced = all.unpriced === 0 ? '' : `; ${all.unpriced} of unknown price`;
    const isRead = !unread.has('Node') && !unread.has('NodeClaim');
    const empty = isRead ? 'There are no nodes.' : 'Not all nodes were read.';
    const atLeast = isRead ? '' : 'At least ';
    const sum = `${atLeast}${all.nodes} nodes: ${all.hour}, ${all.month}${unpriced}`;
    return [
      h(
        parts.Section,
        { key: 'totals', title: 'Joiner: what nodes cost' },
        problemList(parts, problems),
        h('p', null, isLoading ? 'Reading …' : sum),
        h(parts.Table<PoolTotal>, {
          columns: totalColumns(parts),
          rows: byPool,
          empty,
        }),
      ),
      h(
        parts.Section,
        { key: 'nodes', title: 'Joiner: nodes' },
        h(parts.Table<NodeRow>, {
          columns: nodeColumns(parts),
          rows,
          empty,
        }),
      ),
    ];
  };
}
