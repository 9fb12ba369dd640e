import { describeCluster, discovery, memory, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Touches no instance: it deletes claims and wakes those who act. */
export function interruptPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    {
      sid: 'Messages',
      why: 'Lambda takes the messages from the queue with this role.',
      actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
      resources: [scope.queueArn],
    },
    discovery(scope, 'Confirms what a message says.', [
      'DescribeInstances',
      'DescribeSpotInstanceRequests',
    ]),
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
  ];
}
