import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
/** The quickest suite that needs a control plane. */
const SUITE = 'test/e2e/batch-window.test.ts';

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

let folder = '';

/** Folders in which only these programs are found. */
async function pathWith(programs: Readonly<Record<string, string>>): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'));
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  await symlink(process.execPath, join(bin, 'node'));
  return bin;
}

/** The suite in a machine without a kept control plane, as `npm test` runs it. */
async function run(
  programs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const home = await mkdtemp(join(folder, 'home-'));
  const clean = { PATH: `${await pathWith(programs)}:/bin`, HOME: home, ...env };
  const args = ['scripts/run.mjs', 'scripts/test.ts', '--project', 'e2e', SUITE];
  return await new Promise((resolve) => {
    const options = { cwd: ROOT, env: clean, timeout: 100_000 };
    execFile(process.execPath, args, options, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, out, err });
    });
  });
}

/** Says where it would build, and cannot. */
const BROKEN_GO = {
  go: '[ "$1" = env ] && echo go1.25 linux amd64 && exit 0; echo no >&2; exit 1',
};

describe('where no control plane can be had', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-skips-'));
    await mkdir(folder, { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('without Go the suites skip with one line and are counted', async () => {
    const { code, out, err } = await run({});
    expect(code).toBe(0);
    const lines = `${out}${err}`.split('\n').filter((line) => line.startsWith('skipped: '));
    expect(lines).toEqual([
      'skipped: the batch window on a real control plane: Go is not installed',
    ]);
    expect(out.trim().split('\n').at(-1)).toBe('0 passed, 0 failed, 1 skipped');
  });

  it('with JOINER_REQUIRE_E2E=1 that is an error', async () => {
    const { code, out, err } = await run({}, { JOINER_REQUIRE_E2E: '1' });
    expect(code).toBe(1);
    expect(`${out}${err}`).toContain('there is no control plane: Go is not installed');
  });

  it('with Go a build that fails skips on a machine and fails in CI', async () => {
    const local = await run(BROKEN_GO);
    expect(local.code).toBe(0);
    expect(`${local.out}${local.err}`).toContain('the control plane did not build');
    const ci = await run(BROKEN_GO, { CI: '1' });
    expect(ci.code).toBe(1);
    expect(`${ci.out}${ci.err}`).toContain('the control plane for tests did not build');
  });
});
