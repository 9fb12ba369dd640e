import type { PolicyScope } from '../../infra/policies/statement.ts';

/** What the policies of a stack with its own bucket and one node role are about. */
export function aPolicyScope(changes: Partial<PolicyScope> = {}): PolicyScope {
  return {
    partition: 'aws',
    region: 'us-east-1',
    account: '111122223333',
    dnsSuffix: 'amazonaws.com',
    cluster: 'demo',
    clusterArn: 'arn:aws:eks:us-east-1:111122223333:cluster/demo',
    bucketArn: 'arn:aws:s3:::joiner-demo',
    sharedGroups: [],
    isBucketOwned: true,
    keyArn: undefined,
    queueKeyArn: undefined,
    eventBusArn: 'arn:aws:events:us-east-1:111122223333:event-bus/joiner-demo',
    queueArn: 'arn:aws:sqs:us-east-1:111122223333:joiner-demo-interruption',
    nodeRoleArns: ['arn:aws:iam::111122223333:role/nodes'],
    imageParameterArns: [],
    installRoleName: 'JoinerInstall-us-east-1-demo-01234567',
    isIsolated: false,
    remoteWrite: undefined,
    ...changes,
  };
}
