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
    banner: { js: BANNER },
    ...further,
    plugins: [FINISHED_ASSETS, withoutUndici(), ...(further.plugins ?? [])],
  });
  for (const path of read) cpSync(join(ROOT, path), join(into, path), { recursive: true });
  return metafile;
}

/**
 * Of the library that reads a kubeconfig no request is asked for: the command has a client of its
 * own. The library's is 1.1 MB, and does not load in Node 20.
 */
function withoutUndici(): Plugin {
  const refuse = "{ throw new Error('the command line has no undici') }";
  return {
    name: 'without-undici',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'absent' }));
      onLoad({ filter: /^undici$/, namespace: 'absent' }, () => ({
        contents: `export function fetch() ${refuse}
export class Agent { constructor() ${refuse} }
export class ProxyAgent { constructor() ${refuse} }`,
      }));
    },
  };
}
