import { missing } from '../missing.ts';
/** Numbers from 0 to below 1 that look random: the same for the same seed. */
export type Numbers = Iterator<number, never>;

/** A linear congruence of 32 bits. */
export function* numbers(seed: number): Generator<number, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** A whole number from 0 to below `end`. */
export function below(end: number, random: Numbers): number {
  return Math.floor(random.next().value * end);
}

/** The same elements in another order. */
export function shuffled<Element>(
  elements: readonly Element[],
  random: Numbers,
): readonly Element[] {
  const all = [...elements];
  for (let left = all.length - 1; left > 0; left--) {
    const picked = below(left + 1, random);
    const last = all[left] ?? missing(left);
    all[left] = all[picked] ?? missing(picked);
    all[picked] = last;
  }
  return all;
}
