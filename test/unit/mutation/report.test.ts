import { expect, it } from 'vitest';
import { byFolder, type Listed, markdown, outcomeOf, outdated } from '../../mutation/report.ts';

const SOURCE = 'const a = 1;\nconst b = [\n  2,\n];\n';

const at = (line: number, column: number, toLine: number, toColumn: number) => ({
  start: { line, column },
  end: { line: toLine, column: toColumn },
});
const mutant = (status: string, location = at(1, 11, 1, 12), replacement = '0') => ({
  mutatorName: 'Literal',
  replacement,
  location,
  status,
});

const REPORT = {
  files: {
    'a.ts': {
      source: SOURCE,
      mutants: [
        mutant('Killed'),
        mutant('Killed'),
        mutant('Timeout'),
        mutant('RuntimeError'),
        mutant('NoCoverage', at(2, 11, 4, 2), '[]'),
        mutant('Survived'),
      ],
    },
  },
};

const LISTED: Listed = {
  'a.ts': [{ reason: 'Nobody reads it', mutants: ['1 → 0', '3 → 0'] }],
  'b.ts': [{ reason: 'Of another run', mutants: ['1 → 0'] }],
};

it('counts what could be run', () => {
  const { survivors, ...counts } = outcomeOf(REPORT, LISTED);
  expect(counts).toEqual({ mutants: 6, killed: 2, timedOut: 1, invalid: 1, score: 60 });
  expect(survivors).toEqual([
    { file: 'a.ts', line: 1, name: '1 → 0', isCovered: true, reason: 'Nobody reads it' },
    { file: 'a.ts', line: 2, name: '[ 2, ] → []', isCovered: false, reason: undefined },
  ]);
  expect(outcomeOf({ files: {} }, LISTED).score).toBe(100);
});

it('adds the targets of a folder up', () => {
  const one = outcomeOf(REPORT, LISTED);
  const folders = byFolder(
    new Map([
      ['a/x', one],
      ['a/y', one],
      ['b', one],
    ]),
  );
  expect([...folders.keys()]).toEqual(['a', 'b']);
  expect(folders.get('a')).toMatchObject({ mutants: 12, killed: 4, timedOut: 2, score: 60 });
  expect(folders.get('a')?.survivors).toHaveLength(4);
});

it('names what is listed and does not survive', () => {
  expect(outdated(REPORT, LISTED)).toEqual(['a.ts: 3 → 0']);
});

it('is written by target, then by file and reason', () => {
  expect(markdown(new Map([['all', outcomeOf(REPORT, LISTED)]]))).toBe(
    [
      '| folder | mutants | killed | timed out | survived | of these not covered | score |',
      '|---|---|---|---|---|---|---|',
      '| all | 6 | 2 | 1 | 2 | 1 | 60.0 % |',
      '',
      '## Survivors',
      '',
      '### a.ts',
      '',
      '- Nobody reads it:',
      '    - 1: ``1 → 0``',
      '- No reason is given yet:',
      '    - 2: ``[ 2, ] → []``',
      '',
    ].join('\n'),
  );
});
