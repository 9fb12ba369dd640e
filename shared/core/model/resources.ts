import { ownValue } from './labels.ts';

/**
 * Amounts by resource name in integer base units: CPU in milli-cores, every other resource in whole
 * units (bytes for memory, ephemeral-storage and hugepages; a count for pods and extended
 * resources). A resource that is not named is absent, which for capacity means zero.
 */
export type Resources = Readonly<Record<string, number>>;

export const CPU = 'cpu';
export const MEMORY = 'memory';
export const EPHEMERAL_STORAGE = 'ephemeral-storage';
export const PODS = 'pods';
export const HUGEPAGES_PREFIX = 'hugepages-';

export const NO_RESOURCES: Resources = Object.freeze({});

/** How much of a resource there is; names come from outside, and may be `constructor`. */
export function amountOf(amounts: Resources, name: string): number {
  return ownValue(amounts, name) ?? 0;
}

/** Sum per resource; a resource missing on one side counts as zero there. */
export function addResources(a: Resources, b: Resources): Resources {
  const sum: Record<string, number> = { ...a };
  for (const name in b) sum[name] = amountOf(sum, name) + (b[name] ?? 0);
  return sum;
}

/** Difference per resource of `a`'s and `b`'s names; may be negative. */
export function subtractResources(a: Resources, b: Resources): Resources {
  const difference: Record<string, number> = { ...a };
  for (const name in b) difference[name] = amountOf(difference, name) - (b[name] ?? 0);
  return difference;
}

/** The greater amount per resource. */
export function maxResources(a: Resources, b: Resources): Resources {
  const greatest: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) {
    greatest[name] = Math.max(amountOf(greatest, name), amount);
  }
  return greatest;
}

/** Whether every positive request is covered by what is there. */
export function fitsResources(requests: Resources, available: Resources): boolean {
  for (const name in requests) {
    const amount = requests[name] ?? 0;
    if (amount > 0 && amount > amountOf(available, name)) return false;
  }
  return true;
}
