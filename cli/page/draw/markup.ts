import { missing } from '../../../shared/core/missing.ts';
/** Text that is markup already. Whatever else goes into markup is escaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters other than line breaks have no place in HTML; those of direction deceive. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function escaped(text: string): string {
  return text.replace(INVISIBLE, '\ufffd').replace(/[&<>"']/g, (each) => ENTITIES[each] ?? each);
}

type Part = string | number | Markup | readonly Markup[];

function partText(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'string') return escaped(part);
  return typeof part === 'number' ? String(part) : part.map(({ text }) => text).join('');
}

/** Markup with these values in it, escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const rest = parts.map((part, at) => partText(part) + (strings[at + 1] ?? missing(at + 1)));
  return new Markup((strings[0] ?? missing(0)) + rest.join(''));
}

export const NOTHING = new Markup('');
