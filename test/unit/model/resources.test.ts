import { describe, expect, it } from 'vitest';
import {
  addResources,
  amountOf,
  fitsResources,
  maxResources,
  subtractResources,
} from '../../../shared/core/model/resources.ts';

const A = { cpu: 1000, memory: 5 };
const B = { cpu: 500, pods: 2 };

describe('resources', () => {
  it('are there, or none', () => {
    expect(amountOf(A, 'cpu')).toBe(1000);
    expect(amountOf(A, 'pods')).toBe(0);
    expect(amountOf(A, 'constructor')).toBe(0);
  });

  it('are added, subtracted and compared by name', () => {
    expect(addResources(A, B)).toEqual({ cpu: 1500, memory: 5, pods: 2 });
    expect(subtractResources(A, B)).toEqual({ cpu: 500, memory: 5, pods: -2 });
    expect(maxResources(A, B)).toEqual({ cpu: 1000, memory: 5, pods: 2 });
    expect(maxResources(B, A)).toEqual({ cpu: 1000, memory: 5, pods: 2 });
    expect(A).toEqual({ cpu: 1000, memory: 5 });
  });

  it.each([
    [{ cpu: 1000 }, true],
    [{ cpu: 1001 }, false],
    [{ gpu: 0 }, true],
    [{ gpu: 1 }, false],
    [{ cpu: -1 }, true],
    [{}, true],
    [{ cpu: 1, memory: 6 }, false],
  ])('%j fits', (requests, expected) => {
    expect(fitsResources(requests, A)).toBe(expected);
  });
});
