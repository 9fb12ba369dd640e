/**
 * How long a machine with nothing but Node takes from the package to a result:
 * `npm run bench -- install`, with each release of Node ≥ 20 on the PATH. npm starts with an empty
 * cache and asks its registry. The app is the one that `cdk init --language typescript` makes; its
 * code is the example of docs/package.md. A step that fails ends the run. The exit code is 1 if a
 * step of Joiner takes more than a minute; `cdk init` is not Joiner's.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildPackage } from '../scripts/package/build.ts';
import { pack } from '../scripts/package/pack.ts';
import { FUNCTION_NAMES, OPTIONAL_FUNCTIONS } from '../shared/contract.ts';
import { output, write } from '../test/package/installation.ts';
import { type Node, nodesOnPath } from '../test/package/nodes.ts';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLE = join(ROOT, 'examples', '07-spread-and-spot');
const LIMIT_SECONDS = 60;

/** How the types are resolved, beside the app's own `nodenext`. */
const RESOLUTIONS = [
  ['node16', 'node16'],
  ['esnext', 'bundler'],
] as const;

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'joiner-install-'));
  try {
    await buildPackage(join(folder, 'package'));
    const archive = join(folder, pack(join(folder, 'package'), folder).filename);
    console.log(
      '| Node | npm install | simulate | cdk init | npm install in the app | cdk synth | types |',
    );
    console.log('|---|---|---|---|---|---|---|');
    for (const node of nodesOnPath()) {
      const seconds = { ...commandAlone(node, archive, folder), ...inAnApp(node, archive, folder) };
      const cells = [node.version, ...Object.values(seconds).map((each) => `${each.toFixed(1)} s`)];
      console.log(`| ${cells.join(' | ')} |`);
      const { init, ...ours } = seconds;
      if (Object.values(ours).some((each) => each > LIMIT_SECONDS)) process.exitCode = 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs the package in an empty folder and simulates an example. */
function commandAlone(node: Node, archive: string, folder: string) {
  const place = join(folder, node.version, 'command');
  write(place, { 'package.json': { name: 'command', private: true } });
  const install = timed(place, node, ['npm', 'install', archive]);
  const simulate = timed(place, node, ['npx', '--no-install', 'eks-joiner', 'simulate', EXAMPLE]);
  if (!simulate.printed.includes('15 running, 0 pending')) throw new Error(simulate.printed);
  return { install: install.seconds, simulate: simulate.seconds };
}

/** Adds the construct to a new app of the CDK, synthesizes it and checks its types. */
function inAnApp(node: Node, archive: string, folder: string) {
  const place = join(folder, node.version, 'my-app');
  mkdirSync(place, { recursive: true });
  const init = timed(place, node, ['npx', '--yes', 'aws-cdk', 'init', '--language', 'typescript']);
  const add = timed(place, node, ['npm', 'install', archive]);
  writeFileSync(join(place, 'bin', `${basename(place)}.ts`), exampleOfThePackage());
  const synth = timed(place, node, ['npx', '--no-install', 'cdk', 'synth', '--quiet']);
  const functions = readdirSync(join(place, 'cdk.out')).filter((name) => /^asset\.\w+$/.test(name));
  const standard = FUNCTION_NAMES.length - OPTIONAL_FUNCTIONS.size;
  if (functions.length !== standard) throw new Error(functions.join(' '));
  const types = RESOLUTIONS.map(([module, moduleResolution]) => {
    const options = ['--module', module, '--moduleResolution', moduleResolution];
    return timed(place, node, ['npx', '--no-install', 'tsc', '--noEmit', ...options]).seconds;
  });
  return {
    init: init.seconds,
    add: add.seconds,
    synth: synth.seconds,
    types: Math.max(...types),
  };
}

/** The first program on the package's own page. */
function exampleOfThePackage(): string {
  const page = readFileSync(join(ROOT, 'docs', 'package.md'), 'utf8');
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  return program;
}

function timed(cwd: string, node: Node, line: readonly string[]) {
  const cache = { npm_config_cache: join(cwd, '..', 'cache') };
  const start = performance.now();
  const printed = output(cwd, line, node, cache);
  return { printed, seconds: (performance.now() - start) / 1000 };
}
