import { describe, expect, it } from 'vitest';
import { spanPrefixes } from '../../../cli/bucket-objects.ts';
import { recordsOf } from '../../../shared/api/decision-record.ts';

const at = (text: string): number => Date.parse(`${text}Z`);

describe('the names that are listed', () => {
  it.each<[string, string, readonly string[]]>([
    ['2026-01-01T10:20', '2026-01-01T10:40', ['2026-01-01/10-']],
    ['2026-01-01T10:59', '2026-01-01T11:00', ['2026-01-01/10-', '2026-01-01/11-']],
    ['2026-01-31T23:30', '2026-02-01T00:10', ['2026-01-31/23-', '2026-02-01/00-']],
    ['2026-01-01T10:00', '2026-01-03T09:00', ['2026-01-01/', '2026-01-02/', '2026-01-03/']],
  ])('from %s to %s', (from, to, expected) => {
    expect(spanPrefixes(at(from), at(to))).toEqual(expected);
  });

  it('of a day are those of each of its hours', () => {
    expect(spanPrefixes(at('2026-01-01T10:30'), at('2026-01-02T10:30'))).toHaveLength(25);
  });
});

describe('the lines of an object', () => {
  const record = { id: 'a', atMs: 1, useCase: 'provision', object: 'o', action: 'x', message: 'm' };

  it('are records, those of other versions too', () => {
    const later = { ...record, reasons: [{ code: 'a-new-one', parameters: { a: 1 } }], more: 1 };
    const { records, faulty } = recordsOf(`${JSON.stringify(record)}\n${JSON.stringify(later)}\n`);
    expect(faulty).toBe(0);
    expect(records).toEqual([
      { ...record, reasons: [], detail: {} },
      { ...later, detail: {} },
    ]);
  });

  it('are counted where they are none', () => {
    const text = `{"id":\n${JSON.stringify({ ...record, atMs: 'now' })}\n\n[]\n`;
    expect(recordsOf(text)).toEqual({ records: [], faulty: 3 });
  });
});
