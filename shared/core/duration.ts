/** Hours of a month, as AWS's price calculator counts them. */
export const HOURS_A_MONTH = 730;

/** Milliseconds in each unit of Go's durations, which Kubernetes and Karpenter use. */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const AMOUNT = String.raw`(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)`;
const DURATION = new RegExp(`^(?:${AMOUNT})+$`);

/**
 * `1h30m`, `1.5h` or `300ms` in milliseconds, rounded to whole ones; undefined where the text is no
 * duration, or a negative one. A field that takes less than this says so in its own schema.
 * Syntax: https://pkg.go.dev/time#ParseDuration
 */
export function parseDurationMs(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit = ''] of text.matchAll(new RegExp(AMOUNT, 'g'))) {
    totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  return Math.round(totalMs);
}

const DAY_MS = 86_400_000;

/** As {@link parseDurationMs}, and whole days as `30d`, for which Go's durations have no unit. */
export function parseDurationOrDaysMs(text: string): number | undefined {
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  return days === undefined ? parseDurationMs(text) : Number(days) * DAY_MS;
}

/** Milliseconds in the largest unit that says them exactly, e.g. `30d`, `90m` or `300ms`. */
export function durationText(ms: number): string {
  if (ms === 0) return '0s';
  if (ms % DAY_MS === 0) return `${ms / DAY_MS}d`;
  const unit = ['h', 'm', 's'].find((each) => ms % (UNIT_MS[each] ?? 1) === 0) ?? 'ms';
  return `${ms / (UNIT_MS[unit] ?? 1)}${unit}`;
}

/** `45s`, `2m5s`, `3h20m`, as kubectl writes ages. */
export function age(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8 && minutes % 60 > 0) return `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  return days < 8 && hours % 24 > 0 ? `${days}d${hours % 24}h` : `${days}d`;
}
