import { accessSync, constants, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadInput } from '../bad-input.ts';
import { writeErr } from '../terminal.ts';
import type { PageInput } from './input.ts';

interface Options {
  readonly html?: string;
}

export const HTML_OPTION = ['--html <file>', 'also write the result as an HTML page'] as const;

/** Before anything is computed: a page that cannot be written is bad input. */
export function checkPage({ html }: Options): void {
  if (html === undefined) return;
  try {
    accessSync(dirname(html), constants.W_OK);
  } catch {
    throw new BadInput([`--html ${html}: its folder is not there, or cannot be written to`]);
  }
  if (statSync(html, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new BadInput([`--html ${html}: is a folder`]);
  }
}

/** Writes the page, where one is asked for. Its code is read only then. */
export async function writePage({ html }: Options, input: PageInput): Promise<void> {
  if (html === undefined) return;
  const { pageOf } = await import('./page.ts');
  writeFileSync(html, await pageOf(input));
  writeErr(`joiner: wrote ${html}\n`);
}
