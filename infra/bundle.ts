import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { parseAllDocuments } from 'yaml';
import { FUNCTION_NAMES, type FunctionName } from '../shared/contract.ts';

const ROOT = join(import.meta.dirname, '..');

/** One function's code as Lambda gets it. */
export interface Bundle {
  readonly name: FunctionName;
  /** Holds `index.mjs`, and what the function reads beside it. */
  readonly folder: string;
  /** Of what is loaded at start: `index.mjs` and what it imports at once. */
  readonly bytes: number;
}

/** Lambda's own name for the exported handler of a bundle. */
export const BUNDLE_HANDLER = 'index.handler';

/**
 * Packages that are CommonJS ask for Node's modules by `require`, which an ES module does not have.
 */
const BANNER =
  "import{createRequire as joinerRequire}from'node:module';const require=joinerRequire(import.meta.url);";

/** Bundles `functions/<name>/handler.ts` into a folder below `into`. */
export async function bundleFunction(name: FunctionName, into: string): Promise<Bundle> {
  const folder = join(into, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: `functions/${name}/handler.ts` },
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
    plugins: [prunedSchemas, onlyWhatRuns],
  });
  if (name === 'install') await writeFile(join(folder, MANIFESTS), manifestsJson());
  return { name, folder, bytes: startBytes(metafile) };
}

/** The entry and all that it imports at once, by the bundler's own account. */
function startBytes({ outputs }: Metafile): number {
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint !== undefined);
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

/**
 * The SDK describes every operation in one file of constants whose computed keys (`[_e]: …`) look as
 * if they had side effects, so that esbuild keeps all of them. With the keys written out it keeps
 * those of the operations in use: 1,016 → 506 KB for a handler with all clients.
 */
const prunedSchemas: Plugin = {
  name: 'pruned-schemas',
  setup: (setup) => {
    setup.onLoad({ filter: /[\\/]schemas[\\/]schemas_\d+\.js$/ }, async ({ path }) => ({
      contents: writeOutKeys(await readFile(path, 'utf8')),
      loader: 'js',
    }));
  },
};

/**
 * Packages of which a function in Lambda needs a part, and what stands in for the whole.
 * - undici without fetch, WebSocket, caches and mocks: 536 → 190 KB;
 * - credentials from the environment, where Lambda puts them: no SSO, files or instance metadata.
 */
const PARTS: Readonly<Record<string, string>> = {
  undici: `
    import Pool from 'undici/lib/dispatcher/pool.js';
    import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
    import request from 'undici/lib/api/api-request.js';
    Dispatcher.prototype.request = request;
    export { Pool };`,
  '@aws-sdk/credential-provider-node': `
    import { fromEnv } from '@aws-sdk/credential-provider-env';
    export const defaultProvider = () => fromEnv();`,
};

const onlyWhatRuns: Plugin = {
  name: 'only-what-runs',
  setup: (setup) => {
    const names = new RegExp(`^(${Object.keys(PARTS).join('|')})$`);
    setup.onResolve({ filter: names }, ({ path }) => ({ path, namespace: 'parts' }));
    setup.onLoad({ filter: /./, namespace: 'parts' }, ({ path }) => ({
      contents: PARTS[path] ?? '',
      resolveDir: ROOT,
      loader: 'js',
    }));
    // The parser without SIMD is for processors that Lambda has not.
    setup.onResolve({ filter: /llhttp-wasm\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace('llhttp-wasm', 'llhttp_simd-wasm')),
    }));
  },
};

/** Replaces each computed key that is a constant text of the same file by that text. */
export function writeOutKeys(source: string): string {
  const constants = new Map<string, string>();
  for (const [, name = '', value = ''] of source.matchAll(/^const (_\w+) = ("[^"\\]*");$/gm)) {
    constants.set(name, value);
  }
  return source.replaceAll(/\[(_\w+)\]:/g, (whole, name: string) => {
    const value = constants.get(name);
    return value === undefined ? whole : `${value}:`;
  });
}

/** Beside the installer's code. */
const MANIFESTS = 'manifests.json';

/** What the installer applies, in this order: definitions first, then rights. */
export function manifests(): readonly object[] {
  return ['infra/crds', 'infra/rbac'].flatMap((folder) =>
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
