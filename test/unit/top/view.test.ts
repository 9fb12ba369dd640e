import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Colours, and where the cursor goes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how a terminal's sequences begin
const SEQUENCES = /\x1b\[[?\d;]*[a-zA-Z]/g;

const VIEW = join(import.meta.dirname, '../../../cli/top/watch/view.ts');

/** Shows a note and a failure, which have colours, until the key q is read. */
const SCREEN = `
  Object.assign(process.stdin, { isTTY: true, setRawMode() {}, ref() {}, unref() {} });
  Object.assign(process.stdout, { columns: 100, rows: 20 });
  const { showScreen } = await import(${JSON.stringify(VIEW)});
  const all = { nodes: 0, pricePerHour: 0, unpriced: 0 };
  const moment = { atMs: 0, rows: [], all, byPool: [], pending: [], notes: ['a note'] };
  const current = () => ({ moment, history: [], failure: 'a failure' });
  await showScreen({ title: 'a title', current, follow: () => () => {}, sort: undefined });
`;

function shown(noColor: Readonly<Record<string, string>>, screen = SCREEN): string {
  const { NO_COLOR: _, CI: __, ...env } = process.env;
  const flags = ['--input-type=module', '--no-warnings', '-e', screen];
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    encoding: 'utf8',
    env: { ...env, FORCE_COLOR: '1', ...noColor },
    input: 'q',
    timeout: 60_000,
  });
  expect(stderr).toBe('');
  return stdout;
}

it('a screen of 40 columns and 8 lines has no line in another', () => {
  const pods =
    "Array.from({ length: 4 }, (_, at) => ({ pod: 'ns/pod-' + at, ageSeconds: 1, reason: 'r'.repeat(99) }))";
  const small = SCREEN.replace('columns: 100, rows: 20', 'columns: 40, rows: 8').replace(
    'pending: []',
    `pending: ${pods}`,
  );
  const lines = shown({ NO_COLOR: '1' }, small).replace(SEQUENCES, '').split('\n');
  const drawn = lines.map((each) => each.trimEnd()).filter((each) => each !== '');
  expect(Math.max(...lines.map((each) => each.length))).toBeLessThanOrEqual(40);
  expect(drawn.slice(0, 4)).toEqual([
    'a title   00:00:00Z',
    '0 nodes, $0.0000/h   4 pending pods',
    'a note',
    'a failure',
  ]);
  expect(drawn[4]).toMatch(/^NAME +CPU +STATE$/);
  expect(drawn.at(-1)).toMatch(/^q quit .*…$/);
});

/** Of the foreground or the background, in any of their forms. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a terminal's colours are
const COLOUR = /\x1b\[(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]/;

it.each([
  ['without NO_COLOR', {}, true],
  ['with an empty NO_COLOR', { NO_COLOR: '' }, true],
  ['with NO_COLOR', { NO_COLOR: '1' }, false],
])('%s the screen has colours or not', (_, env, isColoured) => {
  const text = shown(env);
  expect(text).toContain('a failure');
  expect(COLOUR.test(text)).toBe(isColoured);
});
