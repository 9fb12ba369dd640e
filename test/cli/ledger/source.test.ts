import { describe, expect, it } from 'vitest';
import { factsIn, sourceOf } from '../../../cli/ledger/source.ts';
import { inFolder } from '../run.ts';

const HOUR_MS = 3_600_000;
const AT_MS = Date.parse('2026-01-01T00:02:00Z');
const RECORD = {
  id: 'a',
  atMs: AT_MS,
  useCase: 'provision',
  object: 'NodeClaim/a',
  action: 'create',
  message: 'why',
  detail: {},
};
const RECORDS = { 'decisions.ndjson': `${JSON.stringify(RECORD)}\n` };

describe('the end of a folder', () => {
  it.each<[string, Readonly<Record<string, string>>, string, number]>([
    ['is its last record', {}, '2026-01-01T00:02:00Z', 0],
    [
      'is that of its simulation',
      { 'final-state.json': '{"end": "2026-01-01T00:30:00Z"}' },
      '2026-01-01T00:30:00Z',
      0,
    ],
    [
      'is its last record where the final state has no end',
      { 'final-state.json': '{}' },
      '2026-01-01T00:02:00Z',
      0,
    ],
    [
      'is its last record where the final state is cut off',
      { 'final-state.json': '{' },
      '2026-01-01T00:02:00Z',
      1,
    ],
  ])('%s', async (_, files, end, notes) => {
    const { span, written } = await inFolder({ ...RECORDS, ...files }, (dir) =>
      sourceOf({ dir, since: HOUR_MS }),
    );
    expect(new Date(span.toMs).toISOString()).toBe(end.replace('Z', '.000Z'));
    expect(span.toMs - span.fromMs).toBe(HOUR_MS);
    expect(written.notes).toHaveLength(notes);
  });
});

it('a recording that cannot be decided again is a note, and the others count', async () => {
  const damaged = { format: 3, useCase: 'provision', at: '2026-01-01T00:01:00Z', snapshot: {} };
  const files = { ...RECORDS, 'provision-a.json': JSON.stringify(damaged) };
  const { facts, notes } = await inFolder(files, async (dir) => {
    const source = await sourceOf({ dir, since: HOUR_MS });
    const progress = { say: () => {}, begin: () => {}, end: () => {} };
    return { facts: await factsIn(source, progress), notes: source.written.notes };
  });
  expect(facts).toEqual([]);
  expect(notes).toEqual([expect.stringContaining('provision-a.json: the decision cannot be')]);
});
