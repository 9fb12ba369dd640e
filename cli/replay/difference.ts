/** One place in which two JSON values differ. */
export interface Difference {
  /** e.g. `newNodeClaims[2].chosen.type`; empty: the whole. */
  readonly path: string;
  /** JSON; undefined: nothing is there. */
  readonly recorded: string | undefined;
  readonly now: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}

/** Every place in which they differ, in the order of the first one's fields. */
export function differences(recorded: unknown, now: unknown, path = ''): readonly Difference[] {
  if (JSON.stringify(recorded) === JSON.stringify(now)) return [];
  const isList = Array.isArray(recorded);
  if (!isFields(recorded) || !isFields(now) || isList !== Array.isArray(now)) {
    return [{ path, recorded: JSON.stringify(recorded), now: JSON.stringify(now) }];
  }
  const keys = new Set([...Object.keys(recorded), ...Object.keys(now)]);
  return [...keys].flatMap((key) => {
    const step = isList ? `[${key}]` : path === '' ? key : `.${key}`;
    return differences(recorded[key], now[key], `${path}${step}`);
  });
}
