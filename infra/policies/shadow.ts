import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { describeCluster, sharedMemory } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Reads prices and keeps observations: nothing of EC2, and no write outside of one folder. */
export function shadowPolicy(scope: PolicyScope): readonly Statement[] {
  const { bucketArn, cluster, region } = scope;
  const folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.observations}`;
  return [
    describeCluster(scope),
    {
      sid: 'Observations',
      why: 'Keeps what it has planned, an object each time.',
      actions: ['s3:PutObject'],
      resources: [`${bucketArn}/${folder}*`],
    },
    ...sharedMemory(scope, [BUCKET_LAYOUT.shared(region)], ['kms:Decrypt', 'kms:GenerateDataKey']),
  ];
}
