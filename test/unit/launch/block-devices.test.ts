import { expect, it } from 'vitest';
import { gibibytes } from '../../../shared/core/launch/block-devices.ts';

it.each([
  ['100Gi', 100],
  ['100G', 94],
  ['2Ti', 2048],
  ['1T', 932],
  ['1G', 1],
  ['0Gi', 0],
  ['100', undefined],
  ['1.5Gi', undefined],
  ['Gi', undefined],
  ['1Mi', undefined],
  ['1Gib', undefined],
  ['-1Gi', undefined],
  ['', undefined],
])('a volume of %s has %s GiB', (size, expected) => {
  expect(gibibytes(size)).toBe(expected);
});
