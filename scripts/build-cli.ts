/**
 * The command line as a few files of JavaScript. Each command, the catalog of each region and what
 * they share are files of their own, read when needed. Lines stay as long as they are written, so
 * that a stack says where it was.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** Packages in CommonJS ask for Node's modules by `require`, which an ES module does not have. */
const BANNER =
  "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/** Pages of `--html` get their script and stylesheet as text: the bundle needs no bundler. */
const FINISHED_ASSETS: Plugin = {
  name: 'finished-assets',
  setup({ onLoad }) {
    onLoad({ filter: /cli[/\\]page[/\\]assets\.ts$/ }, async ({ path }) => {
      const { pageAssets } = await import(pathToFileURL(path).href);
      const text = JSON.stringify(await pageAssets());
      return { contents: `export const pageAssets = async () => (${text});`, loader: 'js' };
    });
  },
};

/** What makes templates stays where it is: it bundles the functions from the sources beside it. */
const TEMPLATE: Plugin = {
  name: 'template',
  setup({ onResolve }) {
    const { href } = pathToFileURL(join(ROOT, 'infra/template.ts'));
    onResolve({ filter: /\/infra\/template\.ts$/ }, () => ({ path: href, external: true }));
  },
};

/**
 * Writes `cli/bundle/main.mjs`, whose export `main` runs a command line. `read` names the files and
 * folders of the checkout that commands read; they get their place beside it.
 */
export async function buildCommand(
  into: string,
  read: readonly string[],
  further: Pick<BuildOptions, 'target' | 'plugins'> = {},
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { main: 'cli/main.ts' },
    // As deep as a source file of the command line: paths from there lead to the same names.
    outdir: join(into, 'cli', 'bundle'),
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    // Reads its WebAssembly from beside itself.
    external: ['highs'],
    legalComments: 'none',
    logLevel: 'silent',
    // React checks itself otherwise, at each picture of a screen.
    define: { 'process.env.NODE_ENV': '"production"' },
    banner: { js: BANNER },
    ...further,
    plugins: [...(further.plugins ?? []), FINISHED_ASSETS, TEMPLATE, withoutAbsent()],
  });
  for (const path of read) cpSync(join(ROOT, path), join(into, path), { recursive: true });
  return metafile;
}

const REFUSAL = "{ throw new Error('the command line has no undici') }";

/** Packages that others import and nothing runs, with what stands for them. */
const ABSENT: Readonly<Record<string, string>> = {
  // Of the library that reads a kubeconfig no request is asked for: the command has a client of its
  // own. The library's is 1.1 MB, and does not load in Node 20.
  undici: `export function fetch() ${REFUSAL}
    export class Agent { constructor() ${REFUSAL} }
    export class ProxyAgent { constructor() ${REFUSAL} }`,
  // For whoever develops ink's components, through the package ws. It asks for what is not installed.
  './devtools.js': 'export {};',
};

function withoutAbsent(): Plugin {
  const names = new RegExp(`^(${Object.keys(ABSENT).join('|').replaceAll('.', '\\.')})$`);
  return {
    name: 'without-absent',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: names }, ({ path }) => ({ path, namespace: 'absent' }));
      onLoad({ filter: /./, namespace: 'absent' }, ({ path }) => ({
        contents: ABSENT[path] ?? '',
      }));
    },
  };
}
