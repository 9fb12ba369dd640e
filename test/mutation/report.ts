/** What a run of `npm run mutation` comes to. */

/** The part of Stryker's JSON report that is read. */
export interface MutationReport {
  readonly files: Readonly<
    Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>
  >;
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  /** Lines and columns count from 1. */
  readonly location: { readonly start: Position; readonly end: Position };
  readonly status: string;
  /** It is reached while a file is read, not only by a test. */
  readonly static?: boolean;
}

/** Mutants that survive on purpose, by file: each `code → replacement`, and why. */
export type Listed = Readonly<
  Record<string, readonly { readonly reason: string; readonly mutants: readonly string[] }[]>
>;

export interface Survivor {
  readonly file: string;
  readonly line: number;
  /** `code → replacement`, each in one line and cut. */
  readonly name: string;
  readonly isCovered: boolean;
  /** Undefined: nobody has looked at it. */
  readonly reason: string | undefined;
}

export interface Outcome {
  readonly mutants: number;
  readonly killed: number;
  readonly timedOut: number;
  /** Could not be run, and count for nothing. */
  readonly invalid: number;
  readonly survivors: readonly Survivor[];
  /** Percent of those that could be run. */
  readonly score: number;
}

const LENGTH_MAX = 90;

function inOneLine(code: string): string {
  const text = code.replaceAll(/\s+/g, ' ').trim();
  return text.length > LENGTH_MAX ? `${text.slice(0, LENGTH_MAX)}…` : text;
}

/** The code that a mutant takes the place of. */
function codeOf(source: string, { start, end }: Mutant['location']): string {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const last = lines.length - 1;
  return lines
    .map((line, at) => (at === last ? line.slice(0, end.column - 1) : line))
    .map((line, at) => (at === 0 ? line.slice(start.column - 1) : line))
    .join('\n');
}

function survivorsOf(report: MutationReport, listed: Listed): readonly Survivor[] {
  return Object.entries(report.files).flatMap(([file, { source, mutants }]) =>
    mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map(({ location, replacement = '', status }) => {
        const name = `${inOneLine(codeOf(source, location))} → ${inOneLine(replacement)}`;
        const reason = listed[file]?.find((each) => each.mutants.includes(name))?.reason;
        const { line } = location.start;
        return { file, line, name, isCovered: status === 'Survived', reason };
      })
      .sort((a, b) => a.line - b.line),
  );
}

/** Listed mutants of the report's files that do not survive, or are not there, any more. */
export function outdated(report: MutationReport, listed: Listed): readonly string[] {
  const survivors = survivorsOf(report, listed);
  return Object.keys(report.files).flatMap((file) => {
    const names = new Set(survivors.filter((each) => each.file === file).map(({ name }) => name));
    const all = (listed[file] ?? []).flatMap(({ mutants }) => mutants);
    return all.filter((name) => !names.has(name)).map((name) => `${file}: ${name}`);
  });
}

export function outcomeOf(report: MutationReport, listed: Listed): Outcome {
  const statuses = Object.values(report.files).flatMap(({ mutants }) =>
    mutants.map(({ status }) => status),
  );
  const count = (status: string): number => statuses.filter((each) => each === status).length;
  const [killed, timedOut] = [count('Killed'), count('Timeout')];
  const survivors = survivorsOf(report, listed);
  const ran = killed + timedOut + survivors.length;
  return {
    mutants: statuses.length,
    killed,
    timedOut,
    invalid: statuses.length - ran,
    survivors,
    score: scoreOf(killed + timedOut, survivors.length),
  };
}

function scoreOf(noticed: number, survived: number): number {
  return noticed + survived === 0 ? 100 : (noticed / (noticed + survived)) * 100;
}

function row(name: string, outcome: Outcome): string {
  const { mutants, killed, timedOut, survivors, score } = outcome;
  const uncovered = survivors.filter(({ isCovered }) => !isCovered).length;
  const cells = [name, mutants, killed, timedOut, survivors.length, uncovered];
  return `| ${[...cells, `${score.toFixed(1)} %`].join(' | ')} |`;
}

function survivorLines(survivors: readonly Survivor[]): readonly string[] {
  const byReason = Map.groupBy(survivors, ({ reason = 'No reason is given yet' }) => reason);
  return [...byReason].flatMap(([reason, all]) => [
    `- ${reason}:`,
    ...all.map(({ line, name }) => `    - ${line}: \`\`${name.replaceAll('``', "''")}\`\``),
  ]);
}

/** The outcomes of targets of one folder together. */
export function byFolder(outcomes: ReadonlyMap<string, Outcome>): ReadonlyMap<string, Outcome> {
  const folders = Map.groupBy(outcomes, ([name]) => name.split('/')[0] ?? name);
  return new Map([...folders].map(([folder, all]) => [folder, sumOf(all.map(([, each]) => each))]));
}

function sumOf(outcomes: readonly Outcome[]): Outcome {
  const sum = (of: (each: Outcome) => number): number =>
    outcomes.reduce((total, each) => total + of(each), 0);
  const killed = sum((each) => each.killed);
  const timedOut = sum((each) => each.timedOut);
  const survivors = outcomes.flatMap((each) => each.survivors);
  return {
    mutants: sum((each) => each.mutants),
    killed,
    timedOut,
    invalid: sum((each) => each.invalid),
    survivors,
    score: scoreOf(killed + timedOut, survivors.length),
  };
}

/** The tables of bench/mutation.md, below its introduction. */
export function markdown(outcomes: ReadonlyMap<string, Outcome>): string {
  const survivors = [...outcomes.values()].flatMap((each) => each.survivors);
  const byFile = [...Map.groupBy(survivors, ({ file }) => file)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return [
    '| folder | mutants | killed | timed out | survived | of these not covered | score |',
    '|---|---|---|---|---|---|---|',
    ...[...byFolder(outcomes)].map(([name, outcome]) => row(name, outcome)),
    '',
    '## Survivors',
    ...byFile.flatMap(([file, all]) => ['', `### ${file}`, '', ...survivorLines(all)]),
    '',
  ].join('\n');
}
