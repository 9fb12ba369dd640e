import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** A Node of this machine. */
export interface Node {
  readonly version: string;
  /** The folder of its binary, as it stands first on the PATH of what it runs. */
  readonly folder: string;
}

/** The oldest that the package is for. */
const OLDEST = 20;

/** The Node of the tests, and of each other release on the PATH the first one. */
export function nodesOnPath(): readonly Node[] {
  const folders = [dirname(process.execPath), ...(process.env['PATH'] ?? '').split(delimiter)];
  const byRelease = new Map<number, Node>();
  for (const folder of new Set(folders)) {
    const binary = join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
    if (folder === '' || !existsSync(binary)) continue;
    const version = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();
    const release = Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);
    if (release >= OLDEST && !byRelease.has(release)) byRelease.set(release, { version, folder });
  }
  return [...byRelease.values()];
}
