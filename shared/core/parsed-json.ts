/** What a text says as JSON; undefined: it is no JSON. For texts that others have written. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
