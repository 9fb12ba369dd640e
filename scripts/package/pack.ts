import { execFileSync } from 'node:child_process';

/** What npm says of an archive that it made. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
  readonly files: readonly {
    readonly path: string;
    readonly size: number;
    readonly mode: number;
  }[];
}

/** Has npm make the archive of a package's folder, into another one. */
export function pack(folder: string, into: string): Packed {
  const args = ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', into];
  const shell = process.platform === 'win32';
  const answer = execFileSync('npm', args, {
    encoding: 'utf8',
    shell,
    stdio: ['ignore', 'pipe', 2],
  });
  const [packed] = Object.values(JSON.parse(answer) as readonly Packed[]);
  if (packed === undefined) throw new Error(`npm has packed nothing: ${answer}`);
  return packed;
}
