/**
 * The one place where text goes to a terminal. Names, annotations and messages come from whoever
 * may create an object in the cluster, and a terminal obeys control characters in them: they could
 * set its title, hide what is above, or write to the clipboard. So whatever is written passes
 * through {@link writeOut} or {@link writeErr}, which show these characters, as `\u001b`, instead of
 * sending them; `test/tidy.test.ts` lets nothing else write. The rules for what is written:
 *
 * - Values stay as they are until here: documents, records and pages hold what the cluster holds.
 * - The form is the escape of JSON, and of YAML in double quotes: a document of `-o json` keeps its
 *   values, since control characters are in its strings only; `-o yaml` quotes strings with any.
 * - Pipes get the same text as terminals: `less -R`, `tee` and logs end in a terminal, too.
 * - A cell of a table, and a row of a screen, passes through {@link visibleLine} before it is
 *   measured: there a line break would forge a row, and a tab would move columns.
 * - The program's own colours and cursor movements never pass here: only the screen of `top --watch`
 *   (ink) and the line of progress send any, around text that has passed through
 *   {@link visibleLine}.
 */

/** What has no meaning in text but to a terminal beside C0: C1, and the marks of direction that deceive. */
const BEYOND = '\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069';
const CONTROL = new RegExp(`[\\u0000-\\u001f${BEYOND}]`, 'g');
/** All but line breaks and tabs, of which a long text has millions. */
const CONTROL_IN_TEXT = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f${BEYOND}]`, 'g');

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Text of any number of lines; one that ends as on Windows ends as elsewhere. */
export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(CONTROL_IN_TEXT, escapeOf);
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text that is to be one line, or a part of one, such as a cell. */
export function visibleLine(text: string): string {
  return text.replace(CONTROL, (each) => SHORT[each] ?? escapeOf(each));
}

/** Whether all of it is shown as it is. */
export function isVisible(text: string): boolean {
  return visible(text) === text;
}

/** The answer of a command. */
export function writeOut(text: string): void {
  process.stdout.write(visible(text));
}

/** What is said beside the answer: errors, warnings, notes. */
export function writeErr(text: string): void {
  process.stderr.write(visible(text));
}
