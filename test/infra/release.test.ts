import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReleaseFile, writeRelease } from '../../infra/release.ts';
import { zip } from '../../infra/zip.ts';
import { standInCode } from './synthesis.ts';

const folder = mkdtempSync(join(tmpdir(), 'joiner-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an archive', () => {
  const entries = [
    { name: 'index.mjs', data: Buffer.from('export const handler = 1;\n'.repeat(100)) },
    { name: 'deep/übung.json', data: Buffer.from('{}') },
  ];

  it('is read by another program', () => {
    const file = join(folder, 'try.zip');
    writeFileSync(file, zip(entries));
    const script = [
      'import zipfile, sys',
      'z = zipfile.ZipFile(sys.argv[1])',
      'assert z.testzip() is None',
      'print(*[f"{i.filename} {i.file_size} {oct(i.external_attr >> 16)}" for i in z.infolist()])',
    ].join('\n');
    const said = execFileSync('python3', ['-c', script, file], { encoding: 'utf8' });
    expect(said.trim()).toBe('deep/übung.json 2 0o100644 index.mjs 2600 0o100644');
  });

  it('has the same bytes in any order', () => {
    expect(zip(entries.toReversed())).toEqual(zip(entries));
  });
});

describe('a release', () => {
  let files: readonly ReleaseFile[] = [];
  beforeAll(() => {
    files = writeRelease({
      joiner: { cluster: 'demo', code: standInCode },
      bucket: 'releases',
      prefix: 'joiner/1.2.3/',
      folder,
    });
  }, 60_000);

  it('is a template and its code', () => {
    const [template, ...code] = files.map((each) => each.path);
    expect(template).toBe('template.json');
    // All functions have the same stand-in code here.
    expect(code).toEqual([expect.stringMatching(/^joiner\/1\.2\.3\/[0-9a-f]{64}\.zip$/)]);
  });

  it('finds its code in one bucket below one prefix, without a bootstrapped account', () => {
    const template = readFileSync(join(folder, 'template.json'), 'utf8');
    const keys = [...template.matchAll(/"S3Key": "([^"]+)"/g)].map(([, key]) => key);
    expect(keys).toHaveLength(7);
    expect(new Set(keys)).toEqual(new Set(files.slice(1).map((each) => each.path)));
    expect(template).toContain('"S3Bucket": "releases"');
    expect(template).not.toContain('BootstrapVersion');
    expect(template).not.toContain('cdk-hnb659fds');
  });
});
