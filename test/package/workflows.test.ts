import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { chromiumPath } from '../support/chromium.ts';
import { tracked } from '../support/repository.ts';

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
      matches(file, /npm (?:publish|install [^\n]*?)\s(\S*(?:dist|package)\/\S+\.tgz)/g),
    );
    expect(named.length).toBeGreaterThan(1);
    expect(named.filter((path) => !path.startsWith('./'))).toEqual([]);
  });

  it('may write nothing but what a job says', () => {
    const permissions = workflows.map((file) => parse(textOf(file)).permissions);
    expect(permissions).toEqual(workflows.map(() => ({ contents: 'read' })));
  });
});

describe('updates of dependencies', () => {
  it('are of every folder that has a lock file, and of the actions', () => {
    const { updates } = parse(readFileSync(join(ROOT, '.github', 'dependabot.yml'), 'utf8'));
    const covered = updates.map(
      (each: Readonly<Record<string, unknown>>) =>
        `${each['package-ecosystem']} ${each['directory']}`,
    );
    const locks = tracked.filter((file) => basename(file) === 'package-lock.json');
    const folders = locks.map((file) => (file.includes('/') ? `/${dirname(file)}` : '/'));
    const expected = ['github-actions /', ...folders.map((folder) => `npm ${folder}`)];
    expect(covered.toSorted()).toEqual(expected.toSorted());
  });
});

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
}

type JobName = 'build' | 'publish' | 'attest' | 'release';

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

describe('the release workflow', () => {
  const { jobs }: { readonly jobs: Readonly<Record<JobName, Job>> } = parse(textOf('release.yml'));
  const scriptsOf = ({ steps }: Job): readonly string[] =>
    steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const artefactsOf = (job: Job, action: string): readonly unknown[] =>
    job.steps
      .filter(({ uses }) => uses?.startsWith(`actions/${action}-artifact@`))
      .map((step) => step.with?.['name']);
  const mayWrite = ({ permissions = {} }: Job): boolean =>
    Object.values(permissions).includes('write');

  it('gives each permission to one job', () => {
    const given = Object.entries(jobs).map(([name, { permissions = {} }]) => [name, permissions]);
    expect(given).toEqual([
      ['build', {}],
      ['publish', { 'id-token': 'write' }],
      ['attest', { attestations: 'write', 'id-token': 'write' }],
      ['release', { contents: 'write' }],
    ]);
  });

  it('runs no code of the repository or of a dependency in a job that may write', () => {
    const writing = Object.values(jobs).filter(mayWrite);
    expect(writing.length).toBe(3);
    const actions = writing.flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    const allowed = /^actions\/(download-artifact|setup-node|attest-build-provenance)@/;
    expect(actions.filter((each) => !allowed.test(each))).toEqual([]);
    const commands = writing.flatMap(scriptsOf).flatMap((script) => script.trim().split('\n'));
    const known =
      /^(npm publish .* --ignore-scripts|gh release create .*|git .*|cd site|touch \S+)$/;
    expect(commands.filter((each) => !known.test(each.trim()))).toEqual([]);
  });

  it('is of the newest version, whatever candidates have a tag', () => {
    const [script = ''] = scriptsOf(jobs.build).filter((each) => each.includes('git tag'));
    const check = script.split('\n').slice(1).join('\n');
    const passes = (ref: string, tags: readonly string[]): boolean => {
      const git = `git() { printf '%s\\n' ${tags.join(' ')}; }`;
      const env = { PATH: process.env['PATH'], GITHUB_REF_NAME: ref };
      return spawnSync('bash', ['-eo', 'pipefail', '-c', `${git}\n${check}`], { env }).status === 0;
    };
    expect(passes('v0.2.0', ['v0.2.0', 'v0.1.0'])).toBe(true);
    expect(passes('v0.2.0', ['v1', 'v0.2.0-rc1', 'v0.2.0', 'v0.1.0'])).toBe(true);
    expect(passes('v0.1.0', ['v0.2.0-rc1', 'v0.2.0', 'v0.1.0'])).toBe(false);
  });

  it('passes no test that was skipped for an absent tool', () => {
    const tests = jobs.build.steps.filter(({ run }) => run === '.ci/run');
    expect(tests.map(({ env }) => env)).toEqual([{ JOINER_REQUIRE_E2E: '1' }]);
    const none = { PATH: '/nowhere' };
    expect(chromiumPath(none)).toBeUndefined();
    expect(() => chromiumPath({ ...none, JOINER_REQUIRE_E2E: '1' })).toThrow('no chromium');
  });

  it('publishes nothing before everything is built', () => {
    const needs = Object.values(jobs).map((job) => job.needs);
    expect(needs).toEqual([undefined, 'build', 'publish', 'attest']);
    const built = Object.entries(jobs).filter(([, job]) =>
      scriptsOf(job).some((script) => /npm (run|ci|test)|\.ci\/run/.test(script)),
    );
    expect(built.map(([name]) => name)).toEqual(['build']);
  });

  it('takes what the build has uploaded, all of it', () => {
    const uploaded = artefactsOf(jobs.build, 'upload');
    const taken = [jobs.publish, jobs.release].flatMap((job) => artefactsOf(job, 'download'));
    expect(taken.toSorted()).toEqual(uploaded.toSorted());
    expect(artefactsOf(jobs.publish, 'download')).toEqual(['package']);
    expect(artefactsOf(jobs.attest, 'download')).toEqual(['release']);
  });

  it('releases the files that the page of the installation lists', () => {
    const page = readFileSync(join(ROOT, 'docs', 'start', 'install.md'), 'utf8');
    const [, table = ''] = page.split('## What a release has');
    const listed = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, file = '']) => file);
    expect(listed.length).toBeGreaterThan(5);
    const copies = scriptsOf(jobs.build)
      .flatMap((script) => script.split('\n'))
      .filter((line) => /^cp .* dist\/release$/.test(line));
    const copied = copies
      .flatMap((line) => line.split(' ').slice(1, -1))
      .map((path) => path.replace('$version', 'VERSION').replace(/^.*\//, ''));
    expect(copied.toSorted()).toEqual(listed.toSorted());
  });
});
