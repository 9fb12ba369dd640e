import { parsedJson } from '../../shared/core/parsed-json.ts';

/** Strings, which may hold braces, and what nests. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Ends of the objects that stand one behind the other. */
function endsOf(text: string): readonly number[] {
  const ends: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') depth += 1;
    if (token === '}' || token === ']') depth -= 1;
    if (depth === 0 && token === '}') ends.push(index + 1);
  }
  return ends;
}

/**
 * Objects of JSON one behind the other, as `jq` prints them and kubectl reads them, with YAML's
 * marker between them, each on its line; any other text as it is.
 */
export function withMarkers(text: string): string {
  if (!text.trimStart().startsWith('{')) return text;
  const ends = endsOf(text);
  const pieces = [0, ...ends].map((from, at) => text.slice(from, ends[at]));
  const rest = pieces.pop() ?? '';
  if (
    pieces.length < 2 ||
    rest.trim() !== '' ||
    pieces.some((each) => parsedJson(each) === undefined)
  )
    return text;
  const marked = pieces.map((piece, at) => (at === 0 ? piece : marker(piece)));
  return marked.join('') + rest;
}

/** The object with a marker before it, on a line that begins with it. */
function marker(piece: string): string {
  const object = piece.trimStart();
  const gap = piece.slice(0, piece.length - object.length);
  const line = gap.lastIndexOf('\n') + 1;
  return `${gap.slice(0, line) || '\n'}--- ${gap.slice(line)}${object}`;
}
