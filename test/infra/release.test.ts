import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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
  const out = join(folder, 'release');
  let files: readonly ReleaseFile[] = [];
  beforeAll(() => {
    files = writeRelease({
      joiner: { cluster: 'demo', code: standInCode },
      bucket: 'releases',
      prefix: 'joiner/1.2.3/',
      folder: out,
    });
  });

  it('is a template and its code', () => {
    const [template, ...code] = files.map((each) => each.path);
    expect(template).toBe('template.json');
    // All functions have the same stand-in code here.
    expect(code).toEqual([expect.stringMatching(/^joiner\/1\.2\.3\/[0-9a-f]{64}\.zip$/)]);
  });

  it('finds its code in one bucket below one prefix, without a bootstrapped account', () => {
    const template = readFileSync(join(out, 'template.json'), 'utf8');
    const keys = [...template.matchAll(/"S3Key": "([^"]+)"/g)].map(([, key]) => key);
    expect(keys).toHaveLength(8);
    expect(new Set(keys)).toEqual(new Set(files.slice(1).map((each) => each.path)));
    expect(template).toContain('"S3Bucket": "releases"');
    expect(template).not.toContain('BootstrapVersion');
    expect(template).not.toContain('cdk-hnb659fds');
  });
});

describe('a release into a folder', () => {
  const release = (folder: string) =>
    writeRelease({
      joiner: { cluster: 'demo', region: 'eu-west-1', reaction: 'tick', code: standInCode },
      bucket: 'releases',
      prefix: 'joiner/1.2.4/',
      folder,
    });

  it('takes what an earlier one left away, and is for the region', () => {
    const out = join(folder, 'again');
    mkdirSync(join(out, 'joiner/1.2.3'), { recursive: true });
    writeFileSync(join(out, 'joiner/1.2.3', `${'0'.repeat(64)}.zip`), '');
    const written = release(out).map((each) => each.path);
    const there = readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(out, join(entry.parentPath, entry.name)));
    expect(there.toSorted()).toEqual(written.toSorted());
    expect(readFileSync(join(out, 'template.json'), 'utf8')).toContain('JoinerNode-eu-west-1-demo');
  });

  it.each<[string, (out: string) => void]>([
    ['a file', (out) => writeFileSync(join(out, 'strange'), 'all of it')],
    ['an empty folder', (out) => mkdirSync(join(out, 'strange'))],
    [
      'an empty folder in a folder',
      (out) => mkdirSync(join(out, 'strange/deep'), { recursive: true }),
    ],
    ['a link to a file', (out) => symlinkSync(join(out, 'template.json'), join(out, 'strange'))],
    ['a link to a folder', (out) => symlinkSync(folder, join(out, 'strange'))],
    ['a link to nothing', (out) => symlinkSync(join(folder, 'nothing'), join(out, 'strange'))],
  ])('leaves a folder alone that also holds %s', (_, put) => {
    const out = mkdtempSync(join(folder, 'home-'));
    writeFileSync(join(out, 'template.json'), 'of the earlier one');
    put(out);
    const before = readdirSync(out, { recursive: true });
    expect(() => release(out)).toThrow(
      `${join(out, 'strange')}, which is of no release: name another folder`,
    );
    expect(readdirSync(out, { recursive: true })).toEqual(before);
    expect(readFileSync(join(out, 'template.json'), 'utf8')).toBe('of the earlier one');
  });

  it('keeps a link to a folder that is to get it', () => {
    const [out, link] = [join(folder, 'linked'), join(folder, 'link')];
    mkdirSync(out);
    writeFileSync(join(out, 'template.json'), 'of the earlier one');
    symlinkSync(out, link);
    release(link);
    expect(readFileSync(join(out, 'template.json'), 'utf8')).toContain('JoinerNode');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});
