import type { Prng } from '../../../shared/sim/prng.ts';

/** Each is as likely as the others. */
export function one<Item>(random: Prng, items: readonly Item[]): Item {
  const item = items[random.between(0, items.length - 1)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
