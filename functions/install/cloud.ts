import { DescribeClusterCommand, EKSClient, ResourceNotFoundException } from '@aws-sdk/client-eks';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import { DeleteObjectsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { WAKE_EVENT, type Wake } from '../../shared/contract.ts';
import type { ClusterFacts } from './check.ts';

/** What the installer needs of AWS. */
export interface InstallCloud {
  /** Undefined: there is no such cluster. */
  describeCluster(name: string): Promise<ClusterFacts | undefined>;
  /** How many objects were removed; a bucket that is gone holds none. */
  removeObjects(bucket: string, prefix: string, isOurs: (key: string) => boolean): Promise<number>;
  wake(cluster: string): Promise<void>;
}

/** Each page is a thousand objects. */
const PAGES_MAX = 2000;

export function installCloud(options: {
  readonly region: string;
  readonly eventBus: string;
}): InstallCloud {
  const { region, eventBus } = options;
  const eks = new EKSClient({ region });
  const s3 = new S3Client({ region });
  const events = new EventBridgeClient({ region });
  return {
    describeCluster: (name) => describeCluster(eks, name),
    removeObjects: (bucket, prefix, isOurs) => removeObjects(s3, bucket, prefix, isOurs),
    wake: async (cluster) => {
      const detail: Wake = { cluster, kind: 'installed' };
      const entry = {
        EventBusName: eventBus,
        Source: WAKE_EVENT.source,
        DetailType: WAKE_EVENT.wakeDetailType,
        Detail: JSON.stringify(detail),
      };
      await events.send(new PutEventsCommand({ Entries: [entry] }));
    },
  };
}

async function describeCluster(eks: EKSClient, name: string): Promise<ClusterFacts | undefined> {
  const answer = await eks.send(new DescribeClusterCommand({ name })).catch((error: unknown) => {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  });
  const cluster = answer?.cluster;
  if (cluster === undefined) return undefined;
  const ca = cluster.certificateAuthority?.data ?? '';
  return {
    status: cluster.status ?? '',
    authenticationMode: cluster.accessConfig?.authenticationMode ?? 'CONFIG_MAP',
    endpoint: cluster.endpoint ?? '',
    caPem: Buffer.from(ca, 'base64').toString('utf8'),
    isPublic: cluster.resourcesVpcConfig?.endpointPublicAccess ?? true,
    isPrivate: cluster.resourcesVpcConfig?.endpointPrivateAccess ?? false,
    isAutoMode: cluster.computeConfig?.enabled ?? false,
  };
}

async function removeObjects(
  s3: S3Client,
  bucket: string,
  prefix: string,
  isOurs: (key: string) => boolean,
): Promise<number> {
  let removed = 0;
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const listed = await s3
      .send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, StartAfter: after }))
      .catch((error: unknown) => {
        if (error instanceof Error && error.name === 'NoSuchBucket') return undefined;
        throw error;
      });
    const keys = (listed?.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
    const ours = keys.filter(isOurs);
    if (ours.length > 0) {
      const Objects = ours.map((Key) => ({ Key }));
      const answer = await s3.send(
        new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }),
      );
      const [fault] = answer.Errors ?? [];
      if (fault !== undefined) throw new Error(`${fault.Key}: ${fault.Code}: ${fault.Message}`);
    }
    removed += ours.length;
    after = keys.at(-1);
    if (listed?.IsTruncated !== true || after === undefined) return removed;
  }
  throw new Error(
    `the bucket ${bucket} holds too many objects; empty it with: aws s3 rm s3://${bucket}/` +
      `${prefix} --recursive`,
  );
}
