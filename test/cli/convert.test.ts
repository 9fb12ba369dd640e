import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import { isJson } from '../../shared/sim/json.ts';
import { inFolder, joiner } from './run.ts';

const here = join(import.meta.dirname, 'convert');
const golden = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

/** Faults of what claims to be v1, by the schema of v1. */
function faults(yaml: string): readonly unknown[] {
  const objects = parseAllDocuments(yaml).map((each): unknown => each.toJS());
  return objects.flatMap((object): readonly unknown[] => {
    if (!isJson(object)) return [object];
    const { apiVersion, kind } = object;
    const isPool = apiVersion === 'karpenter.sh/v1' && kind === 'NodePool';
    const isClass = apiVersion === 'karpenter.k8s.aws/v1' && kind === 'EC2NodeClass';
    if (!isPool && !isClass) return [];
    const decoded = isPool ? decodeNodePool(object) : decodeEC2NodeClass(object);
    return decoded.ok ? [] : decoded.issues;
  });
}

/** Whole files as people read them; `npx vitest run --project cli -u` writes them anew. */
describe('joiner convert', () => {
  it.each(golden)('%s', async (name) => {
    const file = join(here, name, 'old.yaml');
    const { exitCode, stdout, stderr } = await joiner('convert', '-f', file);
    expect(exitCode).toBe(0);
    await expect(stdout).toMatchFileSnapshot(join(here, name, 'v1.yaml'));
    const notes = stderr.replaceAll(`${here}/`, '');
    await expect(notes).toMatchFileSnapshot(join(here, name, 'notes.txt'));
  });

  it.each(golden)('what it makes of %s is valid, and stays as it is', async (name) => {
    const { stdout: once } = await joiner('convert', join(here, name, 'old.yaml'));
    expect(faults(once)).toEqual([]);
    await inFolder({ 'v1.yaml': once }, async (folder) => {
      const again = await joiner('convert', join(folder, 'v1.yaml'));
      expect(again.stdout).toBe(once);
      const changed = again.stderr.split('\n').filter((line) => /NodePool|NodeClass/.test(line));
      expect(changed).toEqual([]);
    });
  });

  it('reads standard input, as one of a pipe', () => {
    const main = join(here, '..', '..', '..', 'cli', 'main.ts');
    const file = join(here, 'cpu-memory-gpu', 'old.yaml');
    const input = readFileSync(file);
    const run = (...paths: readonly string[]) =>
      execFileSync(process.execPath, [main, 'convert', ...paths], {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'pipe'],
      });
    const expected = readFileSync(join(here, 'cpu-memory-gpu', 'v1.yaml'), 'utf8');
    expect(run('-f', '-')).toBe(expected);
    expect(run('-')).toBe(expected);
  });

  it('has the same as JSON', async () => {
    const file = join(here, 'in-a-pipe', 'old.yaml');
    const { exitCode, stdout } = await joiner('convert', file, '-o', 'json');
    expect(exitCode).toBe(0);
    const found = JSON.parse(stdout);
    expect(Object.keys(found)).toEqual(['joiner', 'objects', 'notes']);
    expect(found.objects.map((each: { kind: string }) => each.kind)).toEqual([
      'Deployment',
      'NodePool',
      'NodeOverlay',
      'NodePool',
    ]);
    expect(found.notes).toContainEqual({
      object: 'Deployment/web',
      field: 'spec.template.metadata.annotations.karpenter.sh/do-not-evict',
      message: 'karpenter.sh/do-not-evict has no meaning in v1: write karpenter.sh/do-not-disrupt',
    });
    for (const note of found.notes)
      expect(Object.keys(note)).toEqual(['object', 'field', 'message']);
  });

  it('quotes what kubectl would not read as text', async () => {
    const values = ['yes', 'off', 'y', '0644', '1e3', '0x1f', '2026-01-01', 'null', '1_000'];
    const labels = Object.fromEntries(values.map((value, at) => [`l${at}`, value]));
    const object = {
      apiVersion: 'karpenter.sh/v1alpha5',
      kind: 'Provisioner',
      metadata: { name: 'a' },
      spec: { providerRef: { name: 'a' }, labels },
    };
    await inFolder({ 'a.json': JSON.stringify(object) }, async (folder) => {
      const { stdout } = await joiner('convert', folder);
      for (const [key, value] of Object.entries(labels)) {
        expect(stdout).toContain(`${key}: "${value}"\n`);
      }
    });
  });

  it('exits 1 with --strict where there is a note, and 0 where there is none', async () => {
    const old = join(here, 'v1beta1', 'old.yaml');
    const strict = await joiner('convert', old, '--strict');
    expect(strict.exitCode).toBe(1);
    expect(strict.stdout).toBe((await joiner('convert', old)).stdout);
    const v1 = join(here, 'v1beta1', 'v1.yaml');
    expect(await joiner('convert', v1, '--strict')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([
    ['--role', 'role: nodes'],
    ['--instance-profile', 'instanceProfile: nodes'],
  ])('takes %s for classes that name none', async (option, written) => {
    const text = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: a}
spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, amiFamily: Bottlerocket}
`;
    await inFolder({ 'a.yaml': text }, async (folder) => {
      const { stdout, stderr } = await joiner('convert', folder, option, 'nodes');
      expect(stdout).toContain(`  ${written}\n`);
      expect(stdout).not.toContain('$');
      expect(stderr).toContain(`${written.replace(':', '')} is taken from ${option}`);
    });
  });
});
