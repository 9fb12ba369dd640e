import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { parseAllDocuments } from 'yaml';
import { FUNCTION_NAMES, type FunctionName } from '../shared/contract.ts';
import {
  aliasedPackages,
  clientVersions,
  plainBuiltins,
  prunedSchemas,
  withoutJsonSchemas,
} from './bundle/packages.ts';

const ROOT = join(import.meta.dirname, '..');

/** One function's code as Lambda gets it. */
export interface Bundle {
  readonly name: FunctionName;
  /** Holds `index.mjs`, and what the function reads beside it. */
  readonly folder: string;
  /** Of what is loaded at start: `index.mjs` and what it imports at once. */
  readonly bytes: number;
  /** What was bundled, by the bundler's own account. */
  readonly metafile: Metafile;
}

/** Lambda's own name for the exported handler of a bundle. */
export const BUNDLE_HANDLER = 'index.handler';

/**
 * Packages that are CommonJS ask for Node's modules by `require`, which an ES module does not have.
 */
const BANNER =
  "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/** Bundles `functions/<name>/handler.ts` into a folder below `into`. */
export async function bundleFunction(name: FunctionName, into: string): Promise<Bundle> {
  const folder = join(into, name);
  const handler = `functions/${name}/handler.ts`;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: handler },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    // What is imported only when needed, such as the catalog of one region, stays a file of its own.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    // The SDK's CommonJS, which comes first otherwise, cannot be shaken.
    mainFields: ['module', 'main'],
    legalComments: 'none',
    logLevel: 'silent',
    banner: { js: BANNER },
    plugins: [
      plainBuiltins(),
      prunedSchemas(ROOT),
      aliasedPackages(ROOT),
      clientVersions(),
      withoutJsonSchemas(),
    ],
  });
  if (name === 'install') await writeFile(join(folder, MANIFESTS), manifestsJson());
  return { name, folder, bytes: startBytes(metafile, handler), metafile };
}

/** The entry and all that it imports at once, by the bundler's own account. */
function startBytes({ outputs }: Metafile, handler: string): number {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === handler);
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const { kind, path: to } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') visit(to);
    }
  };
  if (entry !== undefined) visit(entry);
  return [...seen].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
}

/**
 * For construct trees, which cannot wait: the same in a process of its own. The folders are there
 * until this process ends; assets are copied from them when they are made.
 */
export function bundleFunctionsNow(names: readonly FunctionName[]): ReadonlyMap<string, string> {
  const into = mkdtempSync(join(tmpdir(), 'joiner-functions-'));
  process.once('exit', () => rmSync(into, { recursive: true, force: true }));
  execFileSync(process.execPath, [import.meta.filename, into, ...names], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Map(names.map((name) => [name, join(into, name)]));
}

/** Beside the installer's code. */
const MANIFESTS = 'manifests.json';

/** What the installer applies, in this order: definitions, rights, flow schemas. */
export function manifests(): readonly object[] {
  return ['infra/crds', 'infra/rbac', 'infra/flow-control'].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .flatMap((file) => readObjects(join(ROOT, folder, file))),
  );
}

function readObjects(path: string): readonly object[] {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document): object => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS();
  });
}

function manifestsJson(): string {
  return JSON.stringify(manifests());
}

/** `node infra/bundle.ts FOLDER NAME…`: each function's folder below it, and its size. */
if (import.meta.main) {
  const [into = '.', ...asked] = process.argv.slice(2);
  for (const name of FUNCTION_NAMES.filter((each) => asked.includes(each))) {
    const { bytes } = await bundleFunction(name, into);
    process.stdout.write(`${name} ${bytes}\n`);
  }
}
