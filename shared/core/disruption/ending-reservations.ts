import type { NodeClass } from '../model/node-class.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';

/** Reservations that are over at the moment, by what the classes have found. */
function endingIds(nodeClasses: readonly NodeClass[], atMs: number): ReadonlySet<string> {
  return new Set(
    nodeClasses.flatMap(({ status }) =>
      status.capacityReservations
        .filter(({ endsAtMs = Number.POSITIVE_INFINITY }) => endsAtMs < atMs)
        .map(({ id }) => id),
    ),
  );
}

/**
 * For moves: nothing is launched into a reservation that is over before a move has to pay back.
 * Then its instances are billed as on-demand, or end with their Capacity Block, and a node that was
 * free is the dearest there is. Pods that wait are launched into it: for them it costs nothing.
 */
export function withoutEndingReservations(
  snapshot: ClusterSnapshot,
  nodeClasses: readonly NodeClass[],
  atMs: number,
): ClusterSnapshot {
  const ids = endingIds(nodeClasses, atMs);
  if (ids.size === 0) return snapshot;
  const instanceTypes = new Map(
    [...snapshot.instanceTypes].map(([pool, types]) => [
      pool,
      types.map((type) => {
        if (!type.offerings.some(({ reservation }) => ids.has(reservation?.id ?? ''))) return type;
        const offerings = type.offerings.map((each) =>
          ids.has(each.reservation?.id ?? '') ? { ...each, available: false } : each,
        );
        return { ...type, offerings };
      }),
    ]),
  );
  return { ...snapshot, instanceTypes };
}
