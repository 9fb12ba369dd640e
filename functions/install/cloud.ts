import {
  DescribeClusterCommand,
  DisassociateAccessPolicyCommand,
  type EKSClient,
} from '@aws-sdk/client-eks';
import { DeleteObjectsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { type AwsAccess, eksClient, s3Client } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { type ClusterAccess, clusterAccess } from '../../shared/aws/cluster-access.ts';
import { eventBridgeClient, WakeBus } from '../../shared/aws/events.ts';
import { PortError } from '../../shared/ports.ts';

/** What the installer needs of AWS. */
export interface InstallCloud {
  /** Undefined: there is no such cluster. */
  describeCluster(name: string): Promise<ClusterAccess | undefined>;
  /** How many objects were removed; a bucket that is gone holds none. */
  removeObjects(bucket: string, prefix: string, isOurs: (key: string) => boolean): Promise<number>;
  wake(cluster: string): Promise<void>;
  /** The principal has no more of the policy in the cluster; one that it does not have is no fault. */
  dropAccess(entry: AccessOfEntry): Promise<void>;
}

/** An access policy of EKS, as an access entry has it. */
export interface AccessOfEntry {
  readonly cluster: string;
  readonly principalArn: string;
  readonly policyArn: string;
}

/** Each page is a thousand objects. */
const PAGES_MAX = 2000;

export function installCloud(access: AwsAccess, eventBus: string): InstallCloud {
  const calls = new Calls();
  const eks = eksClient(access);
  const s3 = s3Client(access);
  const bus = new WakeBus({ eventBridge: eventBridgeClient(access), calls, bus: eventBus });
  return {
    describeCluster: (name) => describeCluster(eks, calls, name),
    removeObjects: (bucket, prefix, isOurs) => removeObjects({ s3, calls, bucket }, prefix, isOurs),
    wake: (cluster) => bus.wake([{ cluster, kind: 'installed' }]),
    dropAccess: (entry) => dropAccess(eks, calls, entry),
  };
}

async function dropAccess(
  eks: EKSClient,
  calls: Calls,
  { cluster: clusterName, principalArn, policyArn }: AccessOfEntry,
): Promise<void> {
  const command = new DisassociateAccessPolicyCommand({ clusterName, principalArn, policyArn });
  await found(calls.run('eks:DisassociateAccessPolicy', () => eks.send(command)));
}

/** Undefined where there is no such thing. */
async function found<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof PortError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

async function describeCluster(
  eks: EKSClient,
  calls: Calls,
  name: string,
): Promise<ClusterAccess | undefined> {
  const command = new DescribeClusterCommand({ name });
  const answer = await found(calls.run('eks:DescribeCluster', () => eks.send(command)));
  return answer?.cluster && clusterAccess(answer.cluster);
}

async function removeObjects(
  { s3, calls, bucket }: { readonly s3: S3Client; readonly calls: Calls; readonly bucket: string },
  prefix: string,
  isOurs: (key: string) => boolean,
): Promise<number> {
  let removed = 0;
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, StartAfter: after });
    const listed = await found(calls.run('s3:ListBucket', () => s3.send(list)));
    const keys = (listed?.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
    const ours = keys.filter(isOurs);
    if (ours.length > 0) {
      const Objects = ours.map((Key) => ({ Key }));
      const remove = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } });
      const answer = await calls.run('s3:DeleteObject', () => s3.send(remove));
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
