import { addResources, amountOf, NO_RESOURCES, type Resources } from '../model/resources.ts';
import type { GroupCaps } from './limit-groups.ts';

/** A NodeClaim that a cluster may write. */
export interface PendingClaim {
  readonly name: string;
  /** What it takes of what the group caps, at most. */
  readonly takes: Resources;
  /** From then on it has been written, or never will be. */
  readonly untilMs: number;
}

/** What one cluster holds of a shared limit group. */
export interface ClusterUsage {
  /** What its nodes take, as the cluster saw them last, without those of pending NodeClaims. */
  readonly used: Resources;
  /** By name. */
  readonly pending: readonly PendingClaim[];
  /** Its entries of the group, so that others see where they have other ones. */
  readonly caps: string;
}

/** What all clusters hold of a shared limit group, by cluster. */
export type GroupUsage = ReadonlyMap<string, ClusterUsage>;

export function heldBy({ used, pending }: ClusterUsage): Resources {
  return pending.reduce((sum, { takes }) => addResources(sum, takes), used);
}

/** What the clusters hold together but for one. */
export function heldByOthers(usage: GroupUsage, cluster: string): Resources {
  return [...usage]
    .filter(([name]) => name !== cluster)
    .reduce((sum, [, each]) => addResources(sum, heldBy(each)), NO_RESOURCES);
}

/** The usage with another row of the cluster; a cluster that holds nothing has none. */
export function withUsage(usage: GroupUsage, cluster: string, own: ClusterUsage): GroupUsage {
  const others = [...usage].filter(([name]) => name !== cluster);
  const isNothing = Object.values(heldBy(own)).every((amount) => amount === 0);
  const all = isNothing && own.pending.length === 0 ? others : [...others, [cluster, own] as const];
  return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Those of the wanted NodeClaims, in their order, for which the caps leave room beside what the
 * cluster and all others hold.
 */
export function fitting(
  { caps }: Pick<GroupCaps, 'caps'>,
  held: Resources,
  wanted: readonly PendingClaim[],
): readonly PendingClaim[] {
  let taken = held;
  return wanted.filter(({ takes }) => {
    const next = addResources(taken, takes);
    const fits = Object.entries(caps).every(
      ([name, cap]) => amountOf(takes, name) === 0 || amountOf(next, name) <= cap,
    );
    if (fits) taken = next;
    return fits;
  });
}

/** The same text for the same row, whatever the order in which it was written. */
export function usageText(usage: ClusterUsage | undefined): string {
  if (usage === undefined) return '';
  const sorted = (amounts: Resources) =>
    Object.entries(amounts)
      .filter(([, amount]) => amount !== 0)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const pending = [...usage.pending]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, takes, untilMs }) => [name, untilMs, sorted(takes)]);
  return JSON.stringify([usage.caps, sorted(usage.used), pending]);
}

/** Clusters that state other caps of the group than these, by name. */
export function differing(
  usage: GroupUsage,
  cluster: string,
  caps: string,
): readonly (readonly [cluster: string, caps: string])[] {
  return [...usage].flatMap(([name, each]) =>
    name === cluster || each.caps === caps ? [] : [[name, each.caps] as const],
  );
}
