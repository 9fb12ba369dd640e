import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { documentText } from '../../cli/output.ts';
import { progressTo } from '../../cli/progress.ts';
import { table } from '../../cli/simulate/table.ts';
import { visible, visibleLine, writeErr, writeOut } from '../../cli/terminal.ts';
import { layoutOf, piecesOf } from '../../cli/top/watch/columns.ts';
import { FIRST_VIEW, linesOf } from '../../cli/top/watch/screen.ts';
import { livingRow } from '../builders/top.ts';
import { NODE_CLASS, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

/** Sets the title of a window, colours what follows; 8-bit CSI; a deletion; another direction. */
const HOSTILE = 'a\u001b]0;title\u0007\u001b[31mred\u009b2J\u007f\u202eb';
const SHOWN = 'a\\u001b]0;title\\u0007\\u001b[31mred\\u009b2J\\u007f\\u202eb';

/** All that a terminal might obey, but for line breaks and tabs. */
const OBEYED =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const POD = `apiVersion: v1
kind: Pod
metadata: { name: hostile, namespace: shop }
spec:
  containers: [{ name: main, image: web, resources: { requests: { cpu: 1 } } }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: ${JSON.stringify(HOSTILE)} } }]
`;
const FILES = { 'a.yaml': [NODE_CLASS, NODE_POOL, POD].join('---\n') };

afterEach(() => void vi.restoreAllMocks());

describe('text for a terminal', () => {
  it('shows control characters as JSON writes them, and keeps line breaks and tabs', () => {
    expect(visible(HOSTILE)).toBe(SHOWN);
    expect(visible('one\n\ttwo ✓ é 日本\n')).toBe('one\n\ttwo ✓ é 日本\n');
    expect(visible('as Windows\r\nends lines\r\n')).toBe('as Windows\nends lines\n');
    expect(visible('over\rwritten')).toBe('over\\u000dwritten');
  });

  it('is one line where it is a cell', () => {
    expect(visibleLine('one\ntwo\tthree\r\n')).toBe('one\\ntwo\\tthree\\r\\n');
  });

  it.each([
    ['stdout', writeOut],
    ['stderr', writeErr],
  ] as const)('goes to %s', (name, write) => {
    const spy = vi.spyOn(process[name], 'write').mockReturnValue(true);
    write(`${HOSTILE}\n`);
    expect(spy.mock.calls).toEqual([[`${SHOWN}\n`]]);
  });

  it('is aligned as it is shown, and a cell is never two lines', () => {
    expect(table(['NAME', 'STATE'], [['a\u001b[2J\nb', 'Ready']])).toBe(
      'NAME            STATE\na\\u001b[2J\\nb   Ready',
    );
  });

  it('is a line of progress with nothing but its own escape', () => {
    const written: string[] = [];
    progressTo({ write: (text) => written.push(text) }).begin('a\u001b[2J\nb');
    expect(written).toEqual(['\r\u001b[2Ka\\u001b[2J\\nb']);
  });

  it('is a row of the screen', () => {
    const row = livingRow('a\u001b[2J', {
      life: { state: 'Ready', detail: `b\n${HOSTILE}` },
    });
    const lines = linesOf({ rows: [row] }, FIRST_VIEW);
    const texts = lines.map((line) =>
      piecesOf(line, layoutOf(lines, 300))
        .map(({ text }) => text)
        .join(''),
    );
    expect(texts.map((text) => text.length)).toEqual([300, 300]);
    expect(texts[1]).toContain('a\\u001b[2J');
    expect(texts[1]).toContain(`b\\n${SHOWN}`);
    expect(texts.join('')).not.toMatch(OBEYED);
  });
});

describe('documents', () => {
  const value = { [HOSTILE]: HOSTILE, plain: 'a\u202eb', lines: `one\n${HOSTILE}\n`, list: ['x'] };

  it.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ] as const)('as %s hold the same values, and nothing that a terminal obeys', (format, read) => {
    const spy = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    writeOut(documentText(value, format));
    const written = String(spy.mock.calls[0]?.[0]);
    expect(written).not.toMatch(OBEYED);
    expect(read(written)).toEqual(value);
  });
});

describe('a pod with control characters in the name of its claim', () => {
  it.each([
    ['explain', 'pod', 'hostile', '-n', 'shop', '-f'],
    ['simulate', '--duration', '1m', '-f'],
  ])('joiner %s', async (...args) => {
    await inFolder(FILES, async (folder) => {
      const text = await joiner(...args, folder);
      expect(text.exitCode).toBe(0);
      expect(text.stdout).toContain(SHOWN);
      expect(text.stdout + text.stderr).not.toMatch(OBEYED);
      const json = await joiner(...args, folder, '-o', 'json');
      expect(json.stdout).not.toMatch(OBEYED);
      expect(JSON.stringify(JSON.parse(json.stdout))).toContain(
        JSON.stringify(HOSTILE).slice(1, -1),
      );
    });
  });

  it.each([
    ['plan', '--region', HOSTILE],
    ['simulate', '-f', `/absent/${HOSTILE}`],
    ['explain', HOSTILE],
    [HOSTILE],
  ])('words of the command line are shown alike: joiner %s', async (...args) => {
    const { exitCode, stderr } = await joiner(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('title');
    expect(stderr).not.toMatch(OBEYED);
  });
});

describe('joiner convert', () => {
  it.each([
    ['x', '# kept\n'],
    ['x\u202ey', ''],
  ])('passes on the value %j of a manifest, whose lines end as on Windows', async (value, kept) => {
    const pool = `# kept\n${NODE_POOL}`.replace('kind:', '# kept\nkind:');
    const given = pool.replace('metadata:\n', `metadata:\n  annotations: { a: ${value} }\n`);
    await inFolder({ 'a.yaml': given.replaceAll('\n', '\r\n') }, async (folder) => {
      const { exitCode, stdout } = await joiner('convert', folder);
      expect(exitCode).toBe(0);
      expect(stdout).not.toMatch(OBEYED);
      expect(stdout).toContain(kept);
      expect(parse(stdout)).toEqual(parse(given));
    });
  });
});
