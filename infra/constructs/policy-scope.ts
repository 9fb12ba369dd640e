import { Stack } from 'aws-cdk-lib';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import type { PolicyScope } from '../policies/statement.ts';
import type { JoinerProps } from './joiner-props.ts';
import { arnOf } from './keys.ts';
import { remoteWriteScope } from './remote-write.ts';
import { sharedGroupsOf } from './settings.ts';

/** What of a stack its policies name. */
export interface Named {
  readonly cluster: string;
  readonly bucket: s3.IBucket | s3.Bucket;
  readonly eventBusArn: string;
  /** Empty: there is none, and no function has rights on it. */
  readonly queueArn: string;
  readonly nodeRoleArns: readonly string[];
  readonly installRoleName: string;
}

/** What the ARNs and conditions of a stack's policies are made of. */
export function policyScope(scope: Construct, props: JoinerProps, named: Named): PolicyScope {
  const { partition, region, account, urlSuffix } = Stack.of(scope);
  const { cluster, bucket, eventBusArn, queueArn, nodeRoleArns, installRoleName } = named;
  return {
    partition,
    region,
    account,
    dnsSuffix: urlSuffix,
    cluster,
    clusterArn: `arn:${partition}:eks:${region}:${account}:cluster/${cluster}`,
    bucketArn: bucket.bucketArn,
    sharedGroups: sharedGroupsOf(props),
    isBucketOwned: props.bucket === undefined,
    keyArn: arnOf(props.encryptionKey),
    queueKeyArn: arnOf(props.queueEncryptionKey),
    eventBusArn,
    queueArn,
    nodeRoleArns,
    imageParameterArns: (props.imageParameters ?? []).map((parameter) =>
      parameter.startsWith('arn:')
        ? parameter
        : `arn:${partition}:ssm:${region}:${account}:parameter${parameter}`,
    ),
    isIsolated: props.isolatedVpc ?? false,
    remoteWrite: remoteWriteScope(props, { partition, account }),
    installRoleName,
  };
}
