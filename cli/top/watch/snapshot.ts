import type { Catalog } from '../../../shared/catalog/facts.ts';
import { lifeOf, type NodeLife } from '../../../shared/core/lifecycle/node-life.ts';
import { claimOfNode, podsOnNode } from '../../../shared/core/model/joins.ts';
import { type Pod, podKey } from '../../../shared/core/model/pod.ts';
import { isPending } from '../../../shared/core/nomination/planned-pods.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { heldBackNotes } from '../../live.ts';
import { type NodeRow, nodeRows, type Total, totalsOf } from '../rows.ts';

/** A row of `joiner top` with where the node is in its life. */
export interface LivingRow extends NodeRow {
  readonly life: NodeLife;
}

/** `Draining: 2 pods left`. */
export function lifeText({ state, detail }: NodeLife): string {
  return detail === '' ? state : `${state}: ${detail}`;
}

/** A pod that waits for a node, and why as far as somebody has said so. */
export interface PendingPod {
  readonly pod: string;
  readonly ageSeconds: number;
  readonly reason: string;
}

/** The cluster at one moment, as the screen shows it. */
export interface TopSnapshot {
  readonly atMs: number;
  readonly rows: readonly LivingRow[];
  readonly byPool: readonly Total[];
  readonly all: Total;
  /** The longest waiting first. */
  readonly pending: readonly PendingPod[];
  /** What stops Joiner now: Karpenter, pauses. */
  readonly notes: readonly string[];
}

function pendingPod(pod: Pod, reasons: ReadonlyMap<string, string>, nowMs: number): PendingPod {
  const key = podKey(pod);
  const ageSeconds = Math.max(0, Math.round((nowMs - pod.createdAtMs) / 1000));
  const unsaid = pod.unschedulable ? 'unschedulable' : 'kube-scheduler has not tried it yet';
  return { pod: key, ageSeconds, reason: reasons.get(key) ?? unsaid };
}

/** `reasons`: by pod, what its newest event says of why it waits. */
export function topSnapshotOf(
  state: ClusterState,
  catalog: Catalog | undefined,
  reasons: ReadonlyMap<string, string>,
  nowMs: number,
): TopSnapshot {
  const { nodes, nodeClaims, pods, podDisruptionBudgets } = state.objects;
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const claims = new Map(nodeClaims.map((claim) => [claim.name, claim]));
  const rows = nodeRows(state, catalog, nowMs).map((row): LivingRow => {
    const node = row.node === undefined ? undefined : byName.get(row.node);
    const claim =
      node === undefined ? claims.get(row.nodeClaim ?? '') : claimOfNode(nodeClaims, node);
    const living = { node, claim, pods: podsOnNode(pods, node?.name) };
    return { ...row, life: lifeOf(living, podDisruptionBudgets, nowMs) };
  });
  const pending = pods
    .filter(isPending)
    .map((pod) => pendingPod(pod, reasons, nowMs))
    .sort((a, b) => b.ageSeconds - a.ageSeconds || (a.pod < b.pod ? -1 : 1));
  const { byPool, all } = totalsOf(rows);
  return { atMs: nowMs, rows, byPool, all, pending, notes: heldBackNotes(state, nowMs) };
}
