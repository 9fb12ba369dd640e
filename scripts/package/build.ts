/** The npm package as a folder: everything built, nothing to install beside it. */
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Metafile, type Plugin } from 'esbuild';
import { bundleFunction } from '../../infra/bundle.ts';
import { FUNCTION_NAMES } from '../../shared/contract.ts';
import { buildCommand } from '../build-cli.ts';
import { billOfMaterials } from './bom.ts';
import { bundledPackages, packagesIn, thirdPartyNotices } from './notices.ts';
import { PLACES, publishedPackageJson } from './package-json.ts';
import { readmeOf } from './readme.ts';
import { buildTemplate } from './template.ts';
import { writeTypes } from './types.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** The oldest Node that runs the command and the construct; functions run in Lambda's. */
const TARGET = 'node20';

/** Files that the command reads and exports. */
const { READ }: { readonly READ: readonly string[] } = await import(
  pathToFileURL(join(ROOT, 'cli/bin/bundle.mjs')).href
);

/** Writes the package into a folder, which is emptied before. */
export async function buildPackage(into: string): Promise<void> {
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const made = [
    await forApps(into, 'infra/index.ts', PLACES.construct),
    await forApps(into, 'infra/packed-app.ts', PLACES.app),
    await buildTemplate(into, TARGET, [prebuilt()]),
    await command(into),
  ];
  for (const name of FUNCTION_NAMES) {
    made.push((await bundleFunction(name, join(into, 'functions'))).metafile);
  }
  writeTypes(ROOT, join(into, 'types'));
  const held = [...made.flatMap(packagesIn), 'node_modules/highs'];
  writeFileSync(join(into, PLACES.notices), thirdPartyNotices(ROOT, held));
  writeFileSync(join(into, PLACES.bill), billOfMaterials(bundledPackages(ROOT, held)));
  writeFileSync(
    join(into, 'package.json'),
    `${JSON.stringify(publishedPackageJson(), undefined, 2)}\n`,
  );
  cpSync(join(ROOT, 'LICENSE'), join(into, 'LICENSE'));
  cpSync(join(ROOT, 'CHANGELOG.md'), join(into, 'CHANGELOG.md'));
  const page = readFileSync(join(ROOT, 'docs/package.md'), 'utf8');
  writeFileSync(join(into, 'README.md'), readmeOf(page));
}

/**
 * The construct, or the app: one module in CommonJS, for `import` and `require` alike: two forms of it would be two classes of
 * each construct in one app. The CDK stays the app's own.
 */
async function forApps(into: string, entry: string, place: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: join(into, place),
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'cjs',
    target: TARGET,
    external: ['aws-cdk-lib', 'constructs'],
    define: { 'import.meta.dirname': '__dirname' },
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [prebuilt()],
  });
  return metafile;
}

/** Functions are taken as they are instead of being bundled. */
function prebuilt(): Plugin {
  return {
    name: 'prebuilt',
    setup({ onResolve }) {
      onResolve({ filter: /\/bundle\.ts$/ }, () => ({ path: join(ROOT, 'infra/prebuilt.ts') }));
    },
  };
}

async function command(into: string): Promise<Metafile> {
  const made = await buildCommand(into, READ, {
    target: TARGET,
    plugins: [besideIt(), ownTemplate()],
  });
  const bin = join(into, 'cli', 'bin');
  mkdirSync(bin);
  cpSync(join(ROOT, 'cli/bin/packed.mjs'), join(into, PLACES.command));
  chmodSync(join(into, PLACES.command), 0o755);
  cpSync(join(ROOT, 'cli/bin/older-node.mjs'), join(bin, 'older-node.mjs'));
  for (const file of ['highs.mjs', 'highs.wasm']) {
    cpSync(join(ROOT, 'node_modules/highs/build', file), join(into, 'cli/bundle', file));
  }
  return made;
}

function ownTemplate(): Plugin {
  return {
    name: 'own-template',
    setup({ onResolve }) {
      const path = `../../${PLACES.template}`;
      onResolve({ filter: /\/infra\/template\.ts$/ }, () => ({ path, external: true }));
    },
  };
}

/** The solver of `--bound` lies beside the bundle, where it reads its WebAssembly. */
function besideIt(): Plugin {
  return {
    name: 'beside-it',
    setup({ onResolve }) {
      onResolve({ filter: /^highs$/ }, () => ({ path: './highs.mjs', external: true }));
    },
  };
}
