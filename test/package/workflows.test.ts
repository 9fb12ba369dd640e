import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, '.github', 'workflows');
const workflows = readdirSync(FOLDER);
const textOf = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');

describe('workflows', () => {
  const matches = (file: string, pattern: RegExp): readonly string[] =>
    [...textOf(file).matchAll(pattern)].map(([, found = '']) => found);

  it('pin each action to a commit, since a tag can be moved', () => {
    const used = workflows.flatMap((file) => matches(file, /uses: (.*)$/gm));
    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((each) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d/.test(each))).toEqual([]);
  });

  it('run scripts and files that are there', () => {
    const scripts = workflows.flatMap((file) => matches(file, /npm run ([\w:]+)/g));
    expect(scripts.filter((name) => !(name in packageJson.scripts))).toEqual([]);
    const files = workflows.flatMap((file) => matches(file, /(?:run: |node )(\S+\/\S+)/g));
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('name packed files by a path that npm takes for one', () => {
    const named = workflows.flatMap((file) =>
      matches(file, /npm (?:publish|install [^\n]*?)\s(\S*dist\/\S+\.tgz)/g),
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((path) => !path.startsWith('./'))).toEqual([]);
  });

  it('publish nothing before everything is built', () => {
    const release = textOf(workflows.find((file) => file.endsWith('release.yml')) ?? '');
    const published = release.indexOf('npm publish');
    const built = [...release.matchAll(/npm run (?!--silent\b)?[\w:-]+/g)].map(
      ({ index }) => index,
    );
    expect(published).toBeGreaterThan(0);
    expect(built.filter((at) => at > published)).toEqual([]);
  });

  it('may write nothing but what a job says', () => {
    const permissions = workflows.map((file) => parse(textOf(file)).permissions);
    expect(permissions).toEqual(workflows.map(() => ({ contents: 'read' })));
  });
});
