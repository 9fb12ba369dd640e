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
