import { describeCluster, discovery, memory, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

function messagesKey({ queueKeyArn, region, dnsSuffix }: PolicyScope): readonly Statement[] {
  if (queueKeyArn === undefined) return [];
  return [
    {
      sid: 'MessagesKey',
      why: 'The queue is encrypted with a key of the account.',
      actions: ['kms:Decrypt'],
      resources: [queueKeyArn],
      conditions: { StringEquals: { 'kms:ViaService': `sqs.${region}.${dnsSuffix}` } },
    },
  ];
}

/** Touches no instance: it deletes claims and wakes those who act. */
export function interruptPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    {
      sid: 'Messages',
      why: 'Lambda takes the messages from the queue with this role.',
      actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
      resources: [scope.queueArn],
    },
    ...messagesKey(scope),
    discovery(scope, 'Confirms what a message says.', [
      'DescribeInstances',
      'DescribeSpotInstanceRequests',
    ]),
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
  ];
}
