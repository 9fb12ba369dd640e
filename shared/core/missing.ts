import { invariant } from './invariant.ts';

/**
 * For what must be in a list or map: `values[index] ?? missing(index)`. A default would turn a
 * wrong index into a plausible number. The call is made only where the element is missing: hot
 * loops cost what they cost with a default. A function that looks elements up costs a tenth more.
 */
export function missing(key: unknown): never {
  invariant(false, `what is looked up is there (${String(key)} is not)`);
}
