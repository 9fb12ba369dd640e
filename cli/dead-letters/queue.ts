import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListMessageMoveTasksCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  type SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { type AwsAccess, sqsClient } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { interruptionQueueNames } from '../../shared/contract.ts';
import type { Envelope } from '../../shared/core/interruption/interruption.ts';
import { PortError } from '../../shared/ports.ts';

/** A message of the dead-letter queue. */
export interface DeadLetter {
  readonly id: string;
  readonly body: string;
  /** When a queue took it first: moving it to the dead letters does not change that. */
  readonly queuedAtMs: number;
  /** How often it was handed out, to the function and to whoever has looked at it since. */
  readonly received: number;
  /** Name of the queue that gave it up; undefined: SQS names none. */
  readonly movedFrom: string | undefined;
  readonly attributes: Message['MessageAttributes'];
  readonly receipt: string;
}

/** Some of the dead letters. */
export interface Look {
  /** Oldest first. */
  readonly letters: readonly DeadLetter[];
  /** There was nothing else to be handed out. */
  readonly isAll: boolean;
}

/** A redrive of the whole queue, which SQS carries out by itself. */
export interface MoveTask {
  /** `RUNNING`, `COMPLETED`, `CANCELLING`, `CANCELLED` or `FAILED`. */
  readonly status: string;
  readonly startedAtMs: number;
  readonly moved: number;
  /** Undefined: not known yet. */
  readonly toMove: number | undefined;
  readonly failure: string | undefined;
}

interface Place {
  readonly url: string;
  readonly arn: string;
  /** Messages that somebody has been handed, and that nobody else is for a while. */
  readonly hidden: number;
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html */
const BATCH_MAX = 10;
/** Long polling asks all of SQS's servers; short polling may overlook messages. */
const WAIT_SECONDS = 1;
/** While one look goes on no message comes twice; who breaks it off hides them for so long. */
const HIDDEN_SECONDS = 60;
/** `QueueDoesNotExist` by its older name as well. */
const NO_QUEUE = /QueueDoesNotExist|NonExistentQueue/;

/** The ARN of a queue; undefined: the account and region have no queue of that name. */
export async function queueArn(access: AwsAccess, name: string): Promise<string | undefined> {
  const sqs = sqsClient(access);
  try {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: name }));
    const { Attributes } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
    );
    return Attributes?.['QueueArn'];
  } catch (error) {
    if (error instanceof Error && NO_QUEUE.test(error.name)) return undefined;
    throw error;
  }
}

function batches<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / BATCH_MAX);
  return Array.from({ length: count }, (_, at) =>
    items.slice(at * BATCH_MAX, (at + 1) * BATCH_MAX),
  );
}

function nameIn(arn: string | undefined): string | undefined {
  return arn?.split(':').at(-1);
}

function letterOf(message: Message): readonly DeadLetter[] {
  const { MessageId: id, Body: body, ReceiptHandle: receipt, Attributes = {} } = message;
  if (id === undefined || body === undefined || receipt === undefined) return [];
  return [
    {
      id,
      body,
      receipt,
      queuedAtMs: Number(Attributes.SentTimestamp ?? 0),
      received: Number(Attributes.ApproximateReceiveCount ?? 0),
      movedFrom: nameIn(Attributes.DeadLetterQueueSourceArn),
      attributes: message.MessageAttributes,
    },
  ];
}

function order(a: DeadLetter, b: DeadLetter): number {
  return a.queuedAtMs - b.queuedAtMs || (a.id < b.id ? -1 : 1);
}

/** The dead letters of a cluster's stack, with the caller's credentials. */
export class DeadLetterQueue {
  readonly names: ReturnType<typeof interruptionQueueNames>;
  private readonly sqs: SQSClient;
  private readonly calls = new Calls();
  private readonly places = new Map<string, Place>();

  constructor(access: AwsAccess, cluster: string) {
    this.names = interruptionQueueNames(cluster);
    this.sqs = sqsClient(access);
  }

  /** Whether there is such a queue in the account and region. */
  async exists(): Promise<boolean> {
    try {
      await this.dead();
      return true;
    } catch (error) {
      if (error instanceof PortError && NO_QUEUE.test(error.code)) return false;
      throw error;
    }
  }

  /** Whom the stack's function believes: the account and region that the queue is in. */
  async envelope(): Promise<Envelope> {
    const [, , , region = '', accountId = ''] = (await this.dead()).arn.split(':');
    return { accountId, region };
  }

  /** How many were handed out to somebody else when the queue was found. */
  async hidden(): Promise<number> {
    return (await this.dead()).hidden;
  }

