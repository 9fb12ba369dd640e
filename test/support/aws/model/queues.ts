import { createHash } from 'node:crypto';
import type * as sqs from '@aws-sdk/client-sqs';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import { handle } from './handle.ts';

/** A message; what is not known of one that is put into a queue by a test is left out. */
export interface ModelMessage {
  readonly id: string;
  readonly body: string;
  /** Of whoever has it now, hidden from others; undefined: it can be received. */
  receipt: string | undefined;
  /** Undefined: it is hidden until it is deleted. */
  hiddenUntilMs?: number;
  queuedAtMs?: number;
  received?: number;
  /** ARN of the queue that gave it up. */
  movedFrom?: string;
  attributes?: Record<string, sqs.MessageAttributeValue>;
}

const ARN = 'arn:aws:sqs:us-east-1:111122223333:';
const URL_START = 'https://sqs.us-east-1.amazonaws.com/111122223333/';

function md5(text: string): string {
  return createHash('md5').update(text).digest('hex');
}

function attributesOf({ queuedAtMs, received, movedFrom }: ModelMessage): Record<string, string> {
  const known = {
    SentTimestamp: queuedAtMs,
    ApproximateReceiveCount: received,
    DeadLetterQueueSourceArn: movedFrom,
  };
  const entries = Object.entries(known).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}

/** Queues that hand out up to ten messages at a time, and SQS's redrive between them. */
export class QueueModel {
  /** Messages that cannot be deleted. */
  readonly stuck = new Set<string>();
  /** How far redrives come: all the way, nowhere yet, or they fail. */
  redrives: 'COMPLETED' | 'RUNNING' | 'FAILED' = 'COMPLETED';
  /** The last one first. */
  readonly tasks: sqs.ListMessageMoveTasksResultEntry[] = [];
  private readonly queueOf: (name: string) => ModelMessage[] | undefined;
  private sent = 0;
  private receipts = 0;

  constructor(queueOf: (name: string) => ModelMessage[] | undefined) {
    this.queueOf = queueOf;
  }

  /** Puts a message into the queue. */
  send(queue: ModelMessage[], body: string, attributes = {}): string {
    this.sent += 1;
    const id = `m-${this.sent}`;
    const queuedAtMs = Date.now();
    queue.push({ id, body, receipt: undefined, queuedAtMs, received: 0, attributes });
    return id;
  }

  handlers(): Handlers {
    return { ...this.queueHandlers(), ...this.messageHandlers(), ...this.taskHandlers() };
  }

  private at(address = ''): ModelMessage[] {
    const name = address.split(/[/:]/).at(-1) ?? '';
    const queue = this.queueOf(name);
    if (queue !== undefined) return queue;
    throw new WireFault('QueueDoesNotExist', 'The specified queue does not exist.');
  }

  private free(queue: readonly ModelMessage[]): readonly ModelMessage[] {
    const nowMs = Date.now();
    const isHidden = ({ receipt, hiddenUntilMs = Infinity }: ModelMessage): boolean =>
      receipt !== undefined && nowMs < hiddenUntilMs;
    return queue.filter((each) => !isHidden(each));
  }

  private queueHandlers(): Handlers {
    return {
      GetQueueUrl: handle<sqs.GetQueueUrlRequest, sqs.GetQueueUrlCommandOutput>(({ QueueName }) => {
        this.at(QueueName);
        return { QueueUrl: `${URL_START}${QueueName}` };
      }),
      GetQueueAttributes: handle<
        sqs.GetQueueAttributesRequest,
        sqs.GetQueueAttributesCommandOutput
      >(({ QueueUrl = '' }) => {
        const queue = this.at(QueueUrl);
        const visible = this.free(queue).length;
        return {
          Attributes: {
            QueueArn: `${ARN}${QueueUrl.split('/').at(-1)}`,
            ApproximateNumberOfMessages: String(visible),
            ApproximateNumberOfMessagesNotVisible: String(queue.length - visible),
          },
        };
      }),
    };
  }

