import { code, heading, pageOf, table } from './text.ts';

export interface ConditionRow {
  readonly type: string;
  readonly means: string;
  /** Reasons for another status than True. */
  readonly reasons: readonly string[];
}

const condition = (type: string, means: string, ...reasons: string[]): ConditionRow => ({
  type,
  means,
  reasons,
});

/** By kind; a test compares them with the code. */
export const CONDITIONS: Readonly<Record<string, readonly ConditionRow[]>> = {
  NodePool: [
    condition(
      'Ready',
      'nodes may be launched for the NodePool: `NodeClassReady`, `ValidationSucceeded` and, where it is there, `LaunchesAllowed` are True',
    ),
    condition('ValidationSucceeded', 'the spec is valid', 'NodePoolValidationFailed'),
    condition(
      'LaunchesAllowed',
      'no window of the annotation `joiner.dev/pause` pauses launches; only on NodePools that had such a window',
      'LaunchesPaused',
    ),
    condition(
      'NodeClassReady',
      'the EC2NodeClass exists and is ready',
      'NodeClassNotFound',
      'NodeClassTerminating',
      'NodeClassReadinessUnknown',
      'NodeClassNotOfEC2',
      'NodeClassOfEKSAutoMode',
    ),
    condition(
      'NodeRegistrationHealthy',
      'the last nodes registered. Informational, except for the reason `LaunchesHalted`: five consecutive nodes did not register. Launches resume at the time in the message, or with a change of the template or the EC2NodeClass',
      'RegistrationFailed',
      'LaunchesHalted',
      'AwaitingReconciliation',
    ),
    condition(
      'CanaryHealthy',
      'the first node with each new image or template became ready. While it is False, no other node gets the failed image or template',
      'CanaryFailed',
    ),
    condition(
      'ConsolidationHealthy',
      'replacements that consolidation launched became ready. While it is False, consolidation launches no node of the instance type and capacity type in the message',
      'ReplacementNotReady',
    ),
    condition('ZonesUsable', 'no ARC zonal shift is active in the cluster’s zones', 'ZonalShift'),
    condition('PricesFresh', 'prices are younger than two days; informational', 'PricesStale'),
    condition(
      'MemoryReachable',
      'the bucket can be read. If it cannot be read, provisioning continues, except for NodePools in a limit group that is shared',
      'Unreachable',
    ),
  ],
  NodeClaim: [
    condition('Launched', 'the instance exists', 'LaunchFailed'),
    condition(
      'Registered',
      'the node has joined the cluster and has its labels and taints; `karpenter.sh/unregistered` is removed',
      'NodeNotFound',
      'NodeNotReady',
      'OtherNodeNotReady',
      'MultipleNodesFound',
    ),
    condition(
      'Initialized',
      'the node is Ready, has no startup taints and has all requested resources',
      'NodeNotReady',
      'StartupTaintsExist',
      'KnownEphemeralTaintsExist',
      'ResourceNotRegistered',
    ),
    condition('Ready', '`Launched`, `Registered` and `Initialized` are True'),
    condition(
      'ConsistentStateFound',
      'the node has the labels, taints and resources that were planned; informational',
      'ConsistencyCheckFailed',
    ),
    condition('Consolidatable', 'no pod was added or removed for `consolidateAfter`'),
    condition(
      'Drifted',
      'the node no longer matches its NodePool or EC2NodeClass; the reason names the difference',
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
      'the node is being disrupted, for this reason',
      'Drifted',
      'Empty',
      'Fallback',
      'Underutilized',
    ),
    condition('Drained', 'all pods that the drain has to wait for are gone', 'Draining'),
    condition(
      'VolumesDetached',
      'the volumes of its pods are detached',
      'AwaitingVolumeDetachment',
      'TerminationGracePeriodElapsed',
    ),
    condition('InstanceTerminating', 'Joiner has sent the request to terminate the instance'),
  ],
  EC2NodeClass: [
    condition('Ready', 'all other conditions are True'),
    condition('SubnetsReady', 'subnets match', 'SubnetsNotFound'),
    condition('SecurityGroupsReady', 'security groups match', 'SecurityGroupsNotFound'),
    condition('AMIsReady', 'images match', 'AMINotFound'),
    condition(
      'CapacityReservationsReady',
      'the reservations were read; it is also True if no reservation matches',
    ),
    condition('InstanceProfileReady', 'the instance profile exists and has the role'),
    condition('PlacementGroupReady', 'the spec has no placement group', 'Unsupported'),
    condition(
      'ValidationSucceeded',
      'a launch template can be built from the spec',
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
      'the spec is valid, and no other NodeOverlay of the same weight changes the same value of the same instance types',
      'Conflict',
      'RuntimeValidation',
    ),
  ],
  CapacityBuffer: [
    condition(
      'ReadyForProvisioning',
      'the pod template is resolved',
      'PodTemplateNotFound',
      'ScalableRefNotFound',
    ),
    condition(
      'Provisioning',
      'the buffer has replicas. The reason is `FitsExistingCapacity` if existing nodes have room for all replicas, and `RequiresNewCapacity` if new nodes are needed',
      'BufferEmpty',
      'NotReadyForProvisioning',
    ),
    condition('LimitedByQuotas', 'a ResourceQuota allows fewer replicas', 'WithinQuotas'),
  ],
};

/** Reasons of EC2NodeClasses that every step may have. */
export const CLASS_REASONS = ['Unauthorised', 'ResolutionFailed', 'ResolutionPending'] as const;

const HEAD = [
  '`kubectl describe` shows conditions. The last column lists reasons for a status other than True. For `Drifted` and',
  '`DisruptionReason` it lists reasons for True. The message has names and numbers.',
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
    'Each condition of an EC2NodeClass can also have these reasons. `Unauthorised`: AWS denied the call. `ResolutionFailed`:',
    'AWS rejected the call. `ResolutionPending`: the call failed temporarily and will be retried. A condition that was True',
    'stays True after a temporary failure.',
    '',
  ];
}
