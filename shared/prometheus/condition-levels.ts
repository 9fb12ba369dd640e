import type { Condition } from '../core/model/cluster.ts';
import type { ClusterView } from '../ports/metrics.ts';
import type { Level } from './series.ts';

/** Conditions of nodes, NodeClaims and NodePools, and how long they have been as they are. */
export function conditionLevels(view: ClusterView, nowMs: number): readonly Level[] {
  const kinds = [
    ['node', view.nodes],
    ['nodeclaim', view.nodeClaims],
    ['nodepool', view.nodePools],
  ] as const;
  return kinds.flatMap(([kind, objects]) =>
    [...objects].flatMap(({ name, conditions }) =>
      conditions.flatMap((condition) => levelsOf(kind, name, condition, nowMs)),
    ),
  );
}

function levelsOf(
  kind: string,
  name: string,
  { type, status, reason, lastTransitionAtMs }: Condition,
  nowMs: number,
): readonly Level[] {
  const labels = { name, type, status, reason };
  const prefix = `operator_${kind}_status_condition`;
  const seconds = Math.max(0, nowMs - lastTransitionAtMs) / 1000;
  return [
    { name: `${prefix}_count`, labels, value: 1 },
    { name: `${prefix}_current_status_seconds`, labels, value: seconds },
  ];
}
