import * as z from 'zod';
import type { OfferingKey } from '../../ports/cloud.ts';
import type { UnavailableOffering } from '../../ports.ts';
import { type DocumentKind, readEntries } from './document.ts';

/** An offering that was short, and how often in a row. */
export interface Shortage extends UnavailableOffering {
  readonly markedAtMs: number;
  readonly times: number;
}

/** By what is barred, and for whom. */
export type Shortages = ReadonlyMap<string, Shortage>;

/** First three minutes, as Karpenter; then twice as long each time, at most six hours. */
export const BAR_MS = { first: 3 * 60_000, max: 6 * 3_600_000 } as const;
/** Clocks of two functions differ by less. */
const SKEW_MS = 60_000;
const ENTRIES_MAX = 2_000;
const REASON_LENGTH_MAX = 200;
/** Ids of reservations have 20 characters; a class's version is a UUID and a number. */
const KEY_LENGTH_MAX = 100;

function keyOf({
  instanceType,
  zone,
  capacityType,
  reservationId = '',
  nodeClass = '',
}: OfferingKey): string {
  return `${instanceType}/${zone}/${capacityType}/${reservationId}/${nodeClass}`;
}

function barMs(times: number): number {
  return Math.min(BAR_MS.first * 2 ** (times - 1), BAR_MS.max);
}

/** A shortage counts towards the next one's length for as long again as it barred. */
function isForgotten({ untilMs, times }: Shortage, nowMs: number): boolean {
  return nowMs >= untilMs + barMs(times);
}

/**
 * Bars an offering. While it is barred nothing changes: shortages of the same moment, met by
 * several fleets or functions, are one.
 */
export function withShortage(
  before: Shortages,
  offering: OfferingKey,
  reason: string,
  nowMs: number,
): Shortages {
  const key = keyOf(offering);
  const known = before.get(key);
  if (known !== undefined && nowMs < known.untilMs) return before;
  // What is wrong with a class may be mended at any time, and elsewhere than in the class.
  const isFirst = known === undefined || isForgotten(known, nowMs) || known.nodeClass !== undefined;
  const times = isFirst ? 1 : known.times + 1;
  const kept = [...before]
    .filter(([name, each]) => name !== key && !isForgotten(each, nowMs))
    .slice(1 - ENTRIES_MAX);
  return new Map([
    ...kept,
    [
      key,
      {
        ...offering,
        reason: reason.slice(0, REASON_LENGTH_MAX),
        markedAtMs: nowMs,
        untilMs: nowMs + barMs(times),
        times,
      },
    ],
  ]);
}

/** What is barred now, by anyone: the latest end counts. */
export function barredOfferings(
  states: readonly Shortages[],
  nowMs: number,
): readonly UnavailableOffering[] {
  const barred = new Map<string, Shortage>();
  for (const [key, each] of states.flatMap((state) => [...state])) {
    const known = barred.get(key);
    if (nowMs < each.untilMs && (known === undefined || known.untilMs < each.untilMs)) {
      barred.set(key, each);
    }
  }
  return [...barred]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { markedAtMs: _, times: __, ...rest }]) => rest);
}

const document = z.object({
  version: z.literal(1),
  offerings: z.array(z.unknown()).max(ENTRIES_MAX),
});

const entry = z.object({
  instanceType: z.string().regex(/^[a-z0-9-]+\.[a-z0-9-]+$/),
  zone: z.string().regex(/^[a-z0-9-]+$/),
  capacityType: z.enum(['spot', 'on-demand', 'reserved']),
  reservationId: z.string().max(KEY_LENGTH_MAX).optional(),
  nodeClass: z.string().max(KEY_LENGTH_MAX).optional(),
  reason: z.string().max(REASON_LENGTH_MAX),
  markedAtMs: z.number(),
  untilMs: z.number(),
  times: z.int().min(1).max(1_000),
});

export const SHORTAGES: DocumentKind<Shortages> = {
  empty: new Map(),
  decode: (json, nowMs) => {
    const { success, data } = document.safeParse(json);
    if (!success) return undefined;
    // Nothing is barred for more than six hours, whoever says so.
    const credible = entry.refine(({ untilMs }) => untilMs <= nowMs + BAR_MS.max + SKEW_MS);
    const { entries, rejected } = readEntries(data.offerings, credible);
    return { state: new Map(entries.map((each) => [keyOf(each), each])), rejected };
  },
  encode: (state) => ({ version: 1, offerings: [...state.values()] }),
};
