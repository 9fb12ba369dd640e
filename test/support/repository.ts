/** The files of the repository as `test/tidy.test.ts` reads them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Files under version control, and those that will be. */
export const tracked = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)));
export const sources = tracked.filter((file) => /\.(tsx?|mjs)$/.test(file));

const texts = new Map<string, string>();
export function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(join(root, file), 'utf8');
  texts.set(file, known);
  return known;
}

/** `shared/core/model/pod.ts` → `core`, `shared/ports.ts` → `ports`, `cli/main.ts` → `cli`. */
export function areaOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return (top === 'shared' ? second : top).replace(/\.ts$/, '');
}

export interface Import {
  readonly from: string;
  /** A file of this repository, or a package's specifier. */
  readonly to: string;
  readonly isOwn: boolean;
}

function importsOf(file: string): readonly Import[] {
  const pattern =
    /^(?:(?:import|export)\b[^'"\n]* from |\} from |import )'([^']+)'|\bimport\('([^']+)'\)/gm;
  return [...textOf(file).matchAll(pattern)].map(([, fixed, lazy]) => {
    const specifier = fixed ?? lazy ?? '';
    const isOwn = specifier.startsWith('.');
    const to = isOwn ? normalize(join(dirname(file), specifier)) : specifier;
    return { from: file, to, isOwn };
  });
}

export const imports = sources.flatMap(importsOf);

/** Without comments and texts, so that a word in them is no use of it. */
export function codeOf(file: string): string {
  return textOf(file)
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|[^:'"`])\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

/** Lines with a type assertion, but for `as const`. */
export function castsOf(file: string): readonly string[] {
  return codeOf(file)
    .replaceAll(/`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replaceAll(/^(import|export) [^;]*? from ''/gm, '')
    .split('\n')
    .filter((line) => /[\w)\]}'>] as (?!const\b)[\w{([]/.test(line));
}

export function usesOf(word: RegExp, files: readonly string[]): readonly string[] {
  return files.flatMap((file) =>
    codeOf(file)
      .split('\n')
      .flatMap((line) => (word.test(line) ? [`${file}: ${line.trim()}`] : [])),
  );
}

/** One circle for each import that closes one, from the first file on the way. */
export function circlesAmong(byFile: ReadonlyMap<string, readonly Import[]>): readonly string[] {
  const circles: string[] = [];
  const isDone = new Set<string>();
  const follow = (file: string, way: readonly string[]): void => {
    const start = way.indexOf(file);
    if (start >= 0) circles.push([...way.slice(start), file].join(' → '));
    if (start >= 0 || isDone.has(file)) return;
    for (const { to } of byFile.get(file) ?? []) follow(to, [...way, file]);
    isDone.add(file);
  };
  for (const file of byFile.keys()) follow(file, []);
  return circles;
}
