/** How far a command and the stack's functions are apart; docs/operate/upgrade.md has the rules. */
export type Skew =
  /** One version. */
  | 'same'
  /** Commands that change no NodeClaim work; `adopt`, `hand-back` and `apply` need one version. */
  | 'near'
  /** More than one minor version apart: nothing is supported. */
  | 'far'
  /** The functions have not said which version they are. */
  | 'unknown';

interface Parsed {
  readonly major: number;
  readonly minor: number;
}

function parsed(version: string): Parsed | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)\.\d+/.exec(version) ?? [];
  if (major === undefined || minor === undefined) return undefined;
  return { major: Number(major), minor: Number(minor) };
}

/** The skew of a command of the one version and functions of the other. */
export function skewOf(command: string, functions: string): Skew {
  const [ours, theirs] = [parsed(command), parsed(functions)];
  if (ours === undefined || theirs === undefined) return 'unknown';
  if (command === functions) return 'same';
  const isNear = ours.major === theirs.major && Math.abs(ours.minor - theirs.minor) <= 1;
  return isNear ? 'near' : 'far';
}

/** What a skew means, in words; undefined: nothing to be said. */
export function skewText(command: string, functions: string): string | undefined {
  const both = `the command is version ${command}, the functions are ${functions}`;
  switch (skewOf(command, functions)) {
    case 'same':
      return undefined;
    case 'near':
      return `${both}: adopt, hand-back and apply need one version`;
    case 'far':
      return `${both}: more than one minor version apart is not supported`;
    case 'unknown':
      return `the functions' version is not known; the command is version ${command}`;
  }
}
