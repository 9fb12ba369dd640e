import { type Command, Option } from 'commander';
import { callersAccess } from '../aws-access.ts';
import { BadInput, Problems } from '../bad-input.ts';
import type { Progress } from '../progress.ts';
import { givenRegion, stackBucket } from '../stack-bucket.ts';
import { timeSpan } from '../time-span.ts';
import { counted } from '../words.ts';
import { writtenSince } from './bucket.ts';
import { type Facts, factsOf } from './figures.ts';
import { lastMs, madeOf, type Written, writtenIn } from './files.ts';
import { LedgerRecords } from './ledger-records.ts';
import type { Span } from './lives.ts';

const DAY_MS = 86_400_000;

/** Where records and recordings are read from. */
export interface SourceOptions {
  readonly dir?: string;
  readonly cluster?: string;
  readonly region?: string;
  readonly bucket?: string;
  readonly since: number;
}

/** The command with {@link SourceOptions}. */
export function withSource(command: Command): Command {
  return command
    .option('--dir <folder>', "of simulate --record, or a copy of the cluster's in the bucket")
    .option('--cluster <name>', 'the EKS cluster, whose bucket is read')
    .option('--region <region>', "the cluster's region; default: AWS_REGION")
    .option('--bucket <name>', "the stack's bucket; default: read from the stack's functions")
    .addOption(
      new Option('--since <time>', 'how far back').argParser(timeSpan).default(30 * DAY_MS, '30d'),
    );
}

/** What was written in a time. */
export interface Source {
  readonly written: Written;
  readonly span: Span;
}

async function fromBucket(options: SourceOptions): Promise<Source> {
  const problems = new Problems();
  const region = givenRegion(options.region);
  if (options.cluster === undefined) problems.add('give --dir or --cluster');
  else if (region === undefined) problems.add('give --region, or set AWS_REGION');
  const cluster = problems.checked(options.cluster);
  const access = callersAccess(problems.checked(region), 'savings');
  const bucket = options.bucket ?? (await stackBucket(access, cluster));
  const toMs = Date.now();
  const fromMs = toMs - options.since;
  return { written: await writtenSince(access, bucket, cluster, fromMs), span: { fromMs, toMs } };
}

function refuseBucketOptions(options: SourceOptions): void {
  const faults = (['cluster', 'region', 'bucket'] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => `--${name}: give either --dir or a cluster`);
  if (faults.length > 0) throw new BadInput(faults);
}

/**
 * Reads a folder, until the end of its simulation or else its last record, or the bucket, until
 * now. A {@link BadInput} where options name both.
 */
export async function sourceOf(options: SourceOptions): Promise<Source> {
  const { dir, since } = options;
  if (dir === undefined) return await fromBucket(options);
  refuseBucketOptions(options);
  const written = writtenIn(dir);
  const toMs = lastMs(written);
  return { written, span: { fromMs: toMs - since, toMs } };
}

/**
 * What a ledger needs of the recordings of the time, and of those before it that launched a node
 * which ran in it; recordings are read one by one.
 */
export async function factsIn(
  { written, span }: Source,
  progress: Progress,
): Promise<readonly Facts[]> {
  const ledgerRecords = new LedgerRecords(written.records, span);
  const isWanted = (atMs: number): boolean =>
    atMs <= span.toMs && (atMs >= span.fromMs || ledgerRecords.launchedFor(atMs));
  const wanted = written.recordings.filter(({ atMs }) => atMs === undefined || isWanted(atMs));
  const all: Facts[] = [];
  for (const [at, { read }] of wanted.entries()) {
    progress.say(() => `${at + 1} of ${counted(wanted.length, 'recording')}`);
    const named = await read();
    if (named === undefined || !isWanted(Date.parse(named.recording.at))) continue;
    all.push(madeOf(named, () => factsOf(named)));
  }
  return all;
}
