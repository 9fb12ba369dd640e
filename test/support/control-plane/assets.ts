import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The parts of a control plane, each a link or a file of this name in the folder. */
const PARTS = ['etcd', 'kube-apiserver', 'kube-scheduler', 'kube-controller-manager'] as const;

/** A Kubernetes release and the Go module file that pins it and its staging modules. */
interface Release {
  readonly version: string;
  readonly moduleFile: string;
}

/** By the value of JOINER_KUBERNETES; tests run on {@link DEFAULT_RELEASE} without it. */
const RELEASES: Readonly<Record<string, Release>> = {
  '1.35': { version: '1.35.4', moduleFile: 'go.mod' },
  '1.33': { version: '1.33.13', moduleFile: 'kubernetes-1.33.mod' },
  '1.34': { version: '1.34.4', moduleFile: 'kubernetes-1.34.mod' },
  '1.36': { version: '1.36.3', moduleFile: 'kubernetes-1.36.mod' },
};
const DEFAULT_RELEASE = '1.35';

const VERSION_PACKAGE = 'k8s.io/component-base/version';

function linkerFlags({ version }: Release): string {
  const [major, minor] = version.split('.');
  return [
    '-s -w',
    `-X ${VERSION_PACKAGE}.gitVersion=v${version}`,
    `-X ${VERSION_PACKAGE}.gitMajor=${major}`,
    `-X ${VERSION_PACKAGE}.gitMinor=${minor}`,
    `-X ${VERSION_PACKAGE}.gitTreeState=clean`,
  ].join(' ');
}

/** A cold build took 3 min 46 s on two cores; a lock older than this belongs to a dead build. */
const BUILD_MS_MAX = 30 * 60_000;
const LOCK_POLL_MS = 500;

/** A folder with the control plane's programs, or why there is none. */
export type Assets =
  | { readonly kind: 'found'; readonly folder: string }
  | { readonly kind: 'absent'; readonly reason: string };

let search: Promise<Assets> | undefined;

/**
 * The control plane's programs: `KUBEBUILDER_ASSETS`, else a build kept in the user's cache folder,
 * else built now. Absent means that the tests skip; with `JOINER_REQUIRE_E2E=1`, and where a build
 * fails in CI, it is an error instead.
 */
export function findAssets(env: NodeJS.ProcessEnv = process.env): Promise<Assets> {
  search ??= locate(env).then((assets) => {
    if (assets.kind === 'absent' && env['JOINER_REQUIRE_E2E'] === '1') {
      throw new Error(`JOINER_REQUIRE_E2E=1, but there is no control plane: ${assets.reason}`);
    }
    return assets;
  });
  return search;
}

/** What is built once for tests is kept here, outside the repository. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'joiner');
}

async function locate(env: NodeJS.ProcessEnv): Promise<Assets> {
  const given = env['KUBEBUILDER_ASSETS'];
  if (given !== undefined && given !== '') {
    if (await isComplete(given)) return { kind: 'found', folder: given };
    return { kind: 'absent', reason: `KUBEBUILDER_ASSETS=${given} lacks one of ${PARTS}` };
  }
  const goVersion = await run('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH']).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
  if (goVersion === undefined) return { kind: 'absent', reason: 'Go is not installed' };
  const cache = cacheFolder(env);
  const release = releaseOf(kubernetesRelease(env));
  const folder = join(cache, `control-plane-${await cacheKey(goVersion, release)}`);
  try {
    await buildOnce(folder, release);
    return { kind: 'found', folder };
  } catch (cause) {
    if (env['CI']) throw new Error('the control plane for tests did not build', { cause });
    const line = String(cause).split('\n').slice(0, 3).join(' ');
    return { kind: 'absent', reason: `the control plane did not build: ${line}` };
  }
}

/** The Kubernetes release that tests run on, such as 1.35. */
export function kubernetesRelease(env: NodeJS.ProcessEnv): string {
  return env['JOINER_KUBERNETES'] ?? DEFAULT_RELEASE;
}

function releaseOf(name: string): Release {
  const release = RELEASES[name];
  if (release !== undefined) return release;
  const known = Object.keys(RELEASES).sort().join(', ');
  throw new Error(`JOINER_KUBERNETES=${name}: expected one of ${known}`);
}

/** Another source or toolchain is another folder, so a stale binary is never used. */
async function cacheKey(goVersion: string, release: Release): Promise<string> {
  const { moduleFile } = release;
  const hash = createHash('sha256').update(goVersion).update(linkerFlags(release));
  for (const file of ['main.go', moduleFile, moduleFile.replace(/mod$/, 'sum')]) {
    hash.update(await readFile(join(import.meta.dirname, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function isComplete(folder: string): Promise<boolean> {
  const found = await Promise.all(PARTS.map((part) => exists(join(folder, part))));
  return found.every(Boolean);
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Test files run in several processes: the first one builds, the others wait for its folder. */
async function buildOnce(folder: string, release: Release): Promise<void> {
  const lock = `${folder}.lock`;
  const deadline = Date.now() + BUILD_MS_MAX;
  await mkdir(join(folder, '..'), { recursive: true });
  while (!(await isComplete(folder))) {
    if (await takeLock(lock)) {
      try {
        if (!(await isComplete(folder))) await build(folder, release);
      } finally {
        await rm(lock, { force: true });
      }
      return;
    }
    if (Date.now() > deadline) throw new Error(`${lock} is held for too long`);
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS));
  }
}

/** The lock file names its process; a lock whose process is gone is removed and tried again. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
    if (Number.isSafeInteger(holder) && holder > 0 && !isAlive(holder)) {
      await rm(lock, { force: true });
    }
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Built beside the final place and renamed into it, so that a torn build is never seen. */
async function build(folder: string, release: Release): Promise<void> {
  const draft = `${folder}.draft-${process.pid}`;
  process.stderr.write('building the Kubernetes control plane for tests, once (about 5 minutes)\n');
  try {
    await mkdir(draft, { recursive: true });
    const output = join(draft, 'control-plane');
    const flags = ['-mod=readonly', `-modfile=${release.moduleFile}`, '-trimpath'];
    await run('go', ['build', ...flags, '-ldflags', linkerFlags(release), '-o', output, '.'], {
      cwd: import.meta.dirname,
      // An older Go fetches the toolchain that the release asks for, through the module proxy.
      env: { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' },
      maxBuffer: 1 << 24,
      timeout: BUILD_MS_MAX,
    });
    for (const part of PARTS) await symlink('control-plane', join(draft, part));
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
