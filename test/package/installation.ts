import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Node } from './nodes.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Packages that an app of the CDK has beside ours; those of this checkout stand for them. */
const BESIDE = ['aws-cdk-lib', 'constructs', '@types/node'];

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, under this Node where one is named. */
export function run(
  cwd: string,
  [program = '', ...args]: readonly string[],
  node?: Node,
  variables: NodeJS.ProcessEnv = {},
): Ended {
  const { PATH = '', ...others } = process.env;
  const path = node === undefined ? PATH : `${node.folder}${delimiter}${PATH}`;
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    // Nothing is left behind on the machine.
    env: {
      ...others,
      PATH: path,
      NODE_DISABLE_COMPILE_CACHE: '1',
      NO_UPDATE_NOTIFIER: '1',
      ...variables,
    },
  });
  return { status, stdout, stderr };
}

/** What it printed; a failure says all of it. */
export function output(
  cwd: string,
  line: readonly string[],
  node?: Node,
  variables: NodeJS.ProcessEnv = {},
): string {
  const { status, stdout, stderr } = run(cwd, line, node, variables);
  if (status !== 0) throw new Error(`${line.join(' ')}: ${status}\n${stdout}\n${stderr}`);
  return stdout;
}

/** Writes files below a folder. */
export function write(folder: string, files: Readonly<Record<string, string | object>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(folder, name), text);
  }
}

/** As `npm ci --ignore-scripts` of an app would leave it, without asking a registry. */
export function install(archive: string, folder: string): void {
  write(folder, { 'package.json': { name: 'app', private: true } });
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const alone = ['--offline', '--cache', join(folder, '.npm')];
  output(folder, ['npm', 'install', ...alone, '--no-save', '--ignore-scripts', ...quiet, archive]);
}

/** Puts the packages of an app of the CDK beside ours. */
export function addPeers(folder: string): void {
  for (const name of BESIDE) {
    const place = join(folder, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), place, 'junction');
  }
}

/** Compiles as an app would, with all of its libraries checked. */
export function compile(folder: string, options: object): void {
  write(folder, {
    'tsconfig.json': {
      compilerOptions: {
        target: 'es2022',
        strict: true,
        skipLibCheck: false,
        types: ['node'],
        ...options,
      },
      include: ['*.ts', '*.mts', '*.cts'],
    },
  });
  output(folder, [join(ROOT, 'node_modules', '.bin', 'tsc'), '-p', folder]);
}
