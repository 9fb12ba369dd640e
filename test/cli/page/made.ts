import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inFolder, joiner } from '../run.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The page that a command line writes. */
export async function pageOf(...args: readonly string[]): Promise<string> {
  return inFolder({}, async (folder) => {
    const file = join(folder, 'page.html');
    const { exitCode, stderr } = await joiner(...args, '--html', file);
    if (exitCode !== 0) throw new Error(stderr);
    return readFileSync(file, 'utf8');
  });
}

/** What a page says, a line for each block. */
export function textOf(page: string): string {
  const [, body = ''] = page.split('<body>');
  return body
    .replaceAll(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/(th|td|dt|b|span|small)>/g, ' ')
    .replaceAll(/<\/(p|a|h1|h2|h3|li|tr|dd|summary|caption|button|label|div|text)>/g, '\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
    .filter((line) => line !== '')
    .join('\n');
}
