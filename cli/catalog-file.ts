import { readFileSync } from 'node:fs';
import { decodeCatalogFile } from '../shared/aws/memory/catalog-file.ts';
import type { Catalog } from '../shared/catalog/facts.ts';
import { BadInput, unreadable } from './bad-input.ts';

/** More issues than this say no more than the first few do. */
const ISSUES_MAX = 3;

/** The catalog in a file that `joiner catalog` wrote, or in one of a stack's bucket. */
export function readCatalogFile(path: string): Catalog {
  const decoded = decodeCatalogFile(bytesOf(path));
  if (decoded.ok) return decoded.value.catalog;
  const said = decoded.issues.map(({ path: field, message }) => `${field} ${message}`.trim());
  const what = `${path}: is no catalog as joiner catalog writes it`;
  throw new BadInput([[what, ...said.slice(0, ISSUES_MAX)].join('; ')]);
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unreadable(path, error);
  }
}
