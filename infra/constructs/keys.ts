import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as kms from 'aws-cdk-lib/aws-kms';
import type { Construct } from 'constructs';

/** A key as the props give it: by ARN or construct. */
export function keyOf(
  scope: Construct,
  id: string,
  key: string | kms.IKey | undefined,
): kms.IKey | undefined {
  return typeof key === 'string' ? kms.Key.fromKeyArn(scope, id, key) : key;
}

/** The key's ARN. */
export function arnOf(key: string | kms.IKey | undefined): string | undefined {
  return typeof key === 'object' ? key.keyArn : key;
}

/**
 * EventBridge puts messages into a queue that is encrypted with the key. Of a key that is given by
 * ARN the policy is its owner's.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
 */
export function admitRules(key: kms.IKey): void {
  key.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal('events.amazonaws.com')],
      actions: ['kms:Decrypt', 'kms:GenerateDataKey'],
      resources: ['*'],
    }),
  );
}

/**
 * CloudWatch encrypts the log groups with the key. The statement has no Sid: clusters that share a
 * key have one each, and Sids of a policy must differ.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export function admitLogs(scope: Construct, key: kms.IKey, logGroupNames: readonly string[]): void {
  const { partition, region, account, urlSuffix } = Stack.of(scope);
  const logs = `arn:${partition}:logs:${region}:${account}:log-group`;
  key.addToResourcePolicy(
    new iam.PolicyStatement({
      principals: [new iam.ServicePrincipal(`logs.${region}.${urlSuffix}`)],
      actions: [
        'kms:Encrypt',
        'kms:Decrypt',
        'kms:ReEncrypt*',
        'kms:GenerateDataKey*',
        'kms:DescribeKey',
      ],
      resources: ['*'],
      conditions: {
        ArnEquals: {
          'kms:EncryptionContext:aws:logs:arn': logGroupNames.map((name) => `${logs}:${name}`),
        },
      },
    }),
  );
}
