/** Pods by the values of a label. */
export type Counts = Map<string, number>;

/** By topology key: the values of nodes that are there. */
export type LiveDomains = ReadonlyMap<string, ReadonlySet<string>>;

export function addTo(counts: Counts, value: string, amount: number): void {
  counts.set(value, (counts.get(value) ?? 0) + amount);
}

/** Those of the values that nodes have which are there. */
export function liveOf(
  domains: readonly string[],
  live: ReadonlySet<string> | undefined,
): readonly string[] {
  if (domains.every((each) => live?.has(each) === true)) return domains;
  return domains.filter((each) => live?.has(each) === true);
}

/** The fewest pods in any of the domains; 0 where there are fewer domains than asked for. */
export function lowest(
  counts: Counts,
  domains: readonly string[],
  minDomains: number | undefined,
): number {
  if (domains.length === 0 || (minDomains !== undefined && domains.length < minDomains)) return 0;
  let least = Number.POSITIVE_INFINITY;
  for (const value of domains) least = Math.min(least, counts.get(value) ?? 0);
  return least;
}
