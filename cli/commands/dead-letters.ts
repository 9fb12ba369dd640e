import { Command, InvalidArgumentError, Option } from 'commander';
import { PortError } from '../../shared/ports.ts';
import { callersAccess } from '../aws-access.ts';
import { BadInput, Problems, reporting } from '../bad-input.ts';
import { type Deed, handleChosen, type Outcome } from '../dead-letters/chosen.ts';
import { judge } from '../dead-letters/judgement.ts';
import { moveAll } from '../dead-letters/move.ts';
import { type DeadLetter, DeadLetterQueue } from '../dead-letters/queue.ts';
import {
  listingDocument,
  listingText,
  moveDocument,
  moveText,
  outcomesDocument,
  outcomesText,
} from '../dead-letters/render.ts';
import { isDocument, type OutputFormat, outputOption } from '../output.ts';
import { regionOption } from '../region.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly cluster: string;
  readonly region?: string;
  readonly redrive?: boolean;
  readonly discard?: boolean;
  readonly id: readonly string[];
  readonly dryRun?: boolean;
  readonly limit: number;
  readonly output: OutputFormat<'text'>;
}

const LIMIT = 100;
/** More take longer to look at than a message can be kept from others meanwhile. */
const LIMIT_MAX = 1000;

function limit(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= LIMIT_MAX) return value;
  throw new InvalidArgumentError(`expected a whole number from 1 to ${LIMIT_MAX}.`);
}

function checked(options: Options): string {
  const { redrive, discard, id, dryRun } = options;
  const problems = new Problems();
  const region = options.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (region === undefined) problems.add('give --region, or set AWS_REGION');
  if (redrive === true && discard === true) problems.add('give --redrive or --discard, not both');
  if (discard === true && id.length === 0) problems.add('--discard takes ids: --id ID…');
  if (redrive !== true && discard !== true) {
    if (id.length > 0) problems.add('--id is for --redrive and --discard');
    if (dryRun === true) problems.add('--dry-run is for --redrive and --discard');
  }
  return problems.checked(region);
}

async function run(options: Options): Promise<number> {
  const region = checked(options);
  const queue = new DeadLetterQueue(callersAccess(region, 'dead-letters'), options.cluster);
  if (!(await queue.exists())) {
    const { deadLetters } = queue.names;
    throw new BadInput([
      `there is no queue ${deadLetters} in ${region}: name the cluster and region of a stack`,
    ]);
  }
  const isAll = options.id.length === 0;
  if (options.discard === true) return await chosen(queue, 'discard', options);
  if (options.redrive !== true) return await list(queue, region, options);
  if (!isAll) return await chosen(queue, 'redrive', options);
  return options.dryRun === true ? await wouldMove(queue, options) : await move(queue, options);
}

/** Whoever may not do this can look all the same: the messages come back by themselves. */
async function show(queue: DeadLetterQueue, letters: readonly DeadLetter[]): Promise<void> {
  try {
    await queue.show(letters);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    writeErr(`warning: for a minute nobody is handed these messages: ${error.message}\n`);
  }
}

async function list(queue: DeadLetterQueue, region: string, options: Options): Promise<number> {
  const { cluster } = options;
  const [envelope, hidden] = [await queue.envelope(), await queue.hidden()];
  const { letters, isAll } = await queue.look(options.limit);
  await show(queue, letters);
  const nowMs = Date.now();
  const judged = letters.map((letter) => ({
    letter,
    judgement: judge(letter, { cluster, envelope }, nowMs),
  }));
  const name = queue.names.deadLetters;
  const listing = { cluster, region, queue: name, nowMs, judged, isAll, hidden };
  writeOut(
    isDocument(options.output) ? listingDocument(listing, options.output) : listingText(listing),
  );
  return 0;
}

async function move(queue: DeadLetterQueue, { output }: Options): Promise<number> {
  const task = await moveAll(queue);
  const name = queue.names.deadLetters;
  writeOut(isDocument(output) ? moveDocument(task, name, output) : moveText(task, name));
  const status = task?.status ?? 'RUNNING';
  return status === 'RUNNING' || status === 'COMPLETED' ? 0 : 1;
}

