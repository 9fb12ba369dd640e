/**
 * Years of cluster life with faults: `npm run sim -- [options]`. Each seed is one world, and the
 * same seed and options give the same run. A run that fails is made smaller and printed as the
 * command that repeats it.
 */
import { parseArgs } from 'node:util';
import { FAULT_NAMES, type FaultName } from './faults.ts';
import { GOALS } from './goals.ts';
import { type Choices, choicesOf, shrunk } from './shrink.ts';
import { MINUTES, type SwarmReport, swarm } from './swarm.ts';
import { ACTIONS, type ActionName } from './users.ts';

const USAGE = `usage: npm run sim -- [options]
  --seed S         the first seed (1)
  --seeds N        how many seeds are run (100)
  --days D         seeds are run until so many days of clusters have passed, in place of --seeds
  --minutes M      minutes with faults in each run (${MINUTES}); then it has time to come to rest
  --faults A,B     only these faults, or none; default: drawn from each seed
  --actions A,B    only these actions of users and the cloud, or none; default: drawn
  --pools WHICH    worlds with "one" NodePool or with "several"; default: drawn from each seed
  --until-failure  ends with the first seed that fails, as it is
  --trace          prints every write and action
  --list           faults and actions
`;

const OPTIONS = {
  help: { type: 'boolean', default: false },
  seed: { type: 'string', default: '1' },
  seeds: { type: 'string' },
  days: { type: 'string' },
  minutes: { type: 'string', default: String(MINUTES) },
  faults: { type: 'string' },
  actions: { type: 'string' },
  pools: { type: 'string' },
  'until-failure': { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
} as const;

const DAY_MINUTES = 24 * 60;

/** Beyond it one seed is not told from the next. */
const COUNT_MAX = 1e15;

class UsageError extends Error {}

function countOf(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0 && count <= COUNT_MAX) return count;
  throw new UsageError(`--${option} must be a whole number from 1 to ${COUNT_MAX}, not "${text}"`);
}

/** Names with commas; `none`: none of them. */
function namesOf<Name extends string>(
  option: string,
  text: string | undefined,
  known: readonly Name[],
): readonly Name[] | undefined {
  if (text === undefined) return undefined;
  if (text === 'none') return [];
  return text.split(',').map((each) => {
    const name = known.find((one) => one === each);
    if (name !== undefined) return name;
    throw new UsageError(`--${option}: there is no "${each}"; there are ${known.join(', ')}`);
  });
}

function hasPoolsOf(text: string | undefined): boolean | undefined {
  if (text === undefined || text === 'one') return text === undefined ? undefined : false;
  if (text === 'several') return true;
  throw new UsageError(`--pools must be "one" or "several", not "${text}"`);
}

interface Asked {
  readonly first: number;
  readonly seedsMax: number;
  readonly daysMax: number;
  readonly minutes: number;
  readonly faults: readonly FaultName[] | undefined;
  readonly actions: readonly ActionName[] | undefined;
  readonly hasPools: boolean | undefined;
  readonly isTraced: boolean;
  readonly untilFailure: boolean;
}

