import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { meantFile } from './meant-file.ts';
import { standardInput } from './standard-input.ts';

/** A file to read. */
export interface FoundFile {
  readonly file: string;
  /** Below the folder that was given; the file itself where it was given by name. */
  readonly name: string;
  /** Whether it was given by its own name: then it has to be a manifest. */
  readonly isGiven: boolean;
}

const EXTENSION = /\.(ya?ml|json)$/;

/** Beside manifests, but none: what `--scenario` reads. */
const SCENARIO = /(^|[./\\])scenario\.ya?ml$/;

/** Folders of tools. */
const NOT_ENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

/** Files at or below the path, in the order of their names; an explicit file, and -, whatever it is. */
export function manifestFiles(path: string, problems: string[]): readonly FoundFile[] {
  try {
    if (path === '-' || !statSync(path).isDirectory()) {
      return [{ file: path, name: path, isGiven: true }];
    }
  } catch (error) {
    const isAbsent = codeOf(error) === 'ENOENT';
    problems.push(
      isAbsent
        ? `${path}: no such file or folder${meantFile(path)}`
        : `${path}: cannot be read: ${whyOf(error)}`,
    );
    return [];
  }
  const before = problems.length;
  const names = namesBelow(path, '', new Set(), problems).toSorted();
  if (names.length === 0 && problems.length === before) {
    problems.push(`${path}: holds no *.yaml, *.yml or *.json file`);
  }
  return names.map((name) => ({ file: join(path, name), name, isGiven: false }));
}

/** Each folder and each file once, however many links lead there; links to nothing are no files. */
function namesBelow(
  root: string,
  below: string,
  seen: Set<string>,
  problems: string[],
): readonly string[] {
  const folder = join(root, below);
  try {
    seen.add(realpathSync(folder));
    return readdirSync(folder, { withFileTypes: true })
      .toSorted((a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()))
      .flatMap((entry) => {
        const name = below === '' ? entry.name : join(below, entry.name);
        const stat = statSync(join(root, name), { throwIfNoEntry: false });
        if (stat === undefined || NOT_ENTERED.has(entry.name)) return [];
        if (!stat.isDirectory() && (!EXTENSION.test(name) || SCENARIO.test(name))) return [];
        const real = realpathSync(join(root, name));
        if (seen.has(real)) return [];
        seen.add(real);
        return stat.isDirectory() ? namesBelow(root, name, seen, problems) : [name];
      });
  } catch (error) {
    problems.push(`${folder}: cannot be read: ${whyOf(error)}`);
    return [];
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function whyOf(error: unknown): string {
  const code = codeOf(error);
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ENOENT') return 'no such file';
  if (code === 'ELOOP') return 'its links lead in a circle';
  return error instanceof Error ? error.message : String(error);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** How messages name a file. */
export function labelOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}

/** The text of a file, or of standard input; one that cannot be read is a problem, as is one that is no text. */
export function textOf(file: string, problems: string[]): string {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? standardInput() : readFileSync(file);
  } catch (error) {
    const near = codeOf(error) === 'ENOENT' ? meantFile(file) : '';
    problems.push(`${labelOf(file)}: cannot be read: ${whyOf(error)}${near}`);
    return '';
  }
  try {
    const text = UTF8.decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Other bytes than UTF-8.
  }
  problems.push(`${labelOf(file)}: is not a text file`);
  return '';
}
