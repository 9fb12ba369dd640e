import type { ApprovedDisruption } from '../../shared/app/writes/approval.ts';
import type { Approved } from '../../shared/preview/dry-run.ts';
import type { Decision } from '../plan/decision.ts';

/** The pods that a claim is planned for, whatever their order. */
function podsKey(pods: readonly string[]): string {
  return pods.toSorted().join(' ');
}

/** Nodes that go; undefined: the decision is `provision`'s. */
function disruptionOf({ reason, nodes, claims }: Decision): readonly ApprovedDisruption[] {
  if (reason === 'Provisioned' || reason === 'Static') return [];
  const uids = nodes.map(({ uid }) => uid);
  return [{ reason, claims: uids, isRemoval: claims.length === 0 }];
}

/** What the use cases may carry out of what they decide. */
export function approvedOf(decisions: readonly Decision[]): Approved {
  const fixed = decisions.filter(({ reason }) => reason === 'Static');
  const wanted = new Set(
    decisions
      .filter(({ reason }) => reason === 'Provisioned')
      .map(({ pods }) => podsKey(pods.map(({ pod }) => pod))),
  );
  return {
    pools: new Set(fixed.map(({ nodePool }) => nodePool)),
    isWanted: ({ pods }) => wanted.has(podsKey(pods)),
    disruptions: decisions.flatMap(disruptionOf),
  };
}
