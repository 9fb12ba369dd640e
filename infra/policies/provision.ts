import {
  andEquals,
  describeCluster,
  discovery,
  ec2Arns,
  limitGroups,
  memory,
  ownedRequest,
  ownedResource,
  passNodeRole,
  putWakeUps,
} from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

const MADE_BY_A_LAUNCH = [
  'fleet',
  'instance',
  'volume',
  'network-interface',
  'launch-template',
  'spot-instances-request',
];

/** Launches, and can end nothing. */
export function provisionPolicy(scope: PolicyScope): readonly Statement[] {
  const launch = ['ec2:RunInstances', 'ec2:CreateFleet'];
  const made = ec2Arns(scope, '*', MADE_BY_A_LAUNCH);
  return [
    {
      sid: 'LaunchFrom',
      why: 'What an instance is launched from; subnets may be shared from another account.',
      actions: launch,
      resources: [
        ...ec2Arns(scope, '', ['image', 'snapshot']),
        ...ec2Arns(scope, '*', ['security-group', 'subnet', 'capacity-reservation']),
      ],
    },
    {
      sid: 'LaunchFromTemplate',
      why: "Only launch templates that carry this cluster's tags.",
      actions: launch,
      resources: ec2Arns(scope, '*', ['launch-template']),
      conditions: ownedResource(scope),
    },
    {
      sid: 'Launch',
      why: "Whatever is made has to be given this cluster's tags at once.",
      actions: [...launch, 'ec2:CreateLaunchTemplate'],
      resources: made,
      conditions: ownedRequest(scope),
    },
    {
      sid: 'TagWhatIsLaunched',
      why: 'Tags, only in the call that makes the resource.',
      actions: ['ec2:CreateTags'],
      resources: made,
      conditions: andEquals(ownedRequest(scope), {
        'ec2:CreateAction': ['RunInstances', 'CreateFleet', 'CreateLaunchTemplate'],
      }),
    },
    passNodeRole(scope, "Instances get the node role by their template's instance profile."),
    discovery(scope, 'Free addresses of subnets, free reservations, and own instances.', [
      'DescribeSubnets',
      'DescribeCapacityReservations',
      'DescribeInstances',
    ]),
    {
      sid: 'ZonalShift',
      why: 'Which zones ARC shifts the cluster away from: nothing is launched there.',
      actions: ['arc-zonal-shift:GetManagedResource'],
      // ARC's own resource types are load balancers: a cluster is named by a condition.
      // https://docs.aws.amazon.com/r53recovery/latest/dg/security_iam_service-with-iam-zonal-shift.html
      resources: ['*'],
      conditions: { StringEquals: { 'arc-zonal-shift:ResourceIdentifier': scope.clusterArn } },
    },
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
    ...limitGroups(scope),
  ];
}
