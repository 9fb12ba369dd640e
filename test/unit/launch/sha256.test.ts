import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { sha256 } from '../../../shared/core/launch/sha256.ts';

// A block has 64 bytes, of which nine are for the end and the length.
it.each([
  ['', 0],
  ['abc', 1],
  ['\u007f\u0080\u07ff\u0800\uffff\u{10000}\u{10ffff}', 1],
  ['ü€𝄞', 40],
  ['a', 54],
  ['a', 55],
  ['a', 56],
  ['a', 63],
  ['a', 64],
  ['a', 119],
  ['a', 120],
  // 2,097,152 bits: more than two bytes of the length are used.
  ['b', 262_144],
])('%j, %i times, has the digest of Node’s crypto', (text, times) => {
  const whole = text.repeat(times);
  expect(sha256(whole)).toBe(createHash('sha256').update(whole).digest('hex'));
});
