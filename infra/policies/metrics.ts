import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { describeCluster, memoryKey } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Keeps what was counted, looks at the cluster and its queue, writes to Prometheus, and may do nothing else. */
export function metricsPolicy(scope: PolicyScope): readonly Statement[] {
  const { bucketArn, cluster } = scope;
  const key = BUCKET_LAYOUT.totals(cluster);
  return [
    describeCluster(scope),
    {
      sid: 'Totals',
      why: 'What was counted so far, in one object.',
      actions: ['s3:GetObject', 's3:PutObject'],
      resources: [`${bucketArn}/${key}`],
    },
    {
      sid: 'TotalsName',
      why: 'Tells totals that are not there yet from those that are refused.',
      actions: ['s3:ListBucket'],
      resources: [bucketArn],
      // The request for an object that is not there has no prefix.
      conditions: { StringLikeIfExists: { 's3:prefix': [key] } },
    },
    {
      sid: 'QueueDepth',
      why: 'How many messages wait for interrupt.',
      actions: ['sqs:GetQueueUrl', 'sqs:GetQueueAttributes'],
      resources: [scope.queueArn],
    },
    ...target(scope),
    ...memoryKey(scope, ['kms:Decrypt', 'kms:GenerateDataKey']),
  ];
}

function target({ remoteWrite, partition, region, account }: PolicyScope): readonly Statement[] {
  if (remoteWrite?.workspaceArn !== undefined) {
    return [
      {
        sid: 'RemoteWrite',
        why: 'Writes samples to the one workspace.',
        actions: ['aps:RemoteWrite'],
        resources: [remoteWrite.workspaceArn],
      },
    ];
  }
  if (remoteWrite?.secretArn === undefined) return [];
  const { secretArn, parameter } = remoteWrite;
  const isSecret = secretArn.includes(':secretsmanager:');
  const parameterArn = `arn:${partition}:ssm:${region}:${account}:parameter/${parameter.replace(/^\//, '')}`;
  const read = {
    sid: 'Secret',
    why: 'The credentials of the endpoint.',
    actions: ['ssm:GetParameter'],
    resources: [parameterArn],
  };
  if (!isSecret) return [read];
  return [
    read,
    {
      sid: 'SecretValue',
      why: 'SSM reads the secret with the rights of the function.',
      actions: ['secretsmanager:GetSecretValue'],
      resources: [secretArn],
    },
  ];
}
