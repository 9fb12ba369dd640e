/** In which AWS bills a region: yuan in China, dollars everywhere else. */
export type Currency = 'USD' | 'CNY';

const SYMBOLS: Readonly<Record<Currency, string>> = { USD: '$', CNY: '¥' };

/** https://docs.amazonaws.cn/en_us/aws/latest/userguide/billing.html */
export function currencyOf(region: string): Currency {
  return region.startsWith('cn-') ? 'CNY' : 'USD';
}

/** `$0.0960`, for people. */
export function money(amount: number, currency: Currency, digits = 4): string {
  return `${SYMBOLS[currency]}${amount.toFixed(digits)}`;
}
