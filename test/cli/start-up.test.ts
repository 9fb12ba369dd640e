import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/command-list.ts';
import { buildCommand } from '../../scripts/build-cli.ts';
import { joiner } from './run.ts';

interface OwnNode {
  readonly ownNode: (root: string) => string;
  readonly placeNode: (root: string) => boolean;
}

interface Bundle {
  readonly READ: readonly string[];
}

const ROOT = join(import.meta.dirname, '..', '..');
const { READ }: Bundle = await import(`${ROOT}/cli/bin/bundle.mjs`);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'joiner-start-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The sizes of a file and of what it imports at once, by their names. */
function startsWith(bundle: string, file: string, seen = new Map<string, number>()) {
  if (seen.has(file)) return seen;
  const text = readFileSync(join(bundle, file), 'utf8');
  seen.set(file, text.length);
  for (const [, name = ''] of text.matchAll(/^(?:import |\} from |import .* from )"\.\/([^"]+)"/gm))
    startsWith(bundle, name, seen);
  return seen;
}

function sum(sizes: ReadonlyMap<string, number>): number {
  return [...sizes.values()].reduce((total, each) => total + each, 0);
}

describe('the bundle of the command line', () => {
  it('starts with the list of commands, and a command with what it uses', async () => {
    await buildCommand(folder, READ);
    const bundle = join(folder, 'cli', 'bundle');
    const first = startsWith(bundle, 'main.mjs');
    expect(sum(first)).toBeLessThan(200_000);
    const files = readdirSync(bundle);
    const simulate = files.find((name) => /^simulate-.*\.mjs$/.test(name)) ?? '';
    const read = startsWith(bundle, simulate);
    const texts = [...read.keys()].map((name) => readFileSync(join(bundle, name), 'utf8'));
    expect(read.size).toBeGreaterThan(5);
    for (const absent of ['node_modules/@aws-sdk/', 'node_modules/@kubernetes/', 'catalog/data/']) {
      const origin = new RegExp(`^// ${absent}`, 'm');
      expect({ absent, found: texts.some((text) => origin.test(text)) }).toEqual({
        absent,
        found: false,
      });
    }
  });

  it('has what the commands read beside it', async () => {
    await buildCommand(folder, READ);
    expect(existsSync(join(folder, 'infra', 'rbac', 'watch.yaml'))).toBe(true);
  });
});

describe('the command of a checkout', () => {
  it('runs from any folder, and through links', () => {
    const link = join(folder, 'to the command');
    symlinkSync(join(ROOT, 'joiner'), link);
    const options = { cwd: folder, encoding: 'utf8' } as const;
    for (const command of [join(ROOT, 'joiner'), link]) {
      const { status, stdout } = spawnSync(command, ['--version'], options);
      expect({ status, stdout }).toEqual({ status: 0, stdout: '0.1.0\n' });
    }
  });
});

describe('the list of commands', () => {
  it.each(COMMANDS)('$name is the command it names', async ({ name, usage, description, load }) => {
    const command = await load();
    expect({
      name: command.name(),
      usage: command.usage(),
      description: command.description(),
    }).toEqual({ name, usage, description });
  });

  it('help of a command is its own', async () => {
    const { exitCode, stdout } = await joiner('help', 'simulate');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('--duration');
    expect((await joiner('--help')).stdout).toMatch(
      /^ {2}solve \[options\] <case\.json> +plan the/m,
    );
  });
});

/** A checkout with a command of one line. */
function checkout(says: string): void {
  for (const path of ['cli/bin', 'scripts/build-cli.ts', ...READ, 'package.json']) {
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  }
  writeFileSync(join(folder, 'package-lock.json'), '{}\n');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['esbuild', '@esbuild', 'node']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  say(says);
}

function say(text: string): void {
  const body = `process.stdout.write(\`${text} from \${import.meta.url}\`)`;
  writeFileSync(
    join(folder, 'cli', 'main.ts'),
    `export const main = async (_: readonly string[]): Promise<void> => void ${body};\n`,
  );
}

function started(): Promise<{ readonly says: string; readonly from: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(folder, 'cli', 'bin', 'joiner.mjs')]);
    const written = { out: '', error: '' };
    child.stdout.on('data', (chunk) => {
      written.out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      written.error += String(chunk);
    });
    child.on('close', (code) => {
      const [says = '', from = ''] = written.out.split(' from ');
      if (code === 0 && written.error === '') resolve({ says, from });
      else reject(new Error(`${code}: ${written.error}`));
    });
  });
}

const cached = (): readonly string[] => readdirSync(join(folder, 'node_modules/.cache/joiner'));

describe('the first run', () => {
  it('builds the bundle, and the next one runs from it', async () => {
    checkout('one');
    const first = await started();
    expect(first).toEqual({ says: 'one', from: expect.stringContaining('.cache/joiner/') });
    const [name = ''] = cached();
    const built = statSync(join(folder, 'node_modules/.cache/joiner', name, 'cli/bundle/main.mjs'));
    expect(await started()).toEqual(first);
    const [again = ''] = cached();
    const file = join(folder, 'node_modules/.cache/joiner', again, 'cli/bundle/main.mjs');
    expect(statSync(file).mtimeMs).toBe(built.mtimeMs);
  });

  it('builds anew when a source or the lock file is another', async () => {
    checkout('one');
    await started();
    say('two');
    expect((await started()).says).toBe('two');
    writeFileSync(join(folder, 'package-lock.json'), '{ "name": "other" }\n');
    expect((await started()).says).toBe('two');
    expect(cached()).toHaveLength(3);
  });

  it.each(READ)('builds anew when a file of %s is another', async (path) => {
    checkout('one');
    await started();
    const file = path.endsWith('.yaml') ? path : join(path, 'more.yaml');
    writeFileSync(join(folder, file), '{}\n');
    await started();
    expect(cached()).toHaveLength(2);
  });

  it('runs from the sources where nothing can be written', async () => {
    checkout('one');
    writeFileSync(join(folder, 'node_modules', '.cache'), 'no folder\n');
    expect(await started()).toEqual({ says: 'one', from: expect.stringMatching(/cli\/main\.ts$/) });
  });

  it('runs from the sources where there is no bundler', async () => {
    checkout('one');
    rmSync(join(folder, 'node_modules', 'esbuild'));
    expect(await started()).toEqual({ says: 'one', from: expect.stringMatching(/cli\/main\.ts$/) });
    expect(cached()).toEqual([]);
  });

  it('two at once leave one bundle', async () => {
    checkout('one');
    const both = await Promise.all([started(), started()]);
    expect(both.map(({ says }) => says)).toEqual(['one', 'one']);
    expect(cached()).toHaveLength(1);
  });
});

describe('after npm ci --ignore-scripts', () => {
  const own = async (): Promise<OwnNode> => import(join(ROOT, 'cli/bin/own-node.mjs'));

  it('the first run places the Node that came with the packages', async () => {
    const { ownNode, placeNode } = await own();
    const home = join(folder, 'node_modules', 'node');
    mkdirSync(home, { recursive: true });
    writeFileSync(
      join(home, 'installArchSpecificPackage.js'),
      `const fs = require('node:fs');
fs.mkdirSync('bin');
fs.writeFileSync('bin/' + ${JSON.stringify(ownNode('').split('/').at(-1))}, '');
`,
    );
    expect(placeNode(folder)).toBe(true);
    expect(existsSync(ownNode(folder))).toBe(true);
  });

  it('without packages there is none to place', async () => {
    expect((await own()).placeNode(folder)).toBe(false);
  });
});
