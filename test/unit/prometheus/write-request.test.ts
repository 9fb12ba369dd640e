import { describe, expect, it } from 'vitest';
import {
  STALE,
  type WrittenSeries,
  writeRequest,
} from '../../../shared/prometheus/write-request.ts';
import { readWriteRequest } from '../../support/prometheus/read-request.ts';

const AT_MS = Date.parse('2026-01-01T00:00:00Z');

function series(change: Partial<WrittenSeries> = {}): WrittenSeries {
  const samples = [{ atMs: AT_MS, value: 1 }];
  return { name: 'karpenter_nodes_created_total', labels: {}, samples, ...change };
}

describe('a request', () => {
  it('has labels by their names, the name of the metric among them', () => {
    const labels = { zone: 'zone-a', Alpha: 'é😀', nodepool: '', a: '1' };
    const [read] = readWriteRequest(writeRequest([series({ labels })]));
    expect(read?.labels).toEqual([
      ['Alpha', 'é😀'],
      ['__name__', 'karpenter_nodes_created_total'],
      ['a', '1'],
      ['zone', 'zone-a'],
    ]);
  });

  it.each([0, 1, -1, 0.1, 2 ** 53, 1e300, Number.MIN_VALUE, Number.POSITIVE_INFINITY])(
    'has the value %d',
    (value) => {
      const [read] = readWriteRequest(writeRequest([series({ samples: [{ atMs: 1, value }] })]));
      expect(read?.samples).toMatchObject([{ atMs: 1, value }]);
    },
  );

  it('has several samples of a series, and the end of one by its bits', () => {
    const samples = [
      { atMs: AT_MS - 60_000, value: 0 },
      { atMs: AT_MS, value: STALE },
    ] as const;
    const [read] = readWriteRequest(writeRequest([series({ samples })]));
    expect(read?.samples).toMatchObject([
      { atMs: AT_MS - 60_000, value: 0 },
      { atMs: AT_MS, bits: 0x7ff0000000000002n },
    ]);
  });

  it('of 2,000 series is read as it was written, in less than a third of its text', () => {
    const many = Array.from({ length: 2_000 }, (_, at) =>
      series({ labels: { node_name: `ip-10-0-${at}.internal`, zone: `zone-${at % 3}` } }),
    );
    const body = writeRequest(many);
    const read = readWriteRequest(body);
    expect(read.map(({ labels }) => labels[1]?.[1])).toEqual(
      many.map(({ labels }) => labels['node_name']),
    );
    expect(body.length).toBeLessThan(JSON.stringify(many).length / 3);
  });

  it('of nothing is empty', () => {
    expect(readWriteRequest(writeRequest([]))).toEqual([]);
  });
});
