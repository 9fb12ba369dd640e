/**
 * The project's own Node 24, which the npm package `node` brings. Plain JavaScript, so that any Node
 * from 20 on can look for it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Where its binary is once it is placed. */
export function ownNode(root) {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(root, 'node_modules', 'node', 'bin', name);
}

/**
 * Places the binary where the package's script has not run: `npm ci --ignore-scripts`, or npm 11, which
 * asks before it runs one. Whether it is there now.
 */
export function placeNode(root) {
  const folder = join(root, 'node_modules', 'node');
  const script = join(folder, 'installArchSpecificPackage.js');
  if (!existsSync(ownNode(root)) && existsSync(script)) {
    spawnSync(process.execPath, [script], { cwd: folder, stdio: ['ignore', 2, 2] });
  }
  return existsSync(ownNode(root));
}
