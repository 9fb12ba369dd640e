import { readFileSync } from 'node:fs';
import { decodeCase, type SchedulingCase } from '../shared/api/case/decode.ts';
import { BadInput, unreadable } from './bad-input.ts';
import { standardInput } from './standard-input.ts';
import { issueText } from './unknown-names.ts';

/** The text of a file, or of standard input for `-`. */
function textOf(file: string): string {
  try {
    // Editors on Windows put a byte order mark first.
    const bytes = file === '-' ? standardInput() : readFileSync(file);
    return bytes.toString('utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw unreadable(file, error);
  }
}

const TOKEN = /\s*(?:"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:])/y;

/**
 * Where JSON breaks off: as the parser says, else at the first thing that is no JSON at all, else
 * at the end of a text that is cut off.
 */
function faultAt(text: string, message: string): number | undefined {
  const said = /position (\d+)/.exec(message)?.[1];
  if (said !== undefined) return Number(said);
  TOKEN.lastIndex = 0;
  let end = 0;
  while (TOKEN.test(text)) end = TOKEN.lastIndex;
  const rest = text.slice(end).search(/\S/);
  if (rest >= 0) return end + rest;
  return message.startsWith('Unexpected end') ? text.trimEnd().length : undefined;
}

/** Parsed JSON; a fault is named with its line and column. */
export function readJson(file: string): unknown {
  const text = textOf(file);
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [said] = message.split(/, \.{0,3}"/);
    const at = faultAt(text, message);
    const before = text.slice(0, at).split('\n');
    const place = at === undefined ? '' : `:${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    throw new BadInput([`${file}${place}: is not JSON: ${said}`]);
  }
}

/** The case in parsed JSON; all problems that one step of the decoding finds are named. */
export function caseOf(file: string, raw: unknown): SchedulingCase {
  const decoded = decodedOf(file, raw);
  if (decoded.ok) return decoded.value;
  throw new BadInput(decoded.issues.map((each) => `${file}: ${issueText(each)}`));
}

function decodedOf(file: string, raw: unknown): ReturnType<typeof decodeCase> {
  try {
    return decodeCase(raw);
  } catch (error) {
    // The only range that decoding can leave is the stack's.
    if (error instanceof RangeError) throw new BadInput([`${file}: is nested too deeply`]);
    throw error;
  }
}