  private receive({
    QueueUrl,
    MaxNumberOfMessages = 1,
    VisibilityTimeout,
  }: sqs.ReceiveMessageRequest): sqs.Message[] {
    const taken = this.free(this.at(QueueUrl)).slice(0, MaxNumberOfMessages);
    for (const each of taken) {
      this.receipts += 1;
      each.receipt = `receipt-${this.receipts}`;
      each.received = (each.received ?? 0) + 1;
      delete each.hiddenUntilMs;
      if (VisibilityTimeout !== undefined) {
        each.hiddenUntilMs = Date.now() + VisibilityTimeout * 1000;
      }
    }
    return taken.map((each) => ({
      MessageId: each.id,
      Body: each.body,
      ReceiptHandle: each.receipt,
      MD5OfBody: md5(each.body),
      Attributes: attributesOf(each),
      MessageAttributes: each.attributes,
    }));
  }

  private messageHandlers(): Handlers {
    return {
      SendMessage: handle<sqs.SendMessageRequest, sqs.SendMessageCommandOutput>(
        ({ QueueUrl, MessageBody = '', MessageAttributes = {} }) => ({
          MessageId: this.send(this.at(QueueUrl), MessageBody, MessageAttributes),
          MD5OfMessageBody: md5(MessageBody),
        }),
      ),
      ReceiveMessage: handle<sqs.ReceiveMessageRequest, sqs.ReceiveMessageCommandOutput>(
        (request) => ({ Messages: this.receive(request) }),
      ),
      ChangeMessageVisibilityBatch: handle<
        sqs.ChangeMessageVisibilityBatchRequest,
        sqs.ChangeMessageVisibilityBatchCommandOutput
      >(({ QueueUrl, Entries = [] }) => {
        for (const { ReceiptHandle, VisibilityTimeout = 0 } of Entries) {
          const found = this.at(QueueUrl).find(({ receipt }) => receipt === ReceiptHandle);
          if (found !== undefined) found.hiddenUntilMs = Date.now() + VisibilityTimeout * 1000;
        }
        return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
      }),
      DeleteMessageBatch: handle<
        sqs.DeleteMessageBatchRequest,
        sqs.DeleteMessageBatchCommandOutput
      >(({ QueueUrl, Entries = [] }) => this.delete(this.at(QueueUrl), Entries)),
    };
  }

  private delete(
    queue: ModelMessage[],
    entries: readonly sqs.DeleteMessageBatchRequestEntry[],
  ): Omit<sqs.DeleteMessageBatchCommandOutput, '$metadata'> {
    const stuck = new Set(queue.filter(({ id }) => this.stuck.has(id)).map((each) => each.receipt));
    const kept = entries.filter(({ ReceiptHandle }) => stuck.has(ReceiptHandle));
    const gone = entries.filter((each) => !kept.includes(each));
    const receipts = new Set(gone.map((each) => each.ReceiptHandle));
    const left = queue.filter((each) => !receipts.has(each.receipt));
    queue.splice(0, queue.length, ...left);
    const fault = { SenderFault: false, Code: 'InternalError', Message: 'try again' };
    return {
      Successful: gone.map(({ Id }) => ({ Id })),
      Failed: kept.map(({ Id }) => ({ Id, ...fault })),
    };
  }

  private taskHandlers(): Handlers {
    return {
      StartMessageMoveTask: handle<
        sqs.StartMessageMoveTaskRequest,
        sqs.StartMessageMoveTaskCommandOutput
      >(({ SourceArn, DestinationArn }) => {
        const [from, to] = [this.at(SourceArn), this.at(DestinationArn)];
        const toMove = this.free(from);
        const moved = this.redrives === 'COMPLETED' ? toMove : [];
        for (const each of moved) {
          this.send(to, each.body, each.attributes);
          from.splice(from.indexOf(each), 1);
        }
        this.tasks.unshift({
          SourceArn,
          DestinationArn,
          Status: this.redrives,
          StartedTimestamp: Date.now() + this.tasks.length,
          ApproximateNumberOfMessagesMoved: moved.length,
          ApproximateNumberOfMessagesToMove: toMove.length,
          FailureReason: this.redrives === 'FAILED' ? 'AccessDenied' : undefined,
        });
        return { TaskHandle: `task-${this.tasks.length}` };
      }),
      ListMessageMoveTasks: handle<
        sqs.ListMessageMoveTasksRequest,
        sqs.ListMessageMoveTasksCommandOutput
      >(({ MaxResults = 1 }) => ({ Results: this.tasks.slice(0, MaxResults) })),
    };
  }
}