function askedOf(values: ReturnType<typeof parsed>): Asked {
  const { seeds, days } = values;
  return {
    first: countOf('seed', values.seed),
    seedsMax:
      seeds === undefined && days !== undefined ? COUNT_MAX : countOf('seeds', seeds ?? '100'),
    daysMax: days === undefined ? Number.POSITIVE_INFINITY : countOf('days', days),
    minutes: countOf('minutes', values.minutes),
    faults: namesOf('faults', values.faults, FAULT_NAMES),
    actions: namesOf('actions', values.actions, ACTIONS),
    hasPools: hasPoolsOf(values.pools),
    isTraced: values.trace,
    untilFailure: values['until-failure'],
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A line that is written over; nothing where nobody looks. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function commandOf(
  seed: number,
  { minutes, faults, actions }: Choices,
  { hasPools }: Asked,
): string {
  const names = (all: readonly string[]): string => (all.length === 0 ? 'none' : all.join(','));
  const chosen = `--faults ${names(faults)} --actions ${names(actions)}`;
  const pools = hasPools === undefined ? '' : ` --pools ${hasPools ? 'several' : 'one'}`;
  return `npm run sim -- --seed ${seed} --seeds 1 --minutes ${minutes} ${chosen}${pools} --trace`;
}

async function explain(report: SwarmReport, asked: Asked): Promise<void> {
  const { minutes } = asked;
  print(`seed ${report.seed}:`);
  for (const problem of report.problems) print(`  ${problem}`);
  let tries = 0;
  const least = await shrunk(choicesOf(report, minutes), async (choices) => {
    tries += 1;
    progress(`seed ${report.seed} is made smaller: run ${tries}`);
    return (await swarm(report.seed, { ...choices, ...poolsOf(asked) })).problems.length > 0;
  });
  progress('');
  print(`  ${commandOf(report.seed, least, asked)}`);
}

function poolsOf({ hasPools }: Asked): { readonly hasPools?: boolean } {
  return hasPools === undefined ? {} : { hasPools };
}

class Totals {
  seeds = 0;
  failed = 0;
  minutes = 0;
  private readonly marks = new Map<string, number>();
  private readonly measured = new Map<string, number[]>();
  private readonly since = process.cpuUsage();

  add(report: SwarmReport): void {
    const { problems, minutes, marks } = report;
    for (const { name, of } of GOALS) {
      const value = of(report);
      const values = this.measured.get(name) ?? [];
      if (value !== undefined) this.measured.set(name, [...values, value]);
    }
    this.seeds += 1;
    this.failed += problems.length === 0 ? 0 : 1;
    this.minutes += minutes;
    for (const [name, count] of marks) this.marks.set(name, (this.marks.get(name) ?? 0) + count);
  }

  get days(): number {
    return this.minutes / DAY_MINUTES;
  }

  get line(): string {
    const { user, system } = process.cpuUsage(this.since);
    const cpuMinutes = (user + system) / 60e6;
    const rate = `${(this.days / cpuMinutes).toFixed(1)} cluster-days per CPU-minute`;
    return `${this.seeds} seeds, ${this.days.toFixed(1)} cluster-days, ${this.failed} failed, ${rate}`;
  }

  /** What goals measured, each with the most that it may be. */
  get goals(): string {
    const lines = GOALS.map(({ name, most }) => {
      const values = (this.measured.get(name) ?? []).toSorted((a, b) => a - b);
      const at = (share: number): string =>
        (values[Math.ceil(share * values.length) - 1] ?? values[0] ?? 0).toFixed(2).padStart(7);
      const shares = `${at(0)} ${at(0.5)} ${at(0.9)} ${at(0.99)} ${at(1)}`;
      return `${shares} ${most.toFixed(2).padStart(7)}  ${name} (${values.length} seeds)`;
    });
    const titles = ['least', 'median', '90 %', '99 %', 'most', 'allowed'];
    return [titles.map((each) => each.padStart(7)).join(' '), ...lines].join('\n');
  }

  get table(): string {
    const names = [...FAULT_NAMES, ...ACTIONS.map((name) => `action ${name}`)];
    return names
      .map((name) => `  ${String(this.marks.get(name) ?? 0).padStart(8)}  ${name}`)
      .join('\n');
  }
}

async function run(asked: Asked): Promise<number> {
  const { first, seedsMax, daysMax, minutes, faults, actions, isTraced, untilFailure } = asked;
  const totals = new Totals();
  for (let seed = first; seed < first + seedsMax && totals.days < daysMax; seed += 1) {
    const report = await swarm(seed, {
      minutes,
      ...(faults === undefined ? {} : { faults }),
      ...(actions === undefined ? {} : { actions }),
      ...poolsOf(asked),
      ...(isTraced ? { trace: print } : {}),
    }).catch((cause: unknown) => {
      throw new Error(`seed ${seed} ended with an error of the simulator`, { cause });
    });
    totals.add(report);
    progress(totals.line);
    if (report.problems.length === 0) continue;
    if (isTraced || untilFailure) print(`seed ${seed}: ${report.problems.join('; ')}`);
    else await explain(report, asked);
    if (untilFailure) break;
  }
  progress('');
  print(totals.table);
  print(totals.goals);
  print(totals.line);
  return totals.failed === 0 ? 0 : 1;
}

async function main(args: readonly string[]): Promise<number> {
  const values = parsed(args);
  if (values.help) print(USAGE);
  else if (values.list) print([...FAULT_NAMES, ...ACTIONS].join('\n'));
  else return await run(askedOf(values));
  return 0;
}

// Whoever reads has seen enough, as with `| head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
