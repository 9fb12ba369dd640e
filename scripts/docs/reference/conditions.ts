import { code, heading, pageOf, table } from './text.ts';

export interface ConditionRow {
  readonly type: string;
  readonly means: string;
  /** Reasons with which it is not True; the message says the rest. */
  readonly reasons: readonly string[];
}

const condition = (type: string, means: string, ...reasons: string[]): ConditionRow => ({
  type,
  means,
  reasons,
});

/** By kind; a test holds them against the code. */
export const CONDITIONS: Readonly<Record<string, readonly ConditionRow[]>> = {
  NodePool: [
    condition(
      'Ready',
      'nodes may be launched for it: `NodeClassReady` and `ValidationSucceeded` are True',
    ),
    condition('ValidationSucceeded', 'its spec can be used', 'NodePoolValidationFailed'),
    condition(
      'NodeClassReady',
      'its EC2NodeClass is there and ready',
      'NodeClassNotFound',
      'NodeClassTerminating',
      'NodeClassReadinessUnknown',
      'NodeClassNotOfEC2',
      'NodeClassOfEKSAutoMode',
    ),
    condition(
      'NodeRegistrationHealthy',
      'its last launches joined. For information, but `LaunchesHalted`: after five launches in a row that did not join, launches wait for the time in the message',
      'RegistrationFailed',
      'LaunchesHalted',
      'AwaitingReconciliation',
    ),
    condition(
      'CanaryHealthy',
      'the first node with each new image or template became ready. While it is False no other node gets what failed',
      'CanaryFailed',
    ),
    condition(
      'ConsolidationHealthy',
      'replacements that consolidation launched became ready. While it is False it launches no more of the kind in the message',
      'ReplacementNotReady',
    ),
    condition('ZonesUsable', 'no zone is shifted away from by ARC zonal shift', 'ZonalShift'),
    condition('PricesFresh', 'prices are younger than two days; for information', 'PricesStale'),
    condition(
      'MemoryReachable',
      'the bucket can be read; without it provisioning goes on',
      'Unreachable',
    ),
  ],
  NodeClaim: [
    condition('Launched', 'the instance exists', 'LaunchFailed'),
    condition(
      'Registered',
      'the node has joined and takes pods',
      'NodeNotFound',
      'NodeNotReady',
      'OtherNodeNotReady',
      'MultipleNodesFound',
    ),
    condition(
      'Initialized',
      'the node is Ready, its startup taints are gone and its resources are there',
      'NodeNotReady',
      'StartupTaintsExist',
      'KnownEphemeralTaintsExist',
      'ResourceNotRegistered',
    ),
    condition('Ready', '`Launched`, `Registered` and `Initialized` are True'),
    condition(
      'ConsistentStateFound',
      'the node has the labels, taints and resources that were planned; for information',
      'ConsistencyCheckFailed',
    ),
    condition('Consolidatable', 'no pod has come or gone for `consolidateAfter`'),
    condition(
      'Drifted',
      'the node no longer matches its NodePool or EC2NodeClass; the reason says where',
      'NodePoolDrifted',
      'RequirementsDrifted',
      'NodeClassDrift',
      'AMIDrift',
      'SubnetDrift',
      'SecurityGroupDrift',
      'CapacityReservationDrift',
      'InstanceTypeNotFound',
    ),
    condition(
      'DisruptionReason',
      'the node is being disrupted; the reason says why',
      'Drifted',
      'Empty',
      'Underutilized',
    ),
    condition('Drained', 'no pod is left that a drain waits for', 'Draining'),
    condition(
      'VolumesDetached',
      'the volumes of its pods are detached',
      'AwaitingVolumeDetachment',
      'TerminationGracePeriodElapsed',
    ),
    condition('InstanceTerminating', 'EC2 has been asked to terminate the instance'),
  ],
  EC2NodeClass: [
    condition('Ready', 'all of the following are True'),
    condition('SubnetsReady', 'subnets match', 'SubnetsNotFound'),
    condition('SecurityGroupsReady', 'security groups match', 'SecurityGroupsNotFound'),
    condition('AMIsReady', 'images match', 'AMINotFound'),
    condition(
      'CapacityReservationsReady',
      'the reservations are known; it is True also where none matches',
    ),
    condition('InstanceProfileReady', 'the instance profile is there with its role'),
    condition('PlacementGroupReady', 'the class asks for no placement group', 'Unsupported'),
    condition(
      'ValidationSucceeded',
      'instances can be described by it',
      'Unsupported',
      'InvalidKubeletConfiguration',
      'KubeletExpressionsDisabled',
      'UnsupportedKubeletConfiguration',
    ),
  ],
  NodeOverlay: [
    condition('Ready', 'the overlay applies: `ValidationSucceeded` is True'),
    condition(
      'ValidationSucceeded',
      'its spec can be used, and no overlay of the same weight sets the same thing',
      'Conflict',
      'RuntimeValidation',
    ),
  ],
  CapacityBuffer: [
    condition(
      'ReadyForProvisioning',
      'what its places are like is known',
      'PodTemplateNotFound',
      'ScalableRefNotFound',
    ),
    condition(
      'Provisioning',
      'there are places to keep. Where it is True the reason says whether nodes have room (`FitsExistingCapacity`) or are needed (`RequiresNewCapacity`)',
      'BufferEmpty',
      'NotReadyForProvisioning',
    ),
    condition('LimitedByQuotas', 'a ResourceQuota leaves room for fewer places', 'WithinQuotas'),
  ],
};

/** Reasons of EC2NodeClasses that every step may have. */
export const CLASS_REASONS = ['Unauthorised', 'ResolutionFailed', 'ResolutionPending'] as const;

const HEAD = [
  '`kubectl describe` shows conditions. A reason stands in the column on the right where the condition is not True, or, for',
  '`Drifted` and `DisruptionReason`, where it is. The message has the names and numbers.',
  '',
];

/** docs/reference/conditions.md. */
export function conditionsPage(): string {
  const sections = Object.entries(CONDITIONS).flatMap(([kind, rows]) => [
    `## ${kind}`,
    '',
    ...table(
      ['condition', 'True means', 'reasons'],
      rows.map(({ type, means, reasons }) => [code(type), means, reasons.map(code).join(', ')]),
    ),
    ...(kind === 'EC2NodeClass' ? classRemark() : []),
  ]);
  return pageOf([
    ...heading('Conditions', 'scripts/docs/reference/conditions.ts'),
    ...HEAD,
    ...sections,
  ]);
}

function classRemark(): readonly string[] {
  return [
    `Each may also have the reasons ${CLASS_REASONS.map(code).join(', ')}: a call of AWS was denied, refused, or could`,
    'not be made for the moment. What was found before still counts then, except where the call was refused.',
    '',
  ];
}
