import { Annotations, Duration } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';

export interface DecisionEventsProps {
  readonly cluster: string;
  readonly bucket: s3.IBucket | s3.Bucket;
  /** The function `events`. */
  readonly publisher: lambda.Function;
}

/** An event is late after an hour; its decision is still in the bucket. */
const DELIVERY = { retryAttempts: 3, maxEventAge: Duration.hours(1) } as const;

/** Runs `events` for each object of decision records, after the function that wrote it has ended. */
export class DecisionEvents extends Construct {
  constructor(scope: Construct, id: string, props: DecisionEventsProps) {
    super(scope, id);
    const { cluster, bucket, publisher } = props;
    const prefix = `${BUCKET_LAYOUT.cluster(cluster)}${BUCKET_LAYOUT.decisions}`;
    new events.Rule(this, 'Recorded', {
      description: `Publishes decisions of the cluster ${cluster}`,
      eventPattern: {
        source: ['aws.s3'],
        detailType: ['Object Created'],
        detail: { bucket: { name: [bucket.bucketName] }, object: { key: [{ prefix }] } },
      },
      targets: [new targets.LambdaFunction(publisher, DELIVERY)],
    });
    if (bucket instanceof s3.Bucket) return;
    Annotations.of(this).addInfo(
      'decisionEvents is given together with an existing bucket: the bucket has to send its ' +
        'notifications to EventBridge.',
    );
  }
}
