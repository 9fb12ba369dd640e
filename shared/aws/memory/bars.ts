import * as z from 'zod';
import {
  BARS_MAX,
  type Bar,
  type Bars,
  barKey,
  REASON_LENGTH_MAX,
} from '../../core/launch/bars.ts';
import { FAULTS } from '../../core/launch/faults.ts';
import { type DocumentKind, readEntries } from './document.ts';

/** Clocks of two functions differ by less. */
const SKEW_MS = 60_000;
/** Ids of reservations have 20 characters; a class's version is a UUID and a number. */
const KEY_LENGTH_MAX = 100;

/** `subnets` came later: who does not know them reads the offerings alone. */
const document = z.object({
  version: z.literal(1),
  offerings: z.array(z.unknown()).max(BARS_MAX),
  subnets: z.array(z.unknown()).max(BARS_MAX).optional(),
});

const barring = {
  // Written since faults are told apart; what is older was a shortage.
  kind: z
    .enum(['shortage', 'quota', 'reservation', 'subnet', 'class', 'unknown'])
    .default('shortage'),
  reason: z.string().max(REASON_LENGTH_MAX),
  markedAtMs: z.number(),
  untilMs: z.number(),
  times: z.int().min(1).max(1_000),
};

const offering = z.object({
  instanceType: z.string().regex(/^[a-z0-9-]+\.[a-z0-9-]+$/),
  zone: z.string().regex(/^[a-z0-9-]+$/),
  capacityType: z.enum(['spot', 'on-demand', 'reserved']),
  reservationId: z.string().max(KEY_LENGTH_MAX).optional(),
  nodeClass: z.string().max(KEY_LENGTH_MAX).optional(),
  ...barring,
});

const subnet = z.object({ subnetId: z.string().regex(/^subnet-[0-9a-f]+$/), ...barring });

/** The file of `shared/REGION/unavailable`. */
export const BARS: DocumentKind<Bars> = {
  empty: new Map(),
  decode: (json, nowMs) => {
    const { success, data } = document.safeParse(json);
    if (!success) return undefined;
    // Nothing is barred for longer than its kind may be, whoever says so.
    const isCredible = ({ kind, untilMs }: Bar) => untilMs <= nowMs + FAULTS[kind].maxMs + SKEW_MS;
    const offerings = readEntries<Bar>(data.offerings, offering.refine(isCredible));
    const subnets = readEntries<Bar>(data.subnets ?? [], subnet.refine(isCredible));
    const all = [...offerings.entries, ...subnets.entries];
    return {
      state: new Map(all.map((each) => [barKey(each), each])),
      rejected: offerings.rejected + subnets.rejected,
    };
  },
  encode: (state) => {
    const all = [...state.values()];
    return {
      version: 1,
      offerings: all.filter((each) => !('subnetId' in each)),
      subnets: all.filter((each) => 'subnetId' in each),
    };
  },
};
