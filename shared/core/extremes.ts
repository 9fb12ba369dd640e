/*
 * One by one: as arguments of one call of Math.min or Math.max, some 125,000 numbers are too many
 * for the stack. Clusters have as many pods, and hundreds of NodePools as many launches.
 */

/** The least of many numbers; infinite where there is none. */
export function leastOf(amounts: readonly number[]): number {
  return amounts.reduce((least, each) => Math.min(least, each), Number.POSITIVE_INFINITY);
}

/** The greatest of many numbers; negatively infinite where there is none. */
export function mostOf(amounts: readonly number[]): number {
  return amounts.reduce((most, each) => Math.max(most, each), Number.NEGATIVE_INFINITY);
}
