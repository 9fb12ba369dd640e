import type { CapacityType } from '../model/labels.ts';
import { type BarKind, FAULTS } from './faults.ts';

export interface OfferingKey {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  /** Of reserved capacity: this reservation's alone. Undefined: every reservation's. */
  readonly reservationId?: string | undefined;
  /** For nodes of this EC2NodeClass as it is now (`versionOf`). Undefined: for everybody's. */
  readonly nodeClass?: string | undefined;
}

export interface SubnetKey {
  readonly subnetId: string;
}

/** Why something is left alone for a while, and until when. */
export interface Barring {
  readonly kind: BarKind;
  /** EC2's code, or what else was heard. */
  readonly reason: string;
  readonly markedAtMs: number;
  readonly untilMs: number;
}

export interface UnavailableOffering extends OfferingKey, Barring {
  /** Only another stack that shares the bucket has met it. */
  readonly isForeign?: boolean;
}

export interface UnavailableSubnet extends SubnetKey, Barring {}

/** `times`: how often in a row. */
export type Bar = (UnavailableOffering | UnavailableSubnet) & { readonly times: number };

/** By what is barred, and for whom. */
export type Bars = ReadonlyMap<string, Bar>;

export const BARS_MAX = 2_000;
export const REASON_LENGTH_MAX = 200;
/** A reservation that was refused is not believed to have room again before this: EC2 reads late. */
const RESERVATION_LAG_MS = 60_000;

/** The name of what is barred, for people and for one entry each. */
export function barKey(barred: OfferingKey | SubnetKey): string {
  if ('subnetId' in barred) return barred.subnetId;
  const { instanceType, zone, capacityType, reservationId = '', nodeClass = '' } = barred;
  return `${instanceType}/${zone}/${capacityType}/${reservationId}/${nodeClass}`;
}

function barMs(kind: BarKind, times: number): number {
  const { firstMs, maxMs } = FAULTS[kind];
  return Math.min(firstMs * 2 ** (times - 1), maxMs);
}

/** A fault counts towards the next one's length for as long again as it barred. */
function isForgotten({ kind, untilMs, times }: Bar, nowMs: number): boolean {
  return nowMs >= untilMs + barMs(kind, times);
}

/** Whether a shortage is met again that was tried although it is barred, and not the same one. */
function isMetAgain(
  known: Bar,
  { kind, markedAtMs }: Pick<Barring, 'kind' | 'markedAtMs'>,
): boolean {
  const isShortage = kind === 'shortage' && known.kind === kind;
  return isShortage && markedAtMs >= known.markedAtMs + FAULTS.shortage.firstMs;
}

/**
 * Bars something. While it is barred nothing changes but when a shortage was met last: faults of
 * the same moment, met by several fleets or functions, are one.
 */
export function withBar(
  before: Bars,
  barred: OfferingKey | SubnetKey,
  { kind, reason, markedAtMs }: Omit<Barring, 'untilMs'>,
): Bars {
  const key = barKey(barred);
  const known = before.get(key);
  if (known !== undefined && markedAtMs < known.untilMs) {
    const isSame = !isMetAgain(known, { kind, markedAtMs });
    return isSame ? before : new Map(before).set(key, { ...known, markedAtMs });
  }
  const isFirst = known === undefined || isForgotten(known, markedAtMs) || known.kind !== kind;
  const times = isFirst ? 1 : known.times + 1;
  const kept = [...before]
    .filter(([name, each]) => name !== key && !isForgotten(each, markedAtMs))
    .slice(1 - BARS_MAX);
  const untilMs = markedAtMs + barMs(kind, times);
  const cut = reason.slice(0, REASON_LENGTH_MAX);
  return new Map([...kept, [key, { ...barred, kind, reason: cut, markedAtMs, untilMs, times }]]);
}

/** Without those that are to be forgotten; the same where there are none. */
export function withoutBars(before: Bars, isOver: (key: string, bar: Bar) => boolean): Bars {
  const kept = [...before].filter(([key, bar]) => !isOver(key, bar));
  return kept.length === before.size ? before : new Map(kept);
}

/**
 * What is barred now, by its key: our own bars, and of what we have not met those of other stacks,
 * of which the latest end counts.
 */
export function activeBars(
  own: Bars,
  others: readonly Bars[],
  nowMs: number,
): readonly (Bar & { readonly isForeign?: boolean })[] {
  const barred = new Map<string, Bar & { readonly isForeign?: boolean }>();
  for (const [key, each] of others.flatMap((bars) => [...bars])) {
    const known = barred.get(key);
    if (nowMs < each.untilMs && (known === undefined || known.untilMs < each.untilMs)) {
      barred.set(key, { ...each, isForeign: true });
    }
  }
  for (const [key, each] of own) if (nowMs < each.untilMs) barred.set(key, each);
  return [...barred].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** Of the zones of a type, what others have barred counts for this share, and for one at least. */
const FOREIGN_SHARE = 0.3;

/**
 * Without what other stacks have barred of a type in too many of its zones: a stack that errs, or
 * wants to, hides no type from those with whom it shares a bucket. `zonesOf` counts the zones in
 * which a type is offered.
 */
export function believedBars(
  barred: readonly UnavailableOffering[],
  zonesOf: (instanceType: string, capacityType: CapacityType) => number,
): readonly UnavailableOffering[] {
  const ofOthers = Map.groupBy(
    barred.filter(({ isForeign }) => isForeign === true),
    ({ instanceType, capacityType }) => `${instanceType}/${capacityType}`,
  );
  const isBelieved = ({ instanceType, capacityType, isForeign }: UnavailableOffering): boolean => {
    if (isForeign !== true) return true;
    const same = ofOthers.get(`${instanceType}/${capacityType}`) ?? [];
    const zones = new Set(same.map(({ zone }) => zone)).size;
    return zones <= Math.max(1, Math.floor(FOREIGN_SHARE * zonesOf(instanceType, capacityType)));
  };
  return barred.filter(isBelieved);
}

/**
 * What is barred also for whom nothing else is left: of a shortage only the first minutes after it
 * was met. To wait longer gives way to other offerings, of which there are none.
 */
export function barsOfLastResorts(
  barred: readonly UnavailableOffering[],
  nowMs: number,
): readonly UnavailableOffering[] {
  const { firstMs } = FAULTS.shortage;
  return barred.filter(
    ({ kind, markedAtMs }) => kind !== 'shortage' || nowMs < markedAtMs + firstMs,
  );
}

/** Those of offerings, without how often. */
export function offeringsOf(bars: readonly Bar[]): readonly UnavailableOffering[] {
  return bars.flatMap((bar) => {
    if ('subnetId' in bar) return [];
    const { times: _, ...rest } = bar;
    return [rest];
  });
}

/** Ids of subnets without a free address. */
export function subnetsOf(bars: readonly Bar[]): ReadonlySet<string> {
  return new Set(bars.flatMap((bar) => ('subnetId' in bar ? [bar.subnetId] : [])));
}

/** Whether a reservation that was full has room again, as EC2 says by now. */
export function hasRoomAgain(
  { kind, markedAtMs }: Pick<Barring, 'kind' | 'markedAtMs'>,
  capacity: number,
  nowMs: number,
): boolean {
  return kind === 'reservation' && capacity > 0 && nowMs >= markedAtMs + RESERVATION_LAG_MS;
}
