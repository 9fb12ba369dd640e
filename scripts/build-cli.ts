/**
 * The command line as a few files of JavaScript. Each command, the catalog of each region and what
 * they share are files of their own, read when needed. Lines stay as long as they are written, so
 * that a stack says where it was.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');

/** Packages in CommonJS ask for Node's modules by `require`, which an ES module does not have. */
const BANNER =
  "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);";

/**
 * Writes `cli/bundle/main.mjs`, whose export `main` runs a command line. `read` names the files and
 * folders of the checkout that commands read; they get their place beside it.
 */
export async function buildCommand(into: string, read: readonly string[]): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: { main: 'cli/main.ts' },
    // As deep as a source file of the command line: paths from there lead to the same names.
    outdir: join(into, 'cli', 'bundle'),
    outExtension: { '.js': '.mjs' },
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    // Reads its WebAssembly from beside itself.
    external: ['highs'],
    legalComments: 'none',
    logLevel: 'silent',
    banner: { js: BANNER },
  });
  for (const path of read) cpSync(join(ROOT, path), join(into, path), { recursive: true });
}
