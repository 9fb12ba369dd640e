import { CPU, type Resources } from './model/resources.ts';

/** An empty text is no quantity. */
const SYNTAX = /^(?=.)([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/;

/** Powers of ten of the decimal suffixes. */
const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};

/** Powers of two of the binary suffixes. */
const BINARY_EXPONENT: Readonly<Record<string, number>> = {
  Ki: 10,
  Mi: 20,
  Gi: 30,
  Ti: 40,
  Pi: 50,
  Ei: 60,
};

export type Rounding = 'up' | 'down';

/**
 * A Kubernetes quantity ("1500m", "1.5Gi", "2e3") as an integer of the resource's base unit
 * (see {@link Resources}), or undefined where it is not a quantity. Fractions of a base unit are
 * rounded `up` for requests and `down` for capacity, so that a plan never promises too much.
 * Syntax: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function parseQuantity(
  text: string | number,
  resource: string,
  rounding: Rounding = 'up',
): number | undefined {
  const match = SYNTAX.exec(String(text));
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent, suffix = ''] = match;
  const unitExponent = resource === CPU ? 3 : 0;
  const binary = BINARY_EXPONENT[suffix];
  const decimal =
    (exponent === undefined ? (DECIMAL_EXPONENT[suffix] ?? 0) : Number(exponent)) + unitExponent;
  const magnitude = scale(
    // The API server takes a suffix without digits as 0, and so do Number and BigInt.
    whole + fraction,
    decimal - fraction.length,
    binary ?? 0,
    (rounding === 'up') === (sign !== '-'),
  );
  if (!Number.isSafeInteger(magnitude)) return undefined;
  // Not its negation: of 0 that is -0.
  return sign === '-' ? 0 - magnitude : magnitude;
}

/** The largest amount that plans count exactly, for quantities that are well formed but larger. */
export function quantityMax(text: string | number, resource: string): string | undefined {
  if (!SYNTAX.test(String(text))) return undefined;
  if (resource === CPU) return String(Math.floor(Number.MAX_SAFE_INTEGER / 1000));
  return isByteCount(resource) ? '7Pi' : String(Number.MAX_SAFE_INTEGER);
}

/** digits × 10^tens × 2^twos, rounded to an integer away from zero (`ceil`) or towards it. */
function scale(digits: string, tens: number, twos: number, ceil: boolean): number {
  if (digits.length < 10 && tens <= 0 && tens >= -6 && twos <= 20) {
    const value = (Number(digits) * 2 ** twos) / 10 ** -tens;
    if (Number.isInteger(value)) return value;
  }
  const numerator = BigInt(digits) * 2n ** BigInt(twos) * 10n ** BigInt(Math.max(tens, 0));
  const denominator = 10n ** BigInt(Math.max(-tens, 0));
  const quotient = numerator / denominator;
  return Number(ceil && quotient * denominator < numerator ? quotient + 1n : quotient);
}

/** Every entry parsed; the names of entries that are not quantities are returned beside. */
export function parseResources(
  list: Readonly<Record<string, string | number>> | undefined,
  rounding: Rounding = 'up',
): { readonly resources: Resources; readonly invalid: readonly string[] } {
  const resources: Record<string, number> = {};
  const invalid: string[] = [];
  for (const [name, text] of Object.entries(list ?? {})) {
    const amount = parseQuantity(text, name, rounding);
    if (amount === undefined) invalid.push(name);
    else resources[name] = amount;
  }
  return { resources, invalid };
}

const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

function isByteCount(resource: string): boolean {
  return (
    resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')
  );
}

/**
 * The canonical text of an amount, as Kubernetes prints it: CPU in cores or milli ("4", "1500m"),
 * bytes with the largest binary suffix that divides them ("1648Mi"), everything else plain.
 */
export function formatQuantity(amount: number, resource: string): string {
  if (resource === CPU) return amount % 1000 === 0 ? String(amount / 1000) : `${amount}m`;
  if (!isByteCount(resource) || amount === 0) return String(amount);
  let rest = amount;
  let suffix = '';
  for (const next of BINARY_SUFFIXES) {
    if (rest % 1024 !== 0) break;
    rest /= 1024;
    suffix = next;
  }
  return `${rest}${suffix}`;
}

/** Every amount formatted, names in alphabetical order. */
export function formatResources(resources: Resources): Readonly<Record<string, string>> {
  const text: Record<string, string> = {};
  for (const [name, amount] of Object.entries(resources).sort(([a], [b]) => (a < b ? -1 : 1))) {
    text[name] = formatQuantity(amount, name);
  }
  return text;
}