async function wouldMove(queue: DeadLetterQueue, options: Options): Promise<number> {
  const { letters, isAll } = await queue.look(options.limit);
  await show(queue, letters);
  write(letters.map(dry), queue, 'redrive', options);
  if (!isAll) writeErr(`there may be more than these ${letters.length}\n`);
  return 0;
}

function dry({ id }: DeadLetter): Outcome {
  return { id, result: 'dry-run', why: undefined };
}

function write(
  outcomes: readonly Outcome[],
  queue: DeadLetterQueue,
  deed: Deed,
  { output }: Options,
): void {
  const { deadLetters } = queue.names;
  writeOut(
    isDocument(output)
      ? outcomesDocument(outcomes, deadLetters, output)
      : outcomesText(outcomes, deed),
  );
}

async function chosen(queue: DeadLetterQueue, deed: Deed, options: Options): Promise<number> {
  const { id: ids, dryRun } = options;
  const named = new Set(ids);
  const { letters } = await queue.look(LIMIT_MAX, (seen) => ids.every((id) => seen.has(id)));
  const meant = letters.filter(({ id }) => named.has(id));
  const outcomes = dryRun === true ? meant.map(dry) : await handleChosen(queue, deed, meant);
  const kept = new Set(
    outcomes.flatMap(({ id, result }) =>
      result === 'dry-run' || result === 'kept' || result === 'sent' ? [id] : [],
    ),
  );
  await show(
    queue,
    letters.filter(({ id }) => !named.has(id) || kept.has(id)),
  );
  write(outcomes, queue, deed, options);
  const unknown = [...named].filter((id) => !letters.some((letter) => letter.id === id));
  for (const id of unknown) {
    const among = `not among the ${letters.length} messages that SQS hands out now`;
    writeErr(`error: ${id} is ${among}\n`);
  }
  const isDone = unknown.length === 0 && outcomes.every(({ why }) => why === undefined);
  return isDone ? 0 : 1;
}

/** `joiner dead-letters`: what `interrupt` has failed on, why, and the way back. */
export function deadLettersCommand(): Command {
  return new Command('dead-letters')
    .description(
      'list, redrive or discard interruption messages that the function interrupt could not handle',
    )
    .requiredOption('--cluster <name>', 'the EKS cluster')
    .addOption(regionOption("the cluster's region; default: AWS_REGION"))
    .option('--redrive', 'move the messages back to the interruption queue')
    .option('--discard', 'delete the messages that --id names')
    .option('--id <ids...>', 'only the messages with these ids', [])
    .option('--dry-run', 'only print what would be done')
    .addOption(
      new Option('--limit <n>', 'the maximum number of messages to read')
        .argParser(limit)
        .default(LIMIT),
    )
    .addOption(outputOption('text'))
    .addHelpText('after', HELP)
    .action((options: Options) => reporting(() => run(options)));
}

const HELP = `
Listing removes no message. Each run of the command increases RECEIVED by one. While the command
runs, the messages that it reads are invisible to other consumers. If it is aborted, they become
visible after at most one minute.

A redrive is safe to repeat: interrupt handles a duplicate message once, and rejects messages older
than one day. Redrive after the cause is fixed: a message that fails again returns within half an
hour. A message that no function receives expires after one hour.

The command uses the AWS credentials of the environment, as the aws command does. It needs:
  to list, on the dead-letter queue: sqs:GetQueueUrl, sqs:GetQueueAttributes, sqs:ReceiveMessage,
    sqs:ChangeMessageVisibility
  to discard, on the dead-letter queue: sqs:DeleteMessage
  to redrive, on the dead-letter queue: sqs:DeleteMessage, sqs:StartMessageMoveTask,
    sqs:ListMessageMoveTasks
  to redrive, on the interruption queue: sqs:GetQueueUrl, sqs:GetQueueAttributes, sqs:SendMessage
  on the KMS key of the queues, if they have one: kms:Decrypt, kms:GenerateDataKey`;
