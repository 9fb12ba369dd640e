import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nearest } from '../shared/contract/nearest.ts';

/** What was probably meant by a path that is not there: its folder has a file of a near name. */
export function meantFile(path: string): string {
  const near = nearest(basename(path), namesIn(dirname(path)));
  return near === undefined ? '' : ` (did you mean ${join(dirname(path), near)}?)`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    // No folder, or one that may not be read: it suggests nothing.
    return [];
  }
}
