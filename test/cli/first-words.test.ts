import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CONFIG } from './kubeconfig.ts';
import { NODE_CLASS, NODE_OVERLAY, NODE_POOL, POD } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace(/ {6}taints:[\s\S]*?NoSchedule\n/, '');
const MAIN = join(import.meta.dirname, '..', '..', 'cli', 'bin', 'joiner.mjs');

/** The command as a pipe's end. */
function piped(input: string, ...args: readonly string[]) {
  return spawnSync(process.execPath, [MAIN, ...args], { input, encoding: 'utf8' });
}

describe('manifests from standard input', () => {
  const rendered = `---\n# Source: web/templates/empty.yaml\n---\n${[NODE_CLASS, POOL, NODE_OVERLAY, POD].join('---\n')}`;

  it.each([
    ['simulate', '-', '--bare', '--duration', '3m'],
    ['simulate', '-f', '-', '--bare', '--duration', '3m'],
    ['diagnose', '-f', '-'],
  ])('%s %s %s', (...line) => {
    const { status, stdout, stderr } = piped(rendered, ...line);
    expect({ status, stderr: stderr.includes('error') }).toEqual({ status: 0, stderr: false });
    expect(stdout).toContain(line[0] === 'simulate' ? '1 running' : 'dearer');
  });

  it('waits for a writer that is slow, and reads more than a pipe holds', async () => {
    const long = `${rendered}---\n${`# ${'x'.repeat(98)}\n`.repeat(2000)}`;
    await inFolder({ 'a.yaml': long }, async (folder) => {
      const line = `(sleep 2; cat "${folder}/a.yaml"; sleep 1) | "${process.execPath}" "${MAIN}" simulate - --bare --duration 3m`;
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { encoding: 'utf8' });
      expect({ status, stderr }).toMatchObject({ status: 0 });
      expect(stdout).toContain('1 running');
    });
  });

  it('plan -f - reads them, too', async () => {
    await inFolder({ config: CONFIG }, async (folder) => {
      const { stderr } = piped(rendered, 'plan', '--kubeconfig', `${folder}/config`, '-f', '-');
      // There is no cluster to ask; the option is taken.
      expect(stderr).toMatch(/^error: (?!.*-f)/);
    });
  });

  it('what is no YAML is told as of standard input', () => {
    const { status, stderr } = piped('{{ .Values }}\n', 'simulate', '-');
    expect(status).toBe(2);
    expect(stderr).toContain('error: standard input: is a template');
  });
});

describe('kinds of joiner explain', () => {
  const asked = async (...args: readonly string[]) =>
    inFolder({ config: CONFIG }, (folder) =>
      joiner('explain', ...args, '--kubeconfig', `${folder}/config`),
    );

  it.each([
    ...['pod/web', 'pods/web', 'po/web', 'Pod/web', 'node/a', 'no/a', 'nodes/a'],
    ...['nodeclaim/a', 'nodeclaims/a', 'NodeClaim/a', 'nodeclaims.karpenter.sh/a'],
    ...['deploy/web', 'deployment/web', 'rs/web', 'sts/web', 'ds/web', 'job/web', 'cj/web'],
    ...['po web', 'Pod web', 'pods default/web', 'Pod/default/web'],
  ])('%s is asked of the cluster', async (line) => {
    const { exitCode, stderr } = await asked(...line.split(' '));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 1 });
    expect(stderr).not.toContain('expected');
  });

  it.each([
    ['service/web', 'service: expected pod, node, nodeclaim, deployment, replicaset,'],
    ['web', 'expected a kind and a name, such as pod/web'],
    ['pod', 'expected a kind and a name, such as pod/web'],
    ['pod/', 'expected a kind and a name, such as pod/web'],
  ])('%s is refused', async (line, says) => {
    const { exitCode, stderr } = await asked(...line.split(' '));
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
    expect(stderr).toContain(says);
  });
});

describe('a kubeconfig that is none', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it.each([
    ['absent', 'no such file'],
    ['.', 'is a folder'],
    ['binary', 'is not a text file'],
    ['words', 'is no kubeconfig'],
    ['broken', 'is no YAML'],
  ])('%s: %s', async (name, says) => {
    const files = { words: 'just words\n', broken: 'clusters: [\n' };
    await inFolder(files, async (folder) => {
      writeFileSync(join(folder, 'binary'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]));
      const file = join(folder, name);
      for (const given of ['--kubeconfig', 'KUBECONFIG']) {
        vi.stubEnv('KUBECONFIG', given === 'KUBECONFIG' ? file : '');
        const option = given === 'KUBECONFIG' ? [] : ['--kubeconfig', file];
        const { exitCode, stderr } = await joiner('plan', ...option);
        expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
        expect(stderr.split('\n')).toEqual([expect.stringContaining(`${file}: ${says}`), '']);
        expect(stderr).toMatch(/^error: kubeconfig: /);
      }
    });
  });
});
