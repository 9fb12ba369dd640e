import { TAGS } from '../../shared/contract.ts';
import {
  describeCluster,
  discovery,
  ec2Arns,
  ownedResource,
  passNodeRole,
  sharedMemory,
} from './parts.ts';
import type { Conditions, PolicyScope, Statement } from './statement.ts';

/** Finds what classes select and keeps their instance profiles and launch templates in order. */
export function nodeclassPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    discovery(scope, 'What the selectors of classes find, and which templates are in use.', [
      'DescribeImages',
      'DescribeInstances',
      'DescribeSubnets',
      'DescribeSecurityGroups',
      'DescribeCapacityReservations',
      'DescribeLaunchTemplates',
    ]),
    {
      sid: 'ImageAliases',
      why: "Public parameters name the images of an alias; imageParameters are the user's own.",
      actions: ['ssm:GetParameter'],
      resources: [
        `arn:${scope.partition}:ssm:${scope.region}::parameter/aws/service/*`,
        ...scope.imageParameterArns,
      ],
    },
    {
      sid: 'RemoveTemplates',
      why: "Removes this cluster's launch templates when no class needs them.",
      actions: ['ec2:DeleteLaunchTemplate'],
      resources: ec2Arns(scope, '*', ['launch-template']),
      conditions: ownedResource(scope),
    },
    ...(scope.isIsolated ? [] : instanceProfiles(scope)),
    describeCluster(scope),
    ...sharedMemory(scope),
  ];
}

/** In a VPC without a way to IAM classes name their profile themselves. */
function instanceProfiles(scope: PolicyScope): readonly Statement[] {
  const profiles = [`arn:${scope.partition}:iam::${scope.account}:instance-profile/*`];
  return [
    {
      sid: 'CreateProfiles',
      why: "Makes instance profiles, with this cluster's tags.",
      actions: ['iam:CreateInstanceProfile'],
      resources: profiles,
      conditions: profileTags(scope, ['RequestTag']),
    },
    {
      sid: 'TagProfiles',
      why: "Keeps the tags of this cluster's instance profiles.",
      actions: ['iam:TagInstanceProfile'],
      resources: profiles,
      conditions: profileTags(scope, ['ResourceTag', 'RequestTag']),
    },
    {
      sid: 'ChangeProfiles',
      why: "Gives this cluster's instance profiles their role and removes them with their class.",
      actions: [
        'iam:AddRoleToInstanceProfile',
        'iam:RemoveRoleFromInstanceProfile',
        'iam:DeleteInstanceProfile',
      ],
      resources: profiles,
      conditions: profileTags(scope, ['ResourceTag']),
    },
    {
      sid: 'ReadProfiles',
      why: 'Finds out whether a profile is there, which role it has, and what a class leaves.',
      actions: ['iam:GetInstanceProfile', 'iam:ListInstanceProfiles'],
      resources: profiles,
    },
    passNodeRole(scope, 'IAM asks for it where a role is put into an instance profile.'),
  ];
}

function profileTags(
  scope: PolicyScope,
  sides: readonly ('RequestTag' | 'ResourceTag')[],
): Conditions {
  const equals = sides.flatMap((side) => [
    [`aws:${side}/${TAGS.clusterPrefix}${scope.cluster}`, 'owned'],
    ...(side === 'RequestTag' ? [[`aws:${side}/${TAGS.clusterName}`, scope.cluster]] : []),
    [`aws:${side}/${TAGS.region}`, scope.region],
  ]);
  const like = sides.map((side) => [`aws:${side}/${TAGS.nodeClass}`, '*']);
  return { StringEquals: Object.fromEntries(equals), StringLike: Object.fromEntries(like) };
}
