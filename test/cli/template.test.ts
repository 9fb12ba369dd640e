import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { joiner } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'joiner-template-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const out = join(folder, 'out');
const template = (...args: readonly string[]) =>
  joiner('template', '--cluster', 'demo', '-o', out, ...args);

describe('joiner template', () => {
  it.each([
    [['--bucket', 'UPPER_bad'], '--bucket is "UPPER_bad", but has to be a bucket\'s name'],
    [['--bucket', 'releases', '--prefix', 'no-slash'], '--prefix is "no-slash", but has to be'],
    [['--bucket', 'releases', '--prefix', '../up/'], '--prefix is "../up/", but has to be'],
    [['--bucket', 'releases', '--set', 'regoin=eu-west-1'], 'did you mean region?'],
    [['--bucket', 'releases', '--set', 'region'], '--set region: expected PROP=VALUE'],
    [['--bucket', 'releases', '--settings', join(folder, 'none.json')], 'no such file'],
    [[], "required option '--bucket <bucket>' not specified"],
    [
      ['--bucket', 'releases', '--set', 'cluster=other'],
      '--cluster is "demo", but the settings have "other"',
    ],
  ])('%j is refused, and nothing is written', async (args, message) => {
    const { exitCode, stderr } = await template(...args);
    expect(stderr).toContain(message);
    expect(exitCode).toBe(2);
    expect(existsSync(out)).toBe(false);
  });

  it('prints the commands for where it wrote, with all settings', async () => {
    const settings = join(folder, 'settings.yaml');
    writeFileSync(settings, 'reaction: watch\nlogRetentionDays: 7\n');
    const { exitCode, stdout, stderr } = await joiner(
      ...['template', '--cluster', 'blue_1', '--region', 'eu-west-1', '--bucket', 'releases'],
      ...['--prefix', 'a/b/', '--settings', settings, '--set', 'reaction=tick', '-o', out],
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const copy = `aws s3 cp --region eu-west-1 --recursive ${out}/a/b/ s3://releases/a/b/`;
    expect(stdout).toContain(copy);
    // CloudFormation allows no underscore.
    expect(stdout).toContain('--stack-name joiner-blue-1-97a219c9 ');
    expect(stdout).toContain('stackName=joiner-blue-1-97a219c9\n');
    const written = readFileSync(join(out, 'template.json'), 'utf8');
    expect(written).toContain('JoinerNode-eu-west-1-blue_1');
    expect(written).toContain('"RetentionInDays": 7');
    expect(written).not.toContain('joiner-blue_1-watch');
    expect(readdirSync(join(out, 'a/b')).length).toBeGreaterThan(5);
  }, 120_000);
});

describe('the next steps of joiner template', () => {
  it('are commands that a shell reads as they are meant', async () => {
    const spaced = join(folder, "it's here");
    const { stdout } = await joiner(
      ...['template', '--cluster', 'demo', '--bucket', 'releases', '-o', spaced],
    );
    const [, commands = ''] = /^Next:\n(.*?)^Or, /ms.exec(stdout) ?? [];
    const script = `aws() { printf '<%s>\\n' "$@"; }\n${commands}`;
    const run = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
    expect(run.stderr).toBe('');
    expect(run.stdout).toContain(`<${spaced}/joiner/${packageJson.version}/>\n<s3://releases/`);
    expect(run.stdout).toContain(`<${spaced}/template.json>\n`);
  }, 120_000);

  it('have the region of the settings and the domain of its partition', async () => {
    const { stdout } = await template('--bucket', 'releases', '--set', 'region=cn-north-1');
    expect(stdout).toContain(`aws s3 cp --region cn-north-1 --recursive ${out}/`);
    expect(stdout).toContain('https://console.amazonaws.cn/cloudformation/home?region=cn-north-1#');
    expect(stdout).toContain('releases.s3.cn-north-1.amazonaws.com.cn');
  }, 120_000);
});

describe('joiner export', () => {
  it.each([
    ['chart', 'joiner-crds/Chart.yaml'],
    ['terraform', 'joiner-terraform/main.tf'],
    ['manifests', 'joiner-manifests/rbac/watch.yaml'],
    ['manifests', 'joiner-manifests/crds/karpenter.sh_nodepools.yaml'],
    ['roles', 'joiner-roles/viewer-role.yaml'],
    ['roles', 'joiner-roles/rollout-role.yaml'],
    ['examples', 'examples/07-spread-and-spot/workload.yaml'],
    ['examples', 'bench/compare/mixed'],
  ])('%s writes %s', async (what, path) => {
    const into = join(folder, what);
    const { exitCode, stdout } = await joiner('export', what, '-o', into);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(into);
    expect(existsSync(join(into, path))).toBe(true);
  });

  it.each([
    ['chart', 'joiner-crds', 'values.yaml'],
    ['chart', 'joiner-crds', 'templates/of-an-older-version.yaml'],
    ['terraform', 'joiner-terraform', 'of-an-older-version.tf'],
    ['manifests', 'joiner-manifests', 'rbac/of-an-older-version.yaml'],
    ['manifests', 'joiner-manifests', 'own/a.yaml'],
    ['roles', 'joiner-roles', 'own.yaml'],
    ['examples', 'examples', 'own.yaml'],
  ])('%s leaves %s/%s as it is, and says so', async (what, name, own) => {
    const into = mkdtempSync(join(folder, 'again-'));
    const file = join(into, name, own);
    const first = await joiner('export', what, '-o', into);
    expect(first.stderr).toBe('');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'mine: true\n');
    const { exitCode, stderr } = await joiner('export', what, '-o', into);
    expect(exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('mine: true\n');
    const named = own.startsWith('own/') ? dirname(file) : file;
    expect(stderr).toBe(
      `note: ${named}: left as it is, but not of this version: remove it if an older version wrote it\n`,
    );
  });

  it('overwrites its own files', async () => {
    const file = join(folder, 'chart', 'joiner-crds', 'Chart.yaml');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'name: another\n');
    const { exitCode, stderr } = await joiner('export', 'chart', '-o', join(folder, 'chart'));
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(readFileSync(file, 'utf8')).toContain('name: joiner-crds');
  });

  it('says what else was meant', async () => {
    const { exitCode, stderr } = await joiner('export', 'charts');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('did you mean chart?');
  });
});
