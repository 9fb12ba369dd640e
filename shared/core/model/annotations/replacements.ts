import { type Labels, REPLACED_BY, REPLACES } from '../labels.ts';

/** Between the names in {@link REPLACED_BY}, and between the uids in {@link REPLACES}. */
const SEPARATOR = ',';

/** The uids of the claims that one with these annotations replaces. */
export function replacedUids(annotations: Labels): readonly string[] {
  const text = annotations[REPLACES];
  return text === undefined || text === '' ? [] : text.split(SEPARATOR);
}

/** The annotation that names the claims which a replacement is for. */
export function replacesText(uids: readonly string[]): string {
  return [...uids].sort().join(SEPARATOR);
}

/** The names of the claims that replace one with these annotations; undefined: none does. */
export function replacementNames(annotations: Labels): readonly string[] | undefined {
  return annotations[REPLACED_BY]?.split(SEPARATOR);
}

/** The annotation that names a claim's replacements. */
export function replacedByText(names: readonly string[]): string {
  return [...names].sort().join(SEPARATOR);
}
