import { type Command, Option } from 'commander';
import { callersAccess } from '../aws-access.ts';
import { Problems } from '../bad-input.ts';
import type { Progress } from '../progress.ts';
import { type PlaceOptions, placeOf, withPlace } from '../records-place.ts';
import { stackBucket } from '../stack-bucket.ts';
import { timeSpan } from '../time-span.ts';
import { counted } from '../words.ts';
import { writtenSince } from './bucket.ts';
import { type Facts, factsOf } from './figures.ts';
import { lastMs, madeOfOne, type Written, writtenIn } from './files.ts';
import { LedgerRecords } from './ledger-records.ts';
import type { Span } from './lives.ts';

const DAY_MS = 86_400_000;

/** Where records and recordings are read from, and of which time. */
export interface SourceOptions extends PlaceOptions {
  readonly since: number;
}

/** The command with {@link SourceOptions}. */
export function withSource(command: Command): Command {
  return withPlace(command).addOption(
    new Option('--since <time>', 'how far back').argParser(timeSpan).default(30 * DAY_MS, '30d'),
  );
}

/** What was written in a time. */
export interface Source {
  readonly written: Written;
  readonly span: Span;
}

async function fromBucket(
  cluster: string,
  region: string,
  options: SourceOptions,
): Promise<Source> {
  const access = callersAccess(region, 'savings');
  const bucket = options.bucket ?? (await stackBucket(access, cluster));
  const toMs = Date.now();
  const fromMs = toMs - options.since;
  return { written: await writtenSince(access, bucket, cluster, fromMs), span: { fromMs, toMs } };
}

/**
 * Reads a folder, until the end of its simulation or else its last record, or the bucket, until
 * now. A {@link BadInput} where options name both.
 */
export async function sourceOf(options: SourceOptions): Promise<Source> {
  const place = placeOf(options, new Problems());
  if (place.dir === undefined) return await fromBucket(place.cluster, place.region, options);
  const written = writtenIn(place.dir);
  const toMs = lastMs(written);
  return { written, span: { fromMs: toMs - options.since, toMs } };
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
    const facts = madeOfOne(named, () => factsOf(named), written);
    if (facts !== undefined) all.push(facts);
  }
  return all;
}
