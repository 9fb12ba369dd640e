import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { observationsIn, recorderTo } from '../../../cli/shadow/file.ts';
import { inFolder } from '../run.ts';
import { observation } from './made.ts';

const [first, second, third] = [observation(0), observation(1), observation(2)];
const line = (each: object): string => `${JSON.stringify(each)}\n`;

it('makes the file, and adds a line each', async () => {
  await inFolder({}, async (folder) => {
    const file = `${folder}/new.ndjson`;
    const add = recorderTo(file);
    expect(existsSync(file)).toBe(false);
    add(first);
    add(second);
    expect(readFileSync(file, 'utf8')).toBe(line(first) + line(second));
  });
});

it('begins a new line after one that was cut, also while it records', async () => {
  await inFolder({ 'a.ndjson': line(first) + line(second).slice(0, 90) }, async (folder) => {
    const file = `${folder}/a.ndjson`;
    const add = recorderTo(file);
    add(second);
    appendFileSync(file, '{"format"');
    add(third);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(6);
    const { observations, notes } = observationsIn(file);
    expect(observations).toEqual([first, second, third]);
    expect(notes).toHaveLength(1);
  });
});

it('refuses a file of another cluster before it writes', async () => {
  const text = line(first) + line(first).slice(0, 90);
  await inFolder({ 'a.ndjson': text }, async (folder) => {
    const file = `${folder}/a.ndjson`;
    const add = recorderTo(file);
    expect(() => add(observation(1, { cluster: 'https://other' }))).toThrow(
      'has observations of https://api, and this cluster is https://other: give another file',
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });
});

it('names five faulty lines at most', async () => {
  const faulty = Array.from({ length: 7 }, () => 'x\n').join('');
  await inFolder({ 'a.ndjson': line(first) + faulty }, async (folder) => {
    const [note = ''] = observationsIn(`${folder}/a.ndjson`).notes;
    expect(note).toContain('7 of its 8 lines cannot be read: 2 (');
    expect(note).toMatch(/, 6 \([^)]*\) and 2 more$/);
  });
});
