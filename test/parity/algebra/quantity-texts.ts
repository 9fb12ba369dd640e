import { below, type Numbers, numbers } from '../../../shared/core/scheduling/pseudo-random.ts';

const SUFFIXES = [
  ...['', '', '', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E'],
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
] as const;
/** Nothing that the API server takes. */
const WRONG = ['K', 'mi', 'ki', 'Gb', 'i', 'e', 'Z', 'Zi', 'GI', ' ', 'MiB', 'Mi ', '%'] as const;
const SIGNS = ['', '', '', '', '+', '-'] as const;

function oneOf<Item>(items: readonly Item[], random: Numbers): Item {
  return items[below(items.length, random)] as Item;
}

function digits(most: number, random: Numbers): string {
  const count = below(most + 1, random);
  return Array.from({ length: count }, () => below(10, random)).join('');
}

function text(random: Numbers): string {
  const whole = digits(oneOf([1, 2, 4, 8, 16], random), random);
  const fraction = below(2, random) === 0 ? '' : `.${digits(oneOf([1, 3, 6, 12], random), random)}`;
  const number = `${oneOf(SIGNS, random)}${whole}${fraction}`;
  const kind = below(10, random);
  if (kind === 0) return `${number}${oneOf(WRONG, random)}`;
  if (kind === 1)
    return `${number}${oneOf(['e', 'E'], random)}${below(2, random) ? '' : '-'}${below(12, random)}`;
  return `${number}${oneOf(SUFFIXES, random)}`;
}

/** The same texts each time: quantities of every form, and what is nearly one. */
export function quantityTexts(count: number): readonly string[] {
  const random = numbers(2026);
  return Array.from({ length: count }, () => text(random));
}
