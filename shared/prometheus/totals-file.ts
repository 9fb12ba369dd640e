import * as z from 'zod';
import { parsedJson } from '../core/parsed-json.ts';
import { NO_TOTALS, type Totals } from './totals.ts';

/** 2: distributions have a bucket of 0. */
const VERSION = 2;

const numbers = z.record(z.string(), z.number());

/** Of another form than this version's, counters begin anew, which Prometheus sees as a restart. */
const file = z.object({
  version: z.literal(VERSION),
  seen: numbers,
  counters: numbers,
  distributions: z.record(z.string(), z.object({ counts: z.array(z.number()), sum: z.number() })),
  recents: z.record(
    z.string(),
    z.object({
      count: z.number(),
      sum: z.number(),
      latest: z.array(z.tuple([z.number(), z.number()])),
    }),
  ),
  levels: z.record(z.string(), z.object({ atMs: z.number(), value: z.number() })),
  fresh: z.array(z.string()),
  startingPods: z.array(z.string()),
  writtenAtMs: z.number().optional(),
});

export function encodeTotals(totals: Totals): Uint8Array {
  const { seen, counters, distributions, recents, levels, fresh, startingPods } = totals;
  const text = JSON.stringify({
    version: VERSION,
    seen: Object.fromEntries(seen),
    counters: Object.fromEntries(counters),
    distributions: Object.fromEntries(distributions),
    recents: Object.fromEntries(recents),
    levels: Object.fromEntries(levels),
    fresh: [...fresh],
    startingPods: [...startingPods],
    writtenAtMs: totals.writtenAtMs,
  });
  return new TextEncoder().encode(text);
}

/** Undefined: it is not what this version writes. */
export function decodeTotals(body: Uint8Array): Totals | undefined {
  const parsed = file.safeParse(parsedJson(new TextDecoder().decode(body)));
  if (!parsed.success) return undefined;
  const { data } = parsed;
  return {
    ...NO_TOTALS,
    seen: new Map(Object.entries(data.seen)),
    counters: new Map(Object.entries(data.counters)),
    distributions: new Map(Object.entries(data.distributions)),
    recents: new Map(Object.entries(data.recents)),
    levels: new Map(Object.entries(data.levels)),
    fresh: new Set(data.fresh),
    startingPods: new Set(data.startingPods),
    writtenAtMs: data.writtenAtMs,
  };
}
