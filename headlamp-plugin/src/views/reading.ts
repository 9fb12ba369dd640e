import { useMemo } from 'react';
import type { Headlamp, Listed, ListedKind } from '../headlamp.ts';
import { type Cluster, decoded, pausesOf } from '../model/cluster.ts';
import { type JoinerEvent, joinerEvents } from '../model/events.ts';

/** What has been read so far, and what cannot be. */
export interface Reading {
  readonly cluster: Cluster;
  readonly events: readonly JoinerEvent[];
  /** NodeClaims are still being read. */
  readonly isLoading: boolean;
  /** What cannot be read, one sentence each. */
  readonly problems: readonly string[];
}

/** Events of objects without a namespace are in this one. */
const CLUSTER_EVENTS = 'default';
/** Selects nothing: a hook cannot be left out. */
const NOTHING = 'metadata.name=-';

const NAMES: Readonly<Record<ListedKind, string>> = {
  NodeClaim: 'NodeClaims',
  Node: 'Nodes',
  NodePool: 'NodePools',
  Event: 'Events',
  Pod: 'Pods',
  PodDisruptionBudget: 'PodDisruptionBudgets',
  ConfigMap: 'The ConfigMap kube-system/joiner',
};
const KINDS = [
  'NodeClaim',
  'Node',
  'NodePool',
  'Event',
  'Pod',
  'PodDisruptionBudget',
  'ConfigMap',
] as const satisfies readonly ListedKind[];

function problemsOf(lists: Readonly<Record<ListedKind, Listed>>): readonly string[] {
  return KINDS.flatMap((kind) => {
    const { problem } = lists[kind];
    return problem === undefined ? [] : [`${NAMES[kind]} cannot be read: ${problem}`];
  });
}

/** A hook: the kinds that were not read; the same set until that changes. */
function useUnread(lists: Readonly<Record<ListedKind, Listed>>): ReadonlySet<ListedKind> {
  const kinds = KINDS.filter(
    (kind) => lists[kind].objects === undefined || lists[kind].problem !== undefined,
  ).join();
  return useMemo(() => new Set(KINDS.filter((kind) => kinds.split(',').includes(kind))), [kinds]);
}

/**
 * A hook: NodeClaims, their nodes and NodePools, Joiner's events, and the pods of the node `podsOf`;
 * undefined: of none.
 */
export function useReading(
  headlamp: Headlamp,
  cluster: string | undefined,
  podsOf: string | undefined,
): Reading {
  const where = cluster === undefined ? {} : { cluster };
  const podSelector = podsOf === undefined ? NOTHING : `spec.nodeName=${podsOf}`;
  const claims = headlamp.useList('NodeClaim', where);
  const nodes = headlamp.useList('Node', where);
  const pools = headlamp.useList('NodePool', where);
  const events = headlamp.useList('Event', { ...where, namespace: CLUSTER_EVENTS });
  const pods = headlamp.useList('Pod', { ...where, fieldSelector: podSelector });
  const budgets = headlamp.useList('PodDisruptionBudget', where);
  const pauses = headlamp.useList('ConfigMap', {
    ...where,
    namespace: 'kube-system',
    fieldSelector: 'metadata.name=joiner',
  });
  const lists = {
    NodeClaim: claims,
    Node: nodes,
    NodePool: pools,
    Event: events,
    Pod: pods,
    PodDisruptionBudget: budgets,
    ConfigMap: pauses,
  };
  const nodeClaims = useMemo(() => decoded('NodeClaim', claims.objects ?? []), [claims.objects]);
  const read: Cluster = {
    nodeClaims,
    nodes: useMemo(() => decoded('Node', nodes.objects ?? []), [nodes.objects]),
    nodePools: useMemo(() => decoded('NodePool', pools.objects ?? []), [pools.objects]),
    pods: useMemo(() => decoded('Pod', pods.objects ?? []), [pods.objects]),
    budgets: useMemo(
      () => decoded('PodDisruptionBudget', budgets.objects ?? []),
      [budgets.objects],
    ),
    pauses: useMemo(() => pausesOf(pauses.objects ?? []), [pauses.objects]),
    unread: useUnread(lists),
  };
  return {
    cluster: read,
    events: useMemo(() => joinerEvents(events.objects ?? []), [events.objects]),
    isLoading: claims.objects === undefined && claims.problem === undefined,
    problems: problemsOf(lists),
  };
}
