/** Declarations of what `infra/index.ts` exports, and of what they name. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';

const ENTRY = 'infra/index.d.ts';
const RELATIVE = /(?<=\bfrom '|\bimport\(["'])(\.{1,2}\/[^'"]+)\.ts(?=['"])/g;

/** Writes them below a folder, as they lie in the checkout. */
export function writeTypes(root: string, into: string): void {
  const all = mkdtempSync(join(tmpdir(), 'joiner-types-'));
  try {
    declare(root, all);
    for (const [file, text] of reachable(all)) {
      mkdirSync(dirname(join(into, file)), { recursive: true });
      writeFileSync(join(into, file), text);
    }
  } finally {
    rmSync(all, { recursive: true, force: true });
  }
}

function declare(root: string, into: string): void {
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
  const project = join(into, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.base.json'),
      compilerOptions: {
        rootDir: root,
        outDir: into,
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      },
      files: [join(root, 'infra/index.ts')],
    }),
  );
  const tsc = join(root, 'node_modules', '.bin', 'tsc');
  const { status, stdout } = spawnSync(tsc, ['-p', project, ...options], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the types of the package cannot be made:\n${stdout}`);
}

/** The entry and what it leads to; of what only other modules import there is no trace in it. */
function reachable(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    const text = readFileSync(join(folder, file), 'utf8');
    found.set(file, text.replaceAll(RELATIVE, '$1.js'));
    for (const [, to = ''] of text.matchAll(RELATIVE)) {
      const next = normalize(join(dirname(file), `${to}.d.ts`));
      if (existsSync(join(folder, next))) visit(next);
      else throw new Error(`${file} names ${to}.ts, of which there are no types`);
    }
  };
  visit(ENTRY);
  return found;
}
