/** Reading of plain data whose shape is not known to the compiler. */

export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path of field names; undefined where any of them is missing. */
export function valueAt(object: unknown, ...path: readonly string[]): unknown {
  let value = object;
  for (const field of path) value = isJson(value) ? value[field] : undefined;
  return value;
}

export function objectAt(object: unknown, ...path: readonly string[]): Json {
  const value = valueAt(object, ...path);
  return isJson(value) ? value : {};
}

export function textAt(object: unknown, ...path: readonly string[]): string | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(object: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(object, ...path);
  return typeof value === 'number' ? value : undefined;
}

export function listAt(object: unknown, ...path: readonly string[]): readonly unknown[] {
  const value = valueAt(object, ...path);
  return Array.isArray(value) ? value : [];
}

export function textsAt(object: unknown, ...path: readonly string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectAt(object, ...path))) {
    if (typeof value === 'string') texts[key] = value;
  }
  return texts;
}
