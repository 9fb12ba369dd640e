import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { BUCKET_LAYOUT } from '../../shared/contract.ts';
import { acknowledge } from './acknowledge.ts';

export interface MemoryBucketProps {
  readonly cluster: string;
  /** Undefined: keys of S3. */
  readonly encryptionKey: kms.IKey | undefined;
  /** How long decision records, snapshots and observations are kept. */
  readonly dataRetention: Duration;
  /** Whether new objects are announced on the account's default event bus. */
  readonly isAnnounced: boolean;
}

/**
 * What Joiner remembers between runs. Nothing in it is needed to act, so it goes with the stack:
 * the installer empties it first.
 */
export class MemoryBucket extends Construct {
  readonly bucket: s3.Bucket;

  constructor(scope: Construct, id: string, props: MemoryBucketProps) {
    super(scope, id);
    const own = BUCKET_LAYOUT.cluster(props.cluster);
    const { decisions, snapshots, observations } = BUCKET_LAYOUT;
    const expiring = [decisions, snapshots, observations];
    this.bucket = new s3.Bucket(this, 'Bucket', {
      ...(props.encryptionKey === undefined
        ? { encryption: s3.BucketEncryption.S3_MANAGED }
        : {
            encryption: s3.BucketEncryption.KMS,
            encryptionKey: props.encryptionKey,
            bucketKeyEnabled: true,
          }),
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      removalPolicy: RemovalPolicy.DESTROY,
      lifecycleRules: [
        ...expiring.map((topic) => ({
          id: `expire-${topic.replace('/', '')}`,
          prefix: `${own}${topic}`,
          expiration: props.dataRetention,
        })),
        { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    if (props.isAnnounced) announce(this.bucket);
    acknowledge(this.bucket, {
      S1:
        'Only roles of this stack read and write it; access logs would need a second bucket that ' +
        'nothing empties. CloudTrail data events show access where that is asked for.',
    });
  }
}

/** By CloudFormation's own property: the CDK's prop for it would add a function of its own. */
function announce(bucket: s3.Bucket): void {
  const resource = bucket.node.defaultChild;
  if (!(resource instanceof s3.CfnBucket)) return;
  resource.notificationConfiguration = {
    eventBridgeConfiguration: { eventBridgeEnabled: true },
  };
}

/** Lets somebody read what people read who look at the cluster. */
export function grantReadable(
  bucket: s3.IBucket | s3.Bucket,
  grantee: iam.IGrantable,
  [cluster, region, groups]: readonly [cluster: string, region: string, groups: readonly string[]],
): iam.Grant {
  const shared = groups.map((group) => BUCKET_LAYOUT.limitGroup(region, group));
  return [`${BUCKET_LAYOUT.cluster(cluster)}*`, `${BUCKET_LAYOUT.shared(region)}*`, ...shared]
    .map((keys) => bucket.grantRead(grantee, keys))
    .reduce((all, each) => all.combine(each));
}
