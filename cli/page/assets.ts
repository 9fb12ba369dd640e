import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a page carries with it. */
export interface PageAssets {
  readonly style: string;
  readonly script: string;
}

const FOLDER = join(import.meta.dirname, 'browser');

/**
 * The stylesheet and the script of a page, made from their sources. The bundle of the command line
 * has what this returns in the place of this file (`scripts/build-cli.ts`).
 */
export async function pageAssets(): Promise<PageAssets> {
  const { build, transform } = await import('esbuild');
  const target = 'es2024';
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, 'main.ts')],
    bundle: true,
    format: 'iife',
    charset: 'utf8',
    minify: true,
    write: false,
    target,
    logLevel: 'silent',
  });
  const sheet = readFileSync(join(FOLDER, 'page.css'), 'utf8');
  const { code } = await transform(sheet, { loader: 'css', minify: true, charset: 'utf8' });
  const [script] = outputFiles;
  if (script === undefined) throw new Error('the script of the page was not built');
  return { style: code.trim(), script: script.text.trim() };
}
