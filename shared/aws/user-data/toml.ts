import { parse, stringify } from 'smol-toml';

type Table = Readonly<Record<string, unknown>>;

/** Dates are objects too, but no tables. */
function isTable(value: unknown): value is Table {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/**
 * Tables merge key by key; every other value of the second replaces that of the first, and so do
 * the tables that are `whole`, wherever they are.
 */
function laidOver(under: Table, over: Table, whole: ReadonlySet<string>): Table {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    const isMerged = isTable(before) && isTable(value) && !whole.has(key);
    merged[key] = isMerged ? laidOver(before, value, whole) : value;
  }
  return merged;
}

/** Whole numbers as TOML's integers: as a number they could not be told from its floats. */
function withIntegers(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(withIntegers);
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, withIntegers(field)]),
  );
}

/** The user's settings with ours laid over them; throws where the user's are not TOML. */
export function mergeToml(
  user: string | undefined,
  ours: Table,
  whole: ReadonlySet<string>,
): string {
  const theirs = parse(user ?? '', { integersAsBigInt: true, unsafeKeyBehaviour: 'throw' });
  const own = withIntegers(ours);
  return stringify(laidOver(theirs, isTable(own) ? own : {}, whole), { numbersAsFloat: true });
}
