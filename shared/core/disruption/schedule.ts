import { parseDurationMs } from '../duration.ts';
import { missing } from '../missing.ts';
import { ownValue } from '../model/labels.ts';

/** Five sets of numbers: when a schedule hits. */
interface Schedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** Where both days and weekdays are given, one of them is enough. */
  readonly isEitherDay: boolean;
}

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const WEEKDAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

interface Field {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const FIELDS: readonly Field[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: MONTHS },
  { least: 0, most: 6, names: WEEKDAYS },
];

function isOpen(text: string): boolean {
  return text === '*' || text === '?';
}

/** A number, or the name of a month or weekday. */
function numberOf(text: string, { least, most, names }: Field): number | undefined {
  const named = names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return named + least;
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least && value <= most ? value : undefined;
}

/** `*`, `3`, `1-5`, each perhaps with a step; `3/10` goes on to the end. */
function rangeOf(text: string, field: Field): readonly number[] | undefined {
  const [range = '', stepText, ...more] = text.split('/');
  const [from = '', to, ...rest] = range.split('-');
  if (more.length > 0 || rest.length > 0) return undefined;
  const isStepped = stepText !== undefined;
  if (isStepped && !/^[1-9]\d{0,2}$/.test(stepText)) return undefined;
  const first = isOpen(range) ? field.least : numberOf(from, field);
  const toEnd = isOpen(range) || (isStepped && to === undefined);
  const last = toEnd ? field.most : to === undefined ? first : numberOf(to, field);
  if (first === undefined || last === undefined || last < first) return undefined;
  const step = isStepped ? Number(stepText) : 1;
  return Array.from(
    { length: Math.floor((last - first) / step) + 1 },
    (_, at) => first + at * step,
  );
}

function fieldOf(text: string, field: Field): ReadonlySet<number> | undefined {
  const ranges = text.split(',').map((each) => rangeOf(each, field));
  const known = ranges.filter((each) => each !== undefined);
  return known.length === ranges.length ? new Set(known.flat()) : undefined;
}

function parse(text: string): Schedule | undefined {
  const texts = (ownValue(MACROS, text.trim()) ?? text).trim().split(/\s+/);
  const sets = FIELDS.map((field, at) => fieldOf(texts[at] ?? '', field));
  const [minutes, hours, days, months, weekdays] = sets;
  if (texts.length !== FIELDS.length || minutes === undefined || hours === undefined) {
    return undefined;
  }
  if (days === undefined || months === undefined || weekdays === undefined) return undefined;
  const isRestricted = (at: number): boolean =>
    !(texts[at] ?? missing(at)).split(',').some((each) => isOpen(each.replace(/\/0*1$/, '')));
  return {
    minutes,
    hours,
    days,
    months,
    weekdays,
    isEitherDay: isRestricted(2) && isRestricted(4),
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function isDay(schedule: Schedule, atMs: number): boolean {
  const date = new Date(atMs);
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const isDate = schedule.days.has(date.getUTCDate());
  const isWeekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.isEitherDay ? isDate || isWeekday : isDate && isWeekday;
}

function hitsOf({ hours, minutes }: Schedule, dayMs: number): readonly number[] {
  return [...hours].flatMap((hour) =>
    [...minutes].map((minute) => dayMs + hour * HOUR_MS + minute * MINUTE_MS),
  );
}

/** A time that comes again: from when a cron schedule (UTC) hits, for so long. */
export interface Recurrence {
  readonly schedule: string;
  readonly durationMs: number;
}

/** Undefined: the schedule or the duration cannot be read. */
export function recurrenceOf(schedule: string, duration: string): Recurrence | undefined {
  const durationMs = parseDurationMs(duration);
  if (durationMs === undefined || parse(schedule) === undefined) return undefined;
  return { schedule, durationMs };
}

/** The most days of each month, of February in a leap year. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether there is a day on which it hits: there is none of 31 February. */
function hasDay({ days, months, isEitherDay }: Schedule): boolean {
  const least = Math.min(...days);
  return isEitherDay || LENGTHS.some((most, at) => months.has(at + 1) && least <= most);
}

/** In this time every schedule that has a day hits: 29 February on a weekday is the rarest. */
const SPAN_MS = 41 * 366 * DAY_MS;

/** The last time it hit, up to now; undefined: not after `sinceMs`, however long ago that is. */
function lastHit(schedule: Schedule, sinceMs: number, nowMs: number): number | undefined {
  if (!hasDay(schedule)) return undefined;
  const lastDayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const firstMs = Math.max(sinceMs, nowMs - SPAN_MS);
  for (let dayMs = lastDayMs; dayMs + DAY_MS > firstMs; dayMs -= DAY_MS) {
    if (!isDay(schedule, dayMs)) continue;
    const hits = hitsOf(schedule, dayMs).filter((atMs) => sinceMs < atMs && atMs <= nowMs);
    if (hits.length > 0) return Math.max(...hits);
  }
  return undefined;
}

/**
 * Whether a cron schedule (five fields or a macro, UTC) has begun within the last `durationMs`;
 * undefined: the text is no schedule.
 */
export function isWithin(text: string, durationMs: number, nowMs: number): boolean | undefined {
  const schedule = parse(text);
  return schedule && lastHit(schedule, nowMs - durationMs, nowMs) !== undefined;
}

/** A time, its end left out. */
export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * When {@link isWithin} holds from `fromMs` to before `toMs`, in order, each as long as it lasts;
 * undefined: the text is no schedule.
 */
export function intervalsOf(
  text: string,
  durationMs: number,
  { fromMs, toMs }: Interval,
): readonly Interval[] | undefined {
  const schedule = parse(text);
  if (schedule === undefined) return undefined;
  const found: { fromMs: number; toMs: number }[] = [];
  // Of the times that have begun before, the one that began last ends last.
  const firstMs = lastHit(schedule, fromMs - durationMs, fromMs) ?? fromMs;
  const firstDayMs = Math.floor(firstMs / DAY_MS) * DAY_MS;
  for (let dayMs = firstDayMs; dayMs < toMs; dayMs += DAY_MS) {
    if (!isDay(schedule, dayMs)) continue;
    for (const hitMs of hitsOf(schedule, dayMs).toSorted((a, b) => a - b)) {
      const [start, end] = [Math.max(fromMs, hitMs), Math.min(toMs, hitMs + durationMs)];
      const last = found.at(-1);
      if (start >= end) continue;
      if (last !== undefined && start <= last.toMs) last.toMs = Math.max(last.toMs, end);
      else found.push({ fromMs: start, toMs: end });
    }
  }
  return found;
}
