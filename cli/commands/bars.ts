import { Argument, Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { meant as near } from '../../shared/contract/nearest.ts';
import { FAULTS } from '../../shared/core/launch/faults.ts';
import { callersAccess } from '../aws-access.ts';
import { Problems, reporting } from '../bad-input.ts';
import { type HeldBar, HeldBars } from '../bars/held.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  nameLines,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { givenRegion, stackBucket } from '../stack-bucket.ts';
import { visibleLine, writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly cluster: string;
  readonly region?: string;
  readonly bucket?: string;
  readonly all?: boolean;
  readonly output: OutputFormat<'text' | 'name'>;
}

type Action = 'list' | 'forget';

function checked(action: Action, keys: readonly string[], options: Options): string {
  const problems = new Problems();
  const region = givenRegion(options.region);
  if (region === undefined) problems.add('give --region, or set AWS_REGION');
  if (action === 'list' && keys.length > 0) problems.add('list takes no keys');
  if (action === 'list' && options.all === true) problems.add('--all is for forget');
  const isSaid = (options.all === true) !== keys.length > 0;
  if (action === 'forget' && !isSaid) {
    problems.add('give keys as the list has them, or --all, and not both');
  }
  return problems.checked(region);
}

/** Whether the key is named: by itself, or by what it begins with. */
function isNamed(key: string, names: readonly string[]): boolean {
  return names.some((name) => key === name || key.startsWith(`${name}/`));
}

async function run(action: Action, keys: readonly string[], options: Options): Promise<number> {
  const access = callersAccess(checked(action, keys, options), 'bars');
  const bucket = options.bucket ?? (await stackBucket(access, options.cluster));
  const bars = new HeldBars(access, bucket);
  const held = await bars.read();
  if (action === 'list') {
    writeOut(printed(held, options.output, () => asText(held, bars.nowMs())));
    return 0;
  }
  const isMeant = (key: string): boolean => options.all === true || isNamed(key, keys);
  const meant = held.filter(({ key }) => isMeant(key));
  const own = meant.filter(({ cluster }) => cluster === options.cluster);
  if (own.length > 0) await bars.forget(options.cluster, isMeant);
  writeOut(printed(own, options.output, () => forgotten(own)));
  for (const each of meant.filter((one) => !own.includes(one))) {
    const { key, cluster } = each;
    writeErr(`${key} is barred by the stack for ${cluster}: --cluster ${cluster}\n`);
  }
  const unknown = keys.filter((name) => !held.some(({ key }) => isNamed(key, [name])));
  const known = held.map(({ key }) => key);
  for (const name of unknown) {
    writeErr(`error: ${name} is not barred${near(name, known)}\n`);
  }
  return unknown.length > 0 || own.length < meant.length ? 1 : 0;
}

/** Names are keys, as forget takes them. */
function printed(
  bars: readonly HeldBar[],
  format: Options['output'],
  asText: () => string,
): string {
  if (format === 'name') return nameLines(bars.map(({ key }) => key));
  return isDocument(format) ? asDocument(bars, format) : asText();
}

function forgotten(bars: readonly HeldBar[]): string {
  if (bars.length === 0) return 'nothing was forgotten\n';
  return bars.map(({ key }) => `${key}: forgotten\n`).join('');
}

function minutes(ms: number): string {
  return `${Math.max(1, Math.round(ms / 60_000))}m`;
}

function asText(bars: readonly HeldBar[], nowMs: number): string {
  if (bars.length === 0) return 'nothing is barred\n';
  const rows = bars.map(({ key, cluster, bar }) => [
    key,
    bar.kind,
    bar.reason,
    minutes(nowMs - bar.markedAtMs),
    minutes(bar.untilMs - nowMs),
    String(bar.times),
    cluster,
    FAULTS[bar.kind].ends,
  ]);
  const table = [['BARRED', 'KIND', 'REASON', 'AGE', 'LEFT', 'TIMES', 'BY', 'ENDS'], ...rows].map(
    (row) => row.map(visibleLine),
  );
  const widths = table[0]?.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  return table
    .map((row) => `${row.map((cell, at) => cell.padEnd(widths?.[at] ?? 0)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}

function asDocument(held: readonly HeldBar[], format: DocumentFormat): string {
  const bars = held.map(({ key, cluster, bar: { kind, reason, markedAtMs, untilMs, times } }) => ({
    key,
    kind,
    reason,
    since: new Date(markedAtMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    times,
    cluster,
    ends: FAULTS[kind].ends,
  }));
  return documentText({ joiner: packageJson.version, bars }, format);
}

/** `joiner bars`: what EC2 has refused and is not asked for now, and a way to ask all the same. */
export function barsCommand(): Command {
  const action = new Argument('[action]').choices(['list', 'forget']).default('list');
  return new Command('bars')
    .description('list unavailable offerings, or make them available again')
    .addArgument(action)
    .argument('[keys...]', 'entries to forget: keys of the list, or prefixes of keys')
    .requiredOption('--cluster <name>', 'the EKS cluster')
    .option('--region <region>', "the cluster's region; default: AWS_REGION")
    .option('--bucket <name>', "the stack's bucket; default: read from the stack's functions")
    .option('--all', 'forget every entry of this stack')
    .addOption(outputOption('text', 'name'))
    .addHelpText('after', HELP)
    .action((what: Action, keys: readonly string[], options: Options) =>
      reporting(() => run(what, keys, options)),
    );
}

const HELP = `
Joiner does not request an unavailable offering until its entry expires or is forgotten.

The command uses the AWS credentials of the environment, as the aws command does. It needs
s3:ListBucket and s3:GetObject; s3:PutObject to forget; lambda:GetFunctionConfiguration without
--bucket.`;
