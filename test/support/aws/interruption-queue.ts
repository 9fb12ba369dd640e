import {
  DeleteMessageBatchCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Calls } from '../../../shared/aws/calls.ts';

export interface QueuedMessage {
  readonly id: string;
  readonly body: string;
  readonly receipt: string;
}

export interface QueueParts {
  readonly sqs: SQSClient;
  readonly calls: Calls;
  /** The queue's name. */
  readonly name: string;
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html */
const BATCH_MAX = 10;

/** The interruption queue as Lambda reads it for `interrupt`. */
export class InterruptionQueue {
  private readonly parts: QueueParts;
  private url: string | undefined;

  constructor(parts: QueueParts) {
    this.parts = parts;
  }

  /** Waits up to `waitSeconds` (at most 20) for the first message. */
  async receive(waitSeconds: number): Promise<readonly QueuedMessage[]> {
    const { sqs, calls } = this.parts;
    const command = new ReceiveMessageCommand({
      QueueUrl: await this.address(),
      MaxNumberOfMessages: BATCH_MAX,
      WaitTimeSeconds: waitSeconds,
    });
    const { Messages = [] } = await calls.run('sqs:ReceiveMessage', () => sqs.send(command));
    return Messages.flatMap(({ MessageId: id, Body: body, ReceiptHandle: receipt }) =>
      id === undefined || body === undefined || receipt === undefined
        ? []
        : [{ id, body, receipt }],
    );
  }

  async delete(messages: readonly QueuedMessage[]): Promise<void> {
    const { sqs, calls } = this.parts;
    const QueueUrl = await this.address();
    for (let at = 0; at < messages.length; at += BATCH_MAX) {
      const batch = messages.slice(at, at + BATCH_MAX);
      const command = new DeleteMessageBatchCommand({
        QueueUrl,
        Entries: batch.map(({ id, receipt }) => ({ Id: id, ReceiptHandle: receipt })),
      });
      await calls.run('sqs:DeleteMessageBatch', () => sqs.send(command));
    }
  }

  private async address(): Promise<string> {
    const { sqs, calls, name } = this.parts;
    if (this.url !== undefined) return this.url;
    const command = new GetQueueUrlCommand({ QueueName: name });
    const { QueueUrl = '' } = await calls.run('sqs:GetQueueUrl', () => sqs.send(command));
    this.url = QueueUrl;
    return QueueUrl;
  }
}
