import { BUCKET_LAYOUT, TAGS, WAKE_EVENT } from '../../shared/contract.ts';
import type { Conditions, PolicyScope, Statement } from './statement.ts';

/** ARNs of EC2 resources in the region: of this account, of any (`*`), or of none (`''`). */
export function ec2Arns(
  scope: PolicyScope,
  account: string,
  types: readonly string[],
): readonly string[] {
  return types.map((type) => `arn:${scope.partition}:ec2:${scope.region}:${account}:${type}/*`);
}

/** The resource carries the tags of this cluster's nodes. */
export function ownedResource(scope: PolicyScope): Conditions {
  return {
    StringEquals: { [`aws:ResourceTag/${TAGS.clusterPrefix}${scope.cluster}`]: 'owned' },
    StringLike: { [`aws:ResourceTag/${TAGS.nodePool}`]: '*' },
  };
}

/** The request gives the resource the tags of this cluster's nodes. */
export function ownedRequest(scope: PolicyScope): Conditions {
  return {
    StringEquals: {
      [`aws:RequestTag/${TAGS.clusterPrefix}${scope.cluster}`]: 'owned',
      [`aws:RequestTag/${TAGS.clusterName}`]: scope.cluster,
    },
    StringLike: { [`aws:RequestTag/${TAGS.nodePool}`]: '*' },
  };
}

/** Adds to the equalities of a condition. */
export function andEquals(
  conditions: Conditions,
  more: Readonly<Record<string, string | readonly string[]>>,
): Conditions {
  return { ...conditions, StringEquals: { ...conditions['StringEquals'], ...more } };
}

/** Reading calls of EC2, which know no resources: only the region can be bound. */
export function discovery(
  scope: PolicyScope,
  why: string,
  calls: readonly string[],
  service = 'ec2',
): Statement {
  return {
    sid: 'Discovery',
    why,
    actions: calls.map((call) => `${service}:${call}`),
    resources: ['*'],
    conditions: { StringEquals: { 'aws:RequestedRegion': scope.region } },
  };
}

export function describeCluster(scope: PolicyScope): Statement {
  return {
    sid: 'Cluster',
    why: 'Endpoint, certificate authority, version and address family of the cluster.',
    actions: ['eks:DescribeCluster'],
    resources: [scope.clusterArn],
  };
}

export function putWakeUps(scope: PolicyScope): Statement {
  return {
    sid: 'WakeUps',
    why: 'Wakes the functions that have something to do.',
    actions: ['events:PutEvents'],
    resources: [scope.eventBusArn],
    conditions: { StringEquals: { 'events:source': WAKE_EVENT.source } },
  };
}

/**
 * Reads and writes the cluster's folder and its own shared files, and reads what other stacks share;
 * `shared`: nothing of the folder.
 */
export function memory(scope: PolicyScope, extent: 'all' | 'shared' = 'all'): readonly Statement[] {
  const own = BUCKET_LAYOUT.cluster(scope.cluster);
  const shared = BUCKET_LAYOUT.shared(scope.region);
  const folders = extent === 'all' ? [own, shared] : [shared];
  return [
    {
      sid: 'MemoryOwn',
      why: 'The memory of this cluster, and its own file below each shared topic.',
      actions: ['s3:GetObject', 's3:PutObject'],
      resources: [
        ...(extent === 'all' ? [`${scope.bucketArn}/${own}*`] : []),
        `${scope.bucketArn}/${BUCKET_LAYOUT.sharedFile(scope.region, '*', scope.cluster)}`,
      ],
    },
    ...sharedMemory(scope, folders, ['kms:Decrypt', 'kms:GenerateDataKey']),
  ];
}

/** Reads what all stacks of the account share, prices among it, and writes nothing. */
export function sharedMemory(
  scope: PolicyScope,
  folders: readonly string[] = [BUCKET_LAYOUT.shared(scope.region)],
  keyActions: readonly string[] = ['kms:Decrypt'],
): readonly Statement[] {
  return [
    {
      sid: 'MemoryShared',
      why: 'Prices, and what other clusters of the account have learnt.',
      actions: ['s3:GetObject'],
      resources: [`${scope.bucketArn}/${BUCKET_LAYOUT.shared(scope.region)}*`],
    },
    {
      sid: 'MemoryNames',
      why: 'Finds the files; also tells a file that is not there from one that is refused.',
      actions: ['s3:ListBucket'],
      resources: [scope.bucketArn],
      // The request for a file that is not there has no prefix.
      conditions: { StringLikeIfExists: { 's3:prefix': folders.map((each) => `${each}*`) } },
    },
    ...memoryKey(scope, keyActions),
  ];
}

/** Reads and writes what clusters hold of the limit groups that are shared. */
export function limitGroups({
  bucketArn,
  region,
  sharedGroups,
}: PolicyScope): readonly Statement[] {
  if (sharedGroups.length === 0) return [];
  return [
    {
      sid: 'LimitGroups',
      why: 'Reserves room in limit groups that are shared with other clusters.',
      actions: ['s3:GetObject', 's3:PutObject'],
      resources: sharedGroups.map(
        (group) => `${bucketArn}/${BUCKET_LAYOUT.limitGroup(region, group)}`,
      ),
    },
  ];
}

/** Uses the bucket's key, where it is one of the account. */
export function memoryKey(scope: PolicyScope, actions: readonly string[]): readonly Statement[] {
  if (scope.keyArn === undefined) return [];
  return [
    {
      sid: 'MemoryKey',
      why: 'The bucket is encrypted with a key of the account.',
      actions,
      resources: [scope.keyArn],
      conditions: {
        StringEquals: { 'kms:ViaService': `s3.${scope.region}.${scope.dnsSuffix}` },
      },
    },
  ];
}

/** Gives EC2 the role of a node. */
export function passNodeRole(scope: PolicyScope, why: string): Statement {
  return {
    sid: 'PassNodeRole',
    why,
    actions: ['iam:PassRole'],
    resources: scope.nodeRoleArns,
    conditions: {
      StringEquals: { 'iam:PassedToService': ['ec2.amazonaws.com', 'ec2.amazonaws.com.cn'] },
    },
  };
}
