import { GetQueueAttributesCommand, GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Calls } from './calls.ts';

/**
 * Reads how many messages wait in the queue of that name: those that nobody has received yet. SQS
 * says so approximately, at most a minute late. Rejects with a `PortError` where SQS refuses or has
 * no such queue.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
 */
export function queueDepthReader(sqs: SQSClient, calls: Calls, name: string) {
  let url: string | undefined;
  return async (): Promise<number> => {
    url ??= await queueUrl(sqs, calls, name);
    const command = new GetQueueAttributesCommand({
      QueueUrl: url,
      AttributeNames: ['ApproximateNumberOfMessages'],
    });
    const { Attributes } = await calls.run('sqs:GetQueueAttributes', () => sqs.send(command));
    return Number(Attributes?.ApproximateNumberOfMessages);
  };
}

async function queueUrl(sqs: SQSClient, calls: Calls, name: string): Promise<string | undefined> {
  const command = new GetQueueUrlCommand({ QueueName: name });
  const { QueueUrl } = await calls.run('sqs:GetQueueUrl', () => sqs.send(command));
  return QueueUrl;
}
