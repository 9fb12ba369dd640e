/** `npm run package`: the npm package as a folder, and as the archive that `npm publish` would send. */
import { join } from 'node:path';
import { buildPackage } from './package/build.ts';
import { pack } from './package/pack.ts';

const DIST = join(import.meta.dirname, '..', 'dist');

await buildPackage(join(DIST, 'package'));
const { filename, size, unpackedSize, entryCount } = pack(join(DIST, 'package'), DIST);
const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1000).toLocaleString('en')} kB`;
process.stdout.write(
  `dist/${filename}  ${entryCount} files, ${kilobytes(size)}, ${kilobytes(unpackedSize)} unpacked\n`,
);
