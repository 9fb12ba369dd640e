import { type ReasonOf, reason } from '../explain/reason.ts';

/** An annotation of NodePools that is a list such as `nodes=1,after=30m`. */
export interface EntryAnnotation {
  readonly annotation: string;
  /** What its values are to be like. */
  readonly like: string;
}

/** Hands each entry to `take`, which says whether it knows it. A reason for the first unknown one. */
export function readEntries(
  text: string,
  { annotation, like }: EntryAnnotation,
  take: (key: string, value: string) => boolean,
): ReasonOf<'guard-unreadable'> | undefined {
  for (const entry of text.split(',')) {
    const [key = '', value = '', ...more] = entry.split('=').map((each) => each.trim());
    if (more.length === 0 && take(key, value)) continue;
    return reason('guard-unreadable', { annotation, value: entry.trim(), like });
  }
  return undefined;
}
