import { type Currency, currencyOf, money } from '../shared/core/model/currency.ts';

/** Of the one region that a command line is about. */
let shown: Currency = 'USD';

/** Prices are shown as AWS bills them in the region, from now on. */
export function showPricesOf(region: string): void {
  shown = currencyOf(region);
}

/** `$0.0960`, or `¥0.6100` in China; `-` where the price is not known. */
export function priceText(amount: number | null, digits = 4): string {
  return amount === null ? '-' : money(amount, shown, digits);
}
