import { BUCKET_LAYOUT, DECISION_EVENT } from '../../shared/contract.ts';
import { memoryKey } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Reads decision records and publishes them; may do nothing else, and knows no cluster. */
export function eventsPolicy(scope: PolicyScope): readonly Statement[] {
  const { partition, region, account, cluster, bucketArn } = scope;
  const folder = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.decisions}`;
  return [
    {
      sid: 'Decisions',
      why: 'The decision records of this cluster.',
      actions: ['s3:GetObject'],
      resources: [`${bucketArn}/${folder}*`],
    },
    {
      sid: 'DecisionNames',
      why: 'Tells a record that is gone from one that is refused.',
      actions: ['s3:ListBucket'],
      resources: [bucketArn],
      // The request for an object that is not there has no prefix.
      conditions: { StringLikeIfExists: { 's3:prefix': [`${folder}*`] } },
    },
    {
      sid: 'DecisionEvents',
      why: 'Publishes decisions, and no other events.',
      actions: ['events:PutEvents'],
      resources: [`arn:${partition}:events:${region}:${account}:event-bus/${DECISION_EVENT.bus}`],
      conditions: {
        StringEquals: {
          'events:source': DECISION_EVENT.source,
        },
      },
    },
    ...memoryKey(scope, ['kms:Decrypt']),
  ];
}
