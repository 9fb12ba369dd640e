import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The files of a folder at any depth, or the file itself. */
export function filesBelow(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * What a folder has beside the files that were written: people's own, or an older version's. A
 * folder without any written file is named as a whole; hidden names are of other programs.
 */
export function othersIn(folder: string, written: readonly string[]): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry): readonly string[] => {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.') || written.includes(path)) return [];
      const below = written.filter((each) => each.startsWith(`${path}${sep}`));
      return below.length === 0 ? [path] : othersIn(path, below);
    });
}
