/** The JSON object that an annotation holds. Text that is no JSON object counts as no annotation. */
export function readJsonObject(
  text: string | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
  return isObject ? Object.fromEntries(Object.entries(Object(read))) : undefined;
}
