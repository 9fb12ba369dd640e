import { describe, expect, it } from 'vitest';
import { meant, nearest } from '../../../shared/contract/nearest.ts';

describe('the nearest known word', () => {
  const known = ['spot', 'on-demand', 'reserved'];

  it.each([
    ['a letter is missing', 'ondemand', 'on-demand'],
    ['a letter is too many', 'spott', 'spot'],
    ['two letters are exchanged', 'sopt', 'spot'],
    ['a letter is another', 'reservad', 'reserved'],
    ['two letters are wrong in a long word', 'on_damand', 'on-demand'],
    ['letters are of the other case', 'Spot', 'spot'],
  ])('is found where %s', (_, word, found) => {
    expect(nearest(word, known)).toBe(found);
    expect(meant(word, known)).toBe(` (did you mean ${found}?)`);
  });

  it.each([
    ['two letters of a short word are wrong', 'slat'],
    ['three letters are wrong', 'in-demends'],
    ['nothing is alike', 'karpenter'],
    ['there is no word', ''],
  ])('is none where %s', (_, word) => {
    expect(nearest(word, known)).toBeUndefined();
    expect(meant(word, known)).toBe('');
  });

  it('is the first of words that are equally near', () => {
    expect(nearest('m5.larg', ['m5.large', 'm5.largx'])).toBe('m5.large');
    expect(nearest('m5.larg', ['m5.largx', 'm5.large'])).toBe('m5.largx');
  });
});
