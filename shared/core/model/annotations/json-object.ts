import { parsedJson } from '../../parsed-json.ts';

/** The JSON object that an annotation holds. Text that is no JSON object counts as no annotation. */
export function readJsonObject(
  text: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  const read = parsedJson(text);
  const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
  return isObject ? Object.fromEntries(Object.entries(Object(read))) : undefined;
}

/** The time that a value of such an object says; undefined: it says none. */
export function readTime(value: unknown): number | undefined {
  const atMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
