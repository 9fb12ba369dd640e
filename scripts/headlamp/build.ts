/** Builds the plugin for Headlamp with Headlamp's own tool, which the plugin's package installs. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { packagesIn, thirdPartyNotices } from '../package/notices.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PLUGIN = join(ROOT, 'headlamp-plugin');

/** The name of its package, and of its folder among Headlamp's plugins. */
const NAME = 'eks-joiner-headlamp';

/** Runs npm in the plugin's package, and installs that where it is not; throws where it fails. */
export function npmInPlugin(...args: readonly string[]): void {
  // Whoever calls may have another NODE_ENV: the tool would build for development.
  const env = { ...process.env, NODE_ENV: 'production' };
  const npm = (...given: readonly string[]) =>
    execFileSync('npm', given, { cwd: PLUGIN, env, stdio: 'pipe' });
  if (!existsSync(join(PLUGIN, 'node_modules'))) npm('ci', '--ignore-scripts', '--include=dev');
  npm(...args);
}

/** The licences of what the bundle holds of others; React and components are Headlamp's. */
async function notices(): Promise<string> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['headlamp-plugin/src/register.ts'],
    bundle: true,
    metafile: true,
    write: false,
    minify: true,
    format: 'esm',
    external: ['react'],
    logLevel: 'silent',
  });
  return thirdPartyNotices(ROOT, packagesIn(metafile));
}

/** Writes the plugin as a folder into a folder of plugins; the path of `main.js`. */
export async function buildHeadlampPlugin(plugins: string): Promise<string> {
  npmInPlugin('run', 'build');
  const folder = join(plugins, NAME);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const main = join(folder, 'main.js');
  cpSync(join(PLUGIN, 'dist', 'main.js'), main);
  cpSync(join(PLUGIN, 'package.json'), join(folder, 'package.json'));
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), await notices());
  return main;
}
