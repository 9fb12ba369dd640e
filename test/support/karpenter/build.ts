import { execFile } from 'node:child_process';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AWS, exists, goVersion, moduleCopy } from '../../karpenter/module.ts';
import { cacheFolder } from '../control-plane/assets.ts';

const run = promisify(execFile);

const BUILD_MS_MAX = 60 * 60_000;

/** Karpenter's controller of a release, or why there is none. */
export type KarpenterBuild =
  | { readonly kind: 'built'; readonly program: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** The release, built by Go into the user's cache; it takes minutes once. */
export async function buildKarpenter(version: string): Promise<KarpenterBuild> {
  const folder = join(cacheFolder(process.env), 'karpenter', 'controllers');
  const program = join(folder, version);
  if (await exists(program)) return { kind: 'built', program };
  if ((await goVersion()) === undefined) return { kind: 'absent', reason: 'Go is not installed' };
  process.stderr.write(`building Karpenter ${version}\n`);
  const cwd = await moduleCopy(AWS, `v${version}`);
  await mkdir(folder, { recursive: true });
  const draft = `${program}.draft-${process.pid}`;
  await run('go', ['build', '-mod=mod', '-o', draft, './cmd/controller'], {
    cwd,
    maxBuffer: 1 << 24,
    timeout: BUILD_MS_MAX,
  });
  await rename(draft, program);
  return { kind: 'built', program };
}
