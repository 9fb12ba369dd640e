import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  access,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { property, text } from '../../shared/kube/list.ts';
import { cacheFolder } from '../support/control-plane/assets.ts';
import { changed, type Edits } from './edits.ts';

const run = promisify(execFile);

/** The release whose suites are run; what Joiner is compared with in docs/compatibility.md. */
export const KARPENTER = 'v1.14.1';

export const CORE = 'sigs.k8s.io/karpenter';
export const AWS = 'github.com/aws/karpenter-provider-aws';
export type Module = typeof CORE | typeof AWS;

const BUILD_MS_MAX = 30 * 60_000;

/** Copies of modules and built suites; outside the repository, as the control plane. */
function folder(): string {
  return join(cacheFolder(process.env), 'karpenter');
}

export async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Go's version; undefined: Go is not installed. */
export async function goVersion(): Promise<string | undefined> {
  return await run('go', ['env', 'GOVERSION', 'GOOS', 'GOARCH']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/**
 * A copy of the module's release, which Go has fetched and checked: it takes no overlays over files
 * of its module cache.
 */
export async function moduleCopy(module: Module, version = KARPENTER): Promise<string> {
  const copy = join(folder(), `${module.replaceAll('/', '-')}-${version}`);
  if (await exists(copy)) return copy;
  const { stdout } = await run('go', ['mod', 'download', '-json', `${module}@${version}`], {
    maxBuffer: 1 << 24,
  });
  const draft = `${copy}.draft-${process.pid}`;
  await mkdir(folder(), { recursive: true });
  await cp(text(property(JSON.parse(stdout), 'Dir')), draft, { recursive: true });
  await run('chmod', ['-R', 'u+w', draft]);
  if (module === AWS) {
    // It asks for a commit of the core that no module proxy has.
    await run('go', ['mod', 'edit', '-replace', `${CORE}=${CORE}@${version}`], { cwd: draft });
  }
  // Another process may have been faster.
  await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
  return copy;
}

/** A built suite, and the folder in which its tests expect to be run. */
export interface Built {
  readonly program: string;
  readonly folder: string;
}

/** Builds the tests of a package of the module with the edits, unless that has been done before. */
export async function build(module: Module, folderOfTests: string, edits: Edits): Promise<Built> {
  const source = await moduleCopy(module);
  const replaced = await replacements(source, edits);
  const key = createHash('sha256').update(JSON.stringify([await goVersion(), module, KARPENTER]));
  for (const [file, content] of Object.entries(replaced).sort()) key.update(`${file}\0${content}`);
  const name = `${module === AWS ? 'aws-' : ''}${folderOfTests.replaceAll('/', '-')}`;
  const place = join(folder(), 'built', name, key.digest('hex').slice(0, 16));
  const built = { program: join(place, 'suite.test'), folder: join(source, folderOfTests) };
  if (await exists(built.program)) return built;
  await forgetOlder(join(place, '..'));
  const overlay: Record<string, string> = {};
  await mkdir(place, { recursive: true });
  for (const [file, content] of Object.entries(replaced)) {
    const instead = join(place, file.replaceAll('/', '__'));
    await writeFile(instead, content);
    overlay[join(source, file)] = instead;
  }
  const overlayFile = join(place, 'overlay.json');
  await writeFile(overlayFile, JSON.stringify({ Replace: overlay }, undefined, 1));
  process.stderr.write(`building ${name}\n`);
  const draft = `${built.program}.draft-${process.pid}`;
  const flags = ['-c', '-mod=mod', '-vet=off', '-overlay', overlayFile, '-o', draft];
  await run('go', ['test', ...flags, `./${folderOfTests}`], {
    cwd: source,
    maxBuffer: 1 << 24,
    timeout: BUILD_MS_MAX,
  });
  await rename(draft, built.program);
  return built;
}

/** The contents of all files that differ, by their place in the module. */
async function replacements(
  source: string,
  { changes, files }: Edits,
): Promise<Readonly<Record<string, string>>> {
  const replaced: Record<string, string> = {};
  for (const [file, each] of Object.entries(changes)) {
    replaced[file] = changed(file, await readFile(join(source, file), 'utf8'), each);
  }
  for (const [file, ours] of Object.entries(files)) replaced[file] = await readFile(ours, 'utf8');
  return replaced;
}

const KEPT = 3;

/** A built suite has 100 MB: the newest few are kept. */
async function forgetOlder(parent: string): Promise<void> {
  const names = (await exists(parent)) ? await readdir(parent) : [];
  const dated = await Promise.all(
    names.map(async (name) => ({ name, builtMs: (await stat(join(parent, name))).mtimeMs })),
  );
  const older = dated.sort((a, b) => b.builtMs - a.builtMs).slice(KEPT - 1);
  for (const { name } of older) await rm(join(parent, name), { recursive: true, force: true });
}
