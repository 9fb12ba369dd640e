import { createElement as h, type ReactNode } from 'react';
import { claimOfNode, nodeOfClaim } from '../../../shared/core/model/joins.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { Headlamp, Shown } from '../headlamp.ts';
import { decoded } from '../model/cluster.ts';
import { nodeView } from '../model/node-view.ts';
import { type Reading, useReading } from './reading.ts';
import { blockerTable, commandList, eventTable, factsTable, problemList } from './tables.ts';

/** What is known of one NodeClaim and its node. */
export function claimSections(headlamp: Headlamp, claim: NodeClaim, reading: Reading): ReactNode {
  const { parts } = headlamp;
  const { Section } = parts;
  const nowMs = headlamp.nowMs();
  const view = nodeView(claim, reading.cluster, reading.events, nowMs);
  const { unread } = reading.cluster;
  const { state, look, detail, facts, blockers, events, commands } = view;
  const text = detail === '' ? state : `${state}: ${detail}`;
  return [
    h(
      Section,
      { key: 'decision', title: 'Joiner: price and decision' },
      problemList(parts, reading.problems),
      factsTable(parts, facts, [{ name: 'State', value: h(parts.Status, { look }, text) }]),
      commandList(commands),
    ),
    h(
      Section,
      { key: 'blockers', title: 'Joiner: what blocks the node' },
      blockerTable(parts, blockers, unread.size === 0, nowMs),
    ),
    h(
      Section,
      { key: 'events', title: 'Joiner: events' },
      eventTable(parts, events, !unread.has('Event'), nowMs),
    ),
  ];
}

function withoutClaim({ parts }: Headlamp, { isLoading, problems, cluster }: Reading): ReactNode {
  if (isLoading) return null;
  const text = 'No NodeClaim of Joiner or Karpenter belongs to it: Joiner leaves it alone.';
  const absent = cluster.unread.has('NodeClaim') ? null : h('p', null, text);
  return h(parts.Section, { title: 'Joiner' }, problemList(parts, problems), absent);
}

/** The section on the page of a Node. */
export function nodeSection(headlamp: Headlamp) {
  return function NodeSection({ cluster, object }: Shown): ReactNode {
    const [node] = decoded('Node', [object]);
    const reading = useReading(headlamp, cluster, node?.name);
    const claim = node === undefined ? undefined : claimOfNode(reading.cluster.nodeClaims, node);
    if (claim === undefined) return withoutClaim(headlamp, reading);
    // The page has the node even where Nodes cannot be listed.
    const nodes = node === undefined ? [] : [node];
    return claimSections(headlamp, claim, { ...reading, cluster: { ...reading.cluster, nodes } });
  };
}

/** The section on the page of a NodeClaim. */
export function claimSection(headlamp: Headlamp) {
  return function ClaimSection({ cluster, object }: Shown): ReactNode {
    const [claim] = decoded('NodeClaim', [object]);
    const reading = useReading(headlamp, cluster, claim?.nodeName);
    return claim === undefined ? null : claimSections(headlamp, claim, reading);
  };
}

/**
 * A page of a NodeClaim: Headlamp's page of custom resources shows no sections of plugins. The
 * claim's node is known after NodeClaims were read, and with it whose pods to read.
 */
export function claimPage(headlamp: Headlamp) {
  function ClaimOfNode({
    name,
    node,
  }: {
    readonly name: string;
    readonly node: string | undefined;
  }) {
    const reading = useReading(headlamp, undefined, node);
    const claim = reading.cluster.nodeClaims.find((each) => each.name === name);
    return claim === undefined
      ? withoutClaim(headlamp, reading)
      : claimSections(headlamp, claim, reading);
  }
  return function ClaimPage(): ReactNode {
    const name = headlamp.useParameter('name');
    const reading = useReading(headlamp, undefined, undefined);
    const claim = reading.cluster.nodeClaims.find((each) => each.name === name);
    const node = claim === undefined ? undefined : nodeOfClaim(reading.cluster.nodes, claim)?.name;
    const { parts } = headlamp;
    if (claim === undefined && !reading.isLoading) {
      const { problems, cluster } = reading;
      const absent = cluster.unread.has('NodeClaim')
        ? null
        : h('p', null, 'There is no such NodeClaim.');
      const title = `NodeClaim ${name}`;
      return h(parts.Section, { title }, problemList(parts, problems), absent);
    }
    return h(ClaimOfNode, { key: node ?? '', name, node });
  };
}
