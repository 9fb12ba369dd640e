import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { run, write } from './installation.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'joiner-language-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Of ES2024 Node 20 has neither; `cli/bin/older-node.mjs` adds both. */
const ADDED = ['es2024.collection', 'es2024.promise'];

it('the command and the construct ask of the language no more than Node 20 has or is given', () => {
  write(folder, {
    'tsconfig.json': {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        lib: ['es2023', ...ADDED],
        target: 'es2023',
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      include: [join(ROOT, 'cli'), join(ROOT, 'infra/index.ts')],
      // The page's own script runs in a browser and has a tsconfig.json of its own.
      exclude: [join(ROOT, 'cli/page/browser')],
    },
  });
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc');
  expect(run(folder, [tsc, '-p', folder])).toMatchObject({ status: 0, stdout: '' });
}, 120_000);

it('what the command is given does what the language does', async () => {
  const { groupBy } = Map;
  const { groupBy: groupObject } = Object;
  const { withResolvers } = Promise;
  const words = ['a', 'bb', 'c', 'dd'];
  const keyOf = (word: string, index: number) => `${word.length}${index > 2 ? '+' : ''}`;
  const grouped = () => [Map.groupBy(words, keyOf), Object.groupBy(words, keyOf)];
  const expected = grouped();
  Reflect.deleteProperty(Map, 'groupBy');
  Reflect.deleteProperty(Object, 'groupBy');
  Reflect.deleteProperty(Promise, 'withResolvers');
  try {
    await import(join(ROOT, 'cli/bin/older-node.mjs'));
    expect(grouped()).toEqual(expected);
    const { promise, resolve } = Promise.withResolvers<string>();
    resolve('done');
    expect(await promise).toBe('done');
    expect(Map.groupBy).not.toBe(groupBy);
  } finally {
    Object.assign(Map, { groupBy });
    Object.assign(Object, { groupBy: groupObject });
    Object.assign(Promise, { withResolvers });
  }
});
