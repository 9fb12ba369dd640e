import { useMemo } from 'react';
import type { Headlamp, Listed } from '../headlamp.ts';
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

function problemsOf(lists: Readonly<Record<string, Listed>>): readonly string[] {
  return Object.entries(lists).flatMap(([name, { problem }]) =>
    problem === undefined ? [] : [`${name} cannot be read: ${problem}`],
  );
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
  };
  return {
    cluster: read,
    events: useMemo(() => joinerEvents(events.objects ?? []), [events.objects]),
    isLoading: claims.objects === undefined && claims.problem === undefined,
    problems: problemsOf({
      NodeClaims: claims,
      Nodes: nodes,
      NodePools: pools,
      Events: events,
      Pods: pods,
      PodDisruptionBudgets: budgets,
      'The ConfigMap kube-system/joiner': pauses,
    }),
  };
}
