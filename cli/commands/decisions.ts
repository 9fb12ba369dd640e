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
import { isDocument, type OutputFormat, outputOption } from '../output.ts';
import { givenRegion, stackBucket } from '../stack-bucket.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { timeSpan } from '../time-span.ts';

interface Options {
  readonly cluster: string;
  readonly region?: string;
  readonly bucket?: string;
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

function warn(reader: DecisionReader): void {
  for (const note of reader.notes.splice(0)) writeErr(`warning: ${note}\n`);
}

function checkedRegion({ region: given }: Options): string {
  const problems = new Problems();
  const region = givenRegion(given);
  if (region === undefined) problems.add('give --region, or set AWS_REGION');
  return problems.checked(region);
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

async function run(options: Options): Promise<number> {
  const { cluster, output } = options;
  const access = callersAccess(checkedRegion(options), 'decisions');
  const bucket = options.bucket ?? (await stackBucket(access, cluster));
  const reader = new DecisionReader(access, bucket, cluster);
  const selection = new Selection({
    pod: options.pod,
    node: options.node,
    nodePool: options.nodepool,
  });
  const sinceMs = reader.nowMs() - options.since;
  const next = async (): Promise<readonly ReadDecision[]> => {
    const records = selection.of(await reader.since(sinceMs));
    warn(reader);
    return records;
  };
  if (options.follow === true) return follow(next, options);
  const records = await next();
  if (isDocument(output)) writeOut(recordsText(cluster, sinceMs, records, output));
  else if (records.length === 0) writeOut(`no decision since ${timeText(sinceMs)}\n`);
  else {
    const isWide = output === 'wide';
    writeOut(`${headLine(isWide)}${recordLines(records, isWide)}`);
  }
  return 0;
}

/** `joiner decisions`: what the functions have decided, and why. */
export function decisionsCommand(): Command {
  return new Command('decisions')
    .description('list what Joiner has decided, and why, from the records in the bucket')
    .requiredOption('--cluster <name>', 'the EKS cluster')
    .option('--region <region>', "the cluster's region; default: AWS_REGION")
    .option('--bucket <name>', "the stack's bucket; default: read from the stack's functions")
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

The command uses the AWS credentials of the environment, as the aws command does. It needs
s3:ListBucket and s3:GetObject; lambda:GetFunctionConfiguration without --bucket.`;
