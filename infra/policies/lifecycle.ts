import { TAGS } from '../../shared/contract.ts';
import { describeCluster, discovery, ec2Arns, memory, ownedResource, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Terminates instances, and can launch none. */
export function lifecyclePolicy(scope: PolicyScope): readonly Statement[] {
  const instances = ec2Arns(scope, '*', ['instance']);
  return [
    {
      sid: 'Terminate',
      why: "Terminates this cluster's instances.",
      actions: ['ec2:TerminateInstances'],
      resources: instances,
      conditions: ownedResource(scope),
    },
    {
      sid: 'TagNodes',
      why: "Writes the node's and the claim's name on instances of this cluster, nothing else.",
      actions: ['ec2:CreateTags'],
      resources: instances,
      conditions: {
        ...ownedResource(scope),
        StringEqualsIfExists: { [`aws:RequestTag/${TAGS.clusterName}`]: scope.cluster },
        'ForAllValues:StringEquals': {
          'aws:TagKeys': [TAGS.clusterName, TAGS.nodeClaim, TAGS.name],
        },
      },
    },
    discovery(scope, 'Which instances there are, and which of them fail their checks.', [
      'DescribeInstances',
      'DescribeInstanceStatus',
    ]),
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
  ];
}
