import { HOURS_A_MONTH } from '../../../shared/core/duration.ts';
import type { Currency } from '../../../shared/core/model/currency.ts';
import { money } from '../../../shared/core/model/currency.ts';

/** How amounts of money read. */
export interface Prices {
  readonly perHour: (amount: number | null) => string;
  readonly perMonth: (amount: number | null) => string;
}

function grouped(text: string): string {
  return text.replace(/\d(?=(\d{3})+\.)/g, '$&,');
}

export function pricesIn(currency: Currency): Prices {
  const show = (amount: number, digits: number): string =>
    `${amount < 0 ? '−' : ''}${grouped(money(Math.abs(amount), currency, digits))}`;
  return {
    perHour: (amount) => (amount === null ? '–' : show(amount, 4)),
    perMonth: (amount) => (amount === null ? '–' : show(amount * HOURS_A_MONTH, 2)),
  };
}

export function count(amount: number, noun: string): string {
  return `${amount.toLocaleString('en')} ${noun}${amount === 1 ? '' : 's'}`;
}

/** `17 pods and 20 of DaemonSets`. */
export function podsText({ own, daemons }: { readonly own: number; readonly daemons: number }) {
  const also = daemons === 0 ? '' : ` and ${daemons.toLocaleString('en')} of DaemonSets`;
  return `${count(own, 'pod')}${also}`;
}

/** What is nearly full has a decimal, so that it is told from what is full. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 1) return '< 1 %';
  const tenths = Math.round(value * 10) / 10;
  return `${tenths > 99 && tenths < 100 ? tenths : Math.round(value)} %`;
}

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'];

/** An amount of a resource, in a unit that people read: cores, GiB. */
export function amountText(resource: string, amount: number): string {
  if (resource === 'cpu') return trimmed(amount / 1000);
  if (resource !== 'memory') return trimmed(amount);
  let [value, unit] = [amount, 0];
  while (value >= 1024 && unit < BINARY.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${trimmed(value)} ${BINARY[unit] ?? ''}B`;
}

function trimmed(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return Number(value.toFixed(digits)).toLocaleString('en');
}

/** `45s`, `2m 5s`, `3h 20m`. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  const rest = whole % 60;
  if (hours > 0) return minutes > 0 ? `${hours}h ${minutes}m` : `${hours}h`;
  if (minutes === 0) return `${whole}s`;
  return rest > 0 ? `${minutes}m ${rest}s` : `${minutes}m`;
}

/** Names that are listed of many. */
const NAMES_MAX = 10;

export function namesText(names: readonly string[], max = NAMES_MAX): string {
  const more = names.length - max;
  return more > 0 ? `${names.slice(0, max).join(', ')} and ${more} more` : names.join(', ');
}
