/** The repository as the site reads it. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** The text of a file, by its path in the repository. */
export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** `file`, `folder`, or undefined where there is nothing. */
export function kindOf(path: string): 'file' | 'folder' | undefined {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return undefined;
  return statSync(absolute).isDirectory() ? 'folder' : 'file';
}

/** An absolute path as one in the repository, with `/`. */
export function pathOf(absolute: string): string {
  return relative(root, absolute).replaceAll('\\', '/');
}

/** The text of the first heading; a page has one. */
export function headingOf(file: string): string {
  const heading = /^# (.+)$/m.exec(textOf(file))?.[1];
  if (heading === undefined) throw new Error(`${file} has no heading`);
  return heading.replaceAll('`', '');
}