  /**
   * At most `limit` messages, until `isEnough`. Nobody else is handed them meanwhile: what is not
   * deleted afterwards has to be shown again.
   */
  async look(
    limit: number,
    isEnough: (seen: ReadonlyMap<string, DeadLetter>) => boolean = () => false,
  ): Promise<Look> {
    const { url } = await this.dead();
    const seen = new Map<string, DeadLetter>();
    for (;;) {
      const before = seen.size;
      const command = new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(BATCH_MAX, limit - before),
        VisibilityTimeout: HIDDEN_SECONDS,
        WaitTimeSeconds: WAIT_SECONDS,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      });
      const answer = await this.calls.run('sqs:ReceiveMessage', () => this.sqs.send(command));
      const handed = (answer.Messages ?? []).flatMap(letterOf);
      for (const letter of handed) seen.set(letter.id, letter);
      // Where nothing new came the look has taken too long, and begins anew.
      const isOver = seen.size === before || seen.size >= limit || isEnough(seen);
      if (isOver) return { letters: [...seen.values()].sort(order), isAll: handed.length === 0 };
    }
  }

  /** Lets others be handed the messages again, now and not in a minute. */
  async show(letters: readonly DeadLetter[]): Promise<void> {
    const { url: QueueUrl } = await this.dead();
    for (const batch of batches(letters)) {
      const Entries = batch.map(({ receipt: ReceiptHandle }, at) => ({
        Id: String(at),
        ReceiptHandle,
        VisibilityTimeout: 0,
      }));
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries });
      await this.calls.run('sqs:ChangeMessageVisibility', () => this.sqs.send(command));
    }
  }

  /** Puts a copy into the queue that `interrupt` takes messages from. */
  async sendBack({ body, attributes }: DeadLetter): Promise<void> {
    const command = new SendMessageCommand({
      QueueUrl: (await this.source()).url,
      MessageBody: body,
      MessageAttributes: attributes,
    });
    await this.calls.run('sqs:SendMessage', () => this.sqs.send(command));
  }

  /** Takes messages out for good; why those that SQS refused are still there, by id. */
  async delete(letters: readonly DeadLetter[]): Promise<ReadonlyMap<string, string>> {
    const { url: QueueUrl } = await this.dead();
    const refused = new Map<string, string>();
    for (const batch of batches(letters)) {
      const Entries = batch.map(({ receipt: ReceiptHandle }, at) => ({
        Id: String(at),
        ReceiptHandle,
      }));
      const command = new DeleteMessageBatchCommand({ QueueUrl, Entries });
      const { Failed = [] } = await this.calls.run('sqs:DeleteMessage', () =>
        this.sqs.send(command),
      );
      for (const { Id, Code, Message: why } of Failed) {
        const letter = batch[Number(Id)];
        if (letter !== undefined) refused.set(letter.id, `${Code}: ${why ?? 'no message'}`);
      }
    }
    return refused;
  }

  /**
   * Has SQS move everything to where it came from.
   * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html
   */
  async startMove(): Promise<void> {
    const [dead, source] = [await this.dead(), await this.source()];
    const command = new StartMessageMoveTaskCommand({
      SourceArn: dead.arn,
      DestinationArn: source.arn,
    });
    await this.calls.run('sqs:StartMessageMoveTask', () => this.sqs.send(command));
  }

  /** The redrive that was started last; undefined: there was none. */
  async lastMove(): Promise<MoveTask | undefined> {
    const command = new ListMessageMoveTasksCommand({
      SourceArn: (await this.dead()).arn,
      MaxResults: 1,
    });
    const { Results = [] } = await this.calls.run('sqs:ListMessageMoveTasks', () =>
      this.sqs.send(command),
    );
    return Results.slice(0, 1).map((task) => ({
      status: task.Status ?? '',
      startedAtMs: task.StartedTimestamp ?? 0,
      moved: task.ApproximateNumberOfMessagesMoved ?? 0,
      toMove: task.ApproximateNumberOfMessagesToMove,
      failure: task.FailureReason,
    }))[0];
  }

  private async dead(): Promise<Place> {
    return await this.placeOf(this.names.deadLetters);
  }

  private async source(): Promise<Place> {
    return await this.placeOf(this.names.queue);
  }

  private async placeOf(name: string): Promise<Place> {
    const known = this.places.get(name);
    if (known !== undefined) return known;
    const { QueueUrl: url = '' } = await this.calls.run('sqs:GetQueueUrl', () =>
      this.sqs.send(new GetQueueUrlCommand({ QueueName: name })),
    );
    const { Attributes = {} } = await this.calls.run('sqs:GetQueueAttributes', () =>
      this.sqs.send(
        new GetQueueAttributesCommand({
          QueueUrl: url,
          AttributeNames: ['QueueArn', 'ApproximateNumberOfMessagesNotVisible'],
        }),
      ),
    );
    const hidden = Number(Attributes.ApproximateNumberOfMessagesNotVisible ?? 0);
    const place = { url, arn: Attributes.QueueArn ?? '', hidden };
    this.places.set(name, place);
    return place;
  }
}
