import { describe, expect, it } from 'vitest';
import {
  formatQuantity,
  formatResources,
  parseQuantity,
  parseResources,
  quantityMax,
} from '../../shared/core/quantity.ts';

/** What the API server answers to 10,000 texts is in test/parity/algebra. */
describe('a quantity', () => {
  it.each([
    ['100m', 'cpu', 100],
    ['1.5', 'cpu', 1500],
    [2, 'cpu', 2000],
    ['1e-3', 'cpu', 1],
    ['1.5Ki', 'cpu', 1_536_000],
    ['1.5Gi', 'memory', 1_610_612_736],
    ['.5k', 'memory', 500],
    ['5.', 'memory', 5],
    ['1E', 'pods', undefined],
    ['7E', 'memory', undefined],
    ['9007199254740991', 'memory', 9_007_199_254_740_991],
    ['9007199254740992', 'memory', undefined],
    ['+3', 'pods', 3],
    ['-3', 'pods', -3],
    ['Ki', 'memory', 0],
    ['e5', 'memory', 0],
  ] as const)('%s of %s is %s', (text, resource, amount) => {
    expect(parseQuantity(text, resource)).toBe(amount);
  });

  it.each([
    '',
    ' ',
    '1 Gi',
    '1K',
    '1Mb',
    'Infinity',
    'NaN',
    '0x10',
    '1e',
    '1e1000',
    '--1',
    '1.2.3',
  ])('is not %j', (text) => {
    expect(parseQuantity(text, 'memory')).toBeUndefined();
    expect(quantityMax(text, 'memory')).toBeUndefined();
  });

  // A request is never counted for less than it is, a capacity never for more.
  it.each([
    ['1500m', { up: 2, down: 1 }],
    ['-1500m', { up: -1, down: -2 }],
    ['2000m', { up: 2, down: 2 }],
    ['0.0001', { up: 1, down: 0 }],
    ['-0.0001', { up: 0, down: -1 }],
    ['1n', { up: 1, down: 0 }],
    ['0.3333333333Ki', { up: 342, down: 341 }],
    ['123456789012.5', { up: 123_456_789_013, down: 123_456_789_012 }],
    ['-0', { up: 0, down: 0 }],
  ] as const)('%s is rounded up for requests and down for capacity', (text, { up, down }) => {
    expect(parseQuantity(text, 'memory')).toBe(up);
    expect(parseQuantity(text, 'memory', 'up')).toBe(up);
    expect(parseQuantity(text, 'memory', 'down')).toBe(down);
  });
});

describe('the largest amount', () => {
  it.each([
    ['cpu', '9007199254740'],
    ['memory', '7Pi'],
    ['ephemeral-storage', '7Pi'],
    ['hugepages-2Mi', '7Pi'],
    ['pods', '9007199254740991'],
    ['example.com/hugepages-', '9007199254740991'],
  ])('of %s is %s, and is counted', (resource, most) => {
    expect(quantityMax('9E', resource)).toBe(most);
    expect(parseQuantity(most, resource)).toBeDefined();
  });
});

describe('resources', () => {
  it('are parsed by name, and what is no quantity is named', () => {
    const list = { cpu: '1500m', memory: '1Gi', pods: 110, 'example.com/gpu': 'many', disk: '1K' };
    expect(parseResources(list)).toEqual({
      resources: { cpu: 1500, memory: 2 ** 30, pods: 110 },
      invalid: ['example.com/gpu', 'disk'],
    });
  });

  it('are rounded up unless they are capacity', () => {
    expect(parseResources({ pods: '1500m' }).resources).toEqual({ pods: 2 });
    expect(parseResources({ pods: '1500m' }, 'down').resources).toEqual({ pods: 1 });
  });

  it('are none where there is no list', () => {
    expect(parseResources(undefined)).toEqual({ resources: {}, invalid: [] });
  });
});

describe('the text of an amount', () => {
  it.each([
    [4000, 'cpu', '4'],
    [1500, 'cpu', '1500m'],
    [0, 'cpu', '0'],
    [0, 'memory', '0'],
    [1023, 'memory', '1023'],
    [1024, 'memory', '1Ki'],
    [1536, 'memory', '1536'],
    [1648 * 2 ** 20, 'memory', '1648Mi'],
    [2 ** 30, 'ephemeral-storage', '1Gi'],
    [2 ** 21, 'hugepages-2Mi', '2Mi'],
    [3 * 2 ** 40, 'memory', '3Ti'],
    [2 ** 50, 'memory', '1Pi'],
    [1024, 'pods', '1024'],
    [2048, 'example.com/memory', '2048'],
  ])('%d of %s is %s, and is read back', (amount, resource, text) => {
    expect(formatQuantity(amount, resource)).toBe(text);
    expect(parseQuantity(text, resource)).toBe(amount);
  });

  it('of resources are in alphabetical order, whatever order they came in', () => {
    const texts = formatResources({ pods: 10, cpu: 500, memory: 2 ** 20 });
    expect(Object.entries(texts)).toEqual([
      ['cpu', '500m'],
      ['memory', '1Mi'],
      ['pods', '10'],
    ]);
  });
});
