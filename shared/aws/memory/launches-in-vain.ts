import * as z from 'zod';
import type { UnusedLaunch } from '../../core/launch/unused-launches.ts';
import { type DocumentKind, readEntries } from './document.ts';

const entry = z.object({
  group: z.string().min(1).max(64),
  claim: z.string().min(1).max(253),
  uid: z.string().min(1).max(64),
  createdAtMs: z.number(),
  ways: z.string().max(64),
  runsOthers: z.boolean(),
  // Older versions did not look at pods that had run for a while.
  hasRun: z.boolean().default(false),
  lacks: z.string().max(4096),
}) satisfies z.ZodType<UnusedLaunch>;

const document = z.object({ version: z.literal(1), launches: z.array(z.unknown()) });

/** Nodes that were launched for pods which did not come to run on them, newest first. */
export const UNUSED_LAUNCHES: DocumentKind<readonly UnusedLaunch[]> = {
  empty: [],
  decode: (json) => {
    const { success, data } = document.safeParse(json);
    if (!success) return undefined;
    const { entries, rejected } = readEntries(data.launches, entry);
    return { state: entries, rejected };
  },
  encode: (launches) => ({ version: 1, launches }),
};
