/**
 * The command line as a bundle, which starts several times faster than its sources do. It is built
 * at the first run, into a folder named after everything it is built from: whatever changes there
 * makes another name, and nothing that is in use is ever written to.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Files that commands read, at their place beside the bundle. */
export const READ = [
  'infra/crds',
  'infra/rbac',
  'infra/flow-control',
  'infra/terraform',
  'docs/viewer-role.yaml',
  'docs/approver-role.yaml',
  'docs/handover-role.yaml',
  'docs/headlamp-role.yaml',
  'docs/rollout-role.yaml',
  'examples',
  'bench/compare',
];

/** Folders and files that the bundle is built from; packages count by what npm noted of them. */
const FROM = [
  'cli',
  'shared',
  ...READ,
  'scripts/build-cli.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];

/** Bundles of other sources are kept so long for processes that still run from them. */
const KEPT_MS = 24 * 3600 * 1000;

function filesBelow(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) return [`${path} ${stat.size} ${stat.mtimeMs}`];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesBelow(join(path, name)));
}

/** A name that changes with every source's size or time, with the lock file and with Node. */
export function fingerprint(root) {
  const hash = createHash('sha256').update(`${process.version} ${root}\n`);
  for (const path of FROM) hash.update(`${filesBelow(join(root, path)).join('\n')}\n`);
  return hash.digest('hex').slice(0, 20);
}

/** Removes bundles of other sources that are old enough for nobody to run from them. */
function forgetOld(cache, key) {
  for (const name of readdirSync(cache)) {
    const { mtimeMs } = statSync(join(cache, name), { throwIfNoEntry: false }) ?? {};
    const isOld = mtimeMs !== undefined && Date.now() - mtimeMs > KEPT_MS;
    if (name !== key && isOld) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

/** Builds into a folder of this process alone and gives that its name; whether it is there now. */
async function build(root, cache, key) {
  const folder = join(cache, key);
  const own = join(cache, `${key}.${process.pid}`);
  try {
    mkdirSync(own, { recursive: true });
    const script = pathToFileURL(join(root, 'scripts', 'build-cli.ts'));
    const { buildCommand } = await import(script.href);
    await buildCommand(own, READ);
    renameSync(own, folder);
    forgetOld(cache, key);
  } catch {
    // Not writable, no bundler, or another process was first: what runs is the same.
    if (existsSync(own)) rmSync(own, { recursive: true, force: true });
  }
  return existsSync(folder);
}

/** The file whose `main` is the command line: the bundle's, or the source where there is none. */
export async function commandOf(root) {
  const cache = join(root, 'node_modules', '.cache', 'joiner');
  const key = fingerprint(root);
  const isThere = existsSync(join(cache, key)) || (await build(root, cache, key));
  if (!isThere) return join(root, 'cli', 'main.ts');
  enableCompileCache(join(cache, key, 'compiled'));
  return join(cache, key, 'cli', 'bundle', 'main.mjs');
}
