import { NODE_CLASS, NODE_OVERLAY, NODE_POOL } from '../manifests.ts';

export const POOL_AND_CLASS = `${NODE_POOL}---\n${NODE_CLASS}`;
export const GOOD = { 'good/world.yaml': `${POOL_AND_CLASS}---\n${NODE_OVERLAY}` };

export interface Row {
  readonly what: string;
  readonly files: Readonly<Record<string, string>>;
  /** `@` stands for the folder of the files. */
  readonly line: string;
  /** Each is found in one line of the errors. */
  readonly says: readonly string[];
}

/** One command line that is refused. */
export function row(
  what: string,
  files: Readonly<Record<string, string>>,
  line: string,
  ...says: readonly string[]
): Row {
  return { what, files, line, says };
}
