import { expect, it } from 'vitest';
import { currencyOf, money } from '../../../shared/core/model/currency.ts';

it('AWS bills in yuan in China, and in dollars elsewhere', () => {
  expect(['cn-north-1', 'us-east-1', 'eu-cn-1'].map(currencyOf)).toEqual(['CNY', 'USD', 'USD']);
});

it('an amount has four digits, or as many as are asked for', () => {
  expect(money(0.096, 'USD')).toBe('$0.0960');
  expect(money(1.005, 'CNY', 1)).toBe('¥1.0');
});
