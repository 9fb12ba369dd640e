import { setTimeout } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { ReadDecision } from '../../shared/api/decision-record.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { callersAccess } from '../aws-access.ts';
import { Problems, reporting } from '../bad-input.ts';
import { Selection } from '../decisions/about.ts';
import { DecisionReader } from '../decisions/reader.ts';
import {
  headLine,
  recordLines,
  recordsStream,
  recordsText,
  timeText,
} from '../decisions/render.ts';
import { lastMs, writtenIn } from '../ledger/files.ts';
import { isDocument, type OutputFormat, outputOption } from '../output.ts';
import { type PlaceOptions, placeOf, withPlace } from '../records-place.ts';
import { stackBucket } from '../stack-bucket.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { timeSpan } from '../time-span.ts';

interface Options extends PlaceOptions {
  readonly since: number;
  readonly pod?: string;
  readonly node?: string;
  readonly nodepool?: string;
  readonly follow?: boolean;
  readonly output: OutputFormat<'text' | 'wide'>;
}

const HOUR_MS = 3_600_000;
/** Functions write what they have decided when they end, a pass a minute. */
const FOLLOW_MS = 5_000;

function warn(notes: readonly string[]): void {
  for (const note of notes) writeErr(`warning: ${note}\n`);
}

/** Whatever is written later, until the process is ended. */
async function follow(
  next: () => Promise<readonly ReadDecision[]>,
  { output }: Options,
): Promise<never> {
  const isWide = output === 'wide';
  if (!isDocument(output)) writeOut(headLine(isWide));
  for (;;) {
    const records = await next();
    writeOut(isDocument(output) ? recordsStream(records, output) : recordLines(records, isWide));
    await setTimeout(FOLLOW_MS);
  }
}

/** Records of a time, and how those are had that are written later. */
interface Listed {
  readonly sinceMs: number;
  readonly next: () => Promise<readonly ReadDecision[]>;
}

/** The time ends with the last record. */
function inFolder(dir: string, since: number): Listed {
  const written = writtenIn(dir);
  const sinceMs = lastMs(written) - since;
  const next = async () => {
    warn(written.notes);
    return written.records.filter(({ atMs }) => atMs >= sinceMs);
  };
  return { sinceMs, next };
}

async function inBucket(cluster: string, region: string, options: Options): Promise<Listed> {
  const access = callersAccess(region, 'decisions');
  const bucket = options.bucket ?? (await stackBucket(access, cluster));
  const reader = new DecisionReader(access, bucket, cluster);
  const sinceMs = reader.nowMs() - options.since;
  const next = async () => {
    const records = await reader.since(sinceMs);
    warn(reader.notes.splice(0));
    return records;
  };
  return { sinceMs, next };
}

async function run(options: Options): Promise<number> {
  const { output, pod, node, nodepool: nodePool, since } = options;
  const problems = new Problems();
  if (options.dir !== undefined && options.follow === true) {
    problems.add('--follow: a folder does not change; give a cluster');
  }
  const place = placeOf(options, problems);
  const { sinceMs, next: all } =
    place.dir === undefined
      ? await inBucket(place.cluster, place.region, options)
      : inFolder(place.dir, since);
  const selection = new Selection({ pod, node, nodePool });
  const next = async () => selection.of(await all());
  if (options.follow === true) return follow(next, options);
  const records = await next();
  if (isDocument(output)) writeOut(recordsText(options.cluster, sinceMs, records, output));
  else if (records.length === 0) writeOut(`no decision since ${timeText(sinceMs)}\n`);
  else {
    const isWide = output === 'wide';
    writeOut(`${headLine(isWide)}${recordLines(records, isWide)}`);
  }
  return 0;
}

/** `joiner decisions`: what the functions have decided, and why. */
export function decisionsCommand(): Command {
  return withPlace(new Command('decisions'))
    .description('list what Joiner has decided, and why, from records')
    .addOption(
      new Option('--since <time>', 'how far back').argParser(timeSpan).default(HOUR_MS, '1h'),
    )
    .option('--pod <name>', 'only decisions that name the pod: NAME or NAMESPACE/NAME')
    .option('--node <name>', 'only decisions that name the node, or its NodeClaim')
    .option('--nodepool <name>', 'only decisions that name the NodePool')
    .option('-f, --follow', 'print new decisions as they are written, until Ctrl-C')
    .addOption(outputOption('text', 'wide'))
    .addHelpText('after', HELP)
    .action((options: Options) => reporting(() => run(options)));
}

const HELP = `
Each reason is described at ${pageUrl('reasons.md')}.
joiner schema decision prints the JSON Schema of a record.
With --follow, -o json writes one record a line, and -o yaml one document a record.

Records contain the names of NodeClaims. The name of a node is only in the record of its
termination. For a node that still exists, --node takes its NodeClaim (kubectl get nodeclaims).

A record is written when the invocation ends, at most 15 minutes after the decision. The setting
dataRetentionDays of the stack is the number of days that records are kept.

With --dir the time ends with the last record in the folder, and no AWS credentials are needed.

With --cluster the command uses the AWS credentials of the environment, as the aws command does.
It needs s3:ListBucket and s3:GetObject; lambda:GetFunctionConfiguration without --bucket.`;
