import { code, heading, pageOf, table } from './text.ts';

export interface EventRow {
  readonly reason: string;
  readonly on: string;
  readonly type: 'Normal' | 'Warning';
  readonly means: string;
}

const event = (type: EventRow['type'], reason: string, on: string, means: string): EventRow => ({
  reason,
  on,
  type,
  means,
});

/** A test compares them with the code. */
export const EVENTS: readonly EventRow[] = [
  event(
    'Normal',
    'Nominated',
    'Pod',
    'the pod is planned for the node or NodeClaim in the message',
  ),
  event(
    'Warning',
    'FailedScheduling',
    'Pod',
    'no node is planned for the pod. The message has, for each NodePool, the stages that eliminated its instance types',
  ),
  event(
    'Warning',
    'LimitGroupDiffers',
    'NodePool',
    'another cluster shares the limit group of the NodePool and states other caps; the message has them',
  ),
  event(
    'Warning',
    'LimitGroupReached',
    'NodePool',
    'a cap of the limit group of the NodePool has refused nodes; the message names the cap',
  ),
  event(
    'Warning',
    'LaunchFailed',
    'NodeClaim',
    'EC2 rejected the launch; the message has the error code',
  ),
  event(
    'Warning',
    'InsufficientCapacityError',
    'NodeClaim, NodePool',
    'no offering is left for the NodeClaim. The NodeClaim is deleted and its pods are planned again. On a static NodePool: nodes of `spec.replicas` cannot be launched',
  ),
  event(
    'Warning',
    'NodeClassNotReady',
    'NodeClaim',
    'the EC2NodeClass is missing or not ready. The NodeClaim is deleted and its pods are planned again',
  ),
  event(
    'Warning',
    'LaunchesPaused',
    'NodeClaim, NodePool',
    'a pause window of the NodePool holds. A NodeClaim that was not launched yet is deleted',
  ),
  event(
    'Normal',
    'ProvenImageLaunched',
    'NodeClaim',
    'the node has the proven image, because the canary of the new image failed',
  ),
  event(
    'Warning',
    'UnplannedTaint',
    'NodeClaim',
    'the node registered with a taint that its NodeClaim does not have',
  ),
  event(
    'Warning',
    'FailedConsistencyCheck',
    'NodeClaim',
    'the node has fewer resources than planned, or other labels or taints',
  ),
  event(
    'Warning',
    'CapacityReservationEnded',
    'NodeClaim',
    'the instance is billed as on-demand from now on',
  ),
  event('Normal', 'DisruptionLaunching', 'NodeClaim', 'the NodeClaim replaces a node'),
  event(
    'Normal',
    'DisruptionWaitingReadiness',
    'NodeClaim, Node',
    'the node stays until its replacements are ready',
  ),
  event(
    'Normal',
    'DisruptionTerminating',
    'NodeClaim, Node',
    'the node is deleted; the message has the reason',
  ),
  event('Normal', 'DisruptionBlocked', 'NodeClaim, Node, NodePool', 'why a node is not disrupted'),
  event('Normal', 'Unconsolidatable', 'NodeClaim, Node', 'why a node is not consolidated'),
  event(
    'Normal',
    'RolloutRestarted',
    'Pod',
    'the Deployment of the pod was restarted, because its node is drained and the pod has `joiner.dev/drain: rollout`',
  ),
  event(
    'Warning',
    'RolloutRefused',
    'Pod',
    'the Deployment of the pod could not be restarted; the pod is evicted',
  ),
  event(
    'Warning',
    'FailedDraining',
    'Node',
    'a pod was not evicted; the message names its PodDisruptionBudget, the refusal or its annotation `karpenter.sh/do-not-disrupt`',
  ),
  event(
    'Warning',
    'FailedTermination',
    'NodeClaim',
    'EC2 refuses to terminate the instance; the message says why, for example termination protection',
  ),
  event(
    'Warning',
    'NodeUnhealthy',
    'NodeClaim',
    'the node is repaired: one of its conditions was unhealthy for too long',
  ),
  event(
    'Warning',
    'InstanceUnhealthy',
    'NodeClaim',
    'the node is repaired: EC2’s status checks fail, or AWS has scheduled maintenance',
  ),
  event('Warning', 'NodeRepairBlocked', 'NodeClaim', 'why an unhealthy node is not repaired'),
  event(
    'Warning',
    'SpotInterrupted',
    'NodeClaim',
    'EC2 interrupts the spot instance in two minutes',
  ),
  event(
    'Normal',
    'SpotRebalanceRecommendation',
    'NodeClaim',
    'EC2 expects to interrupt the spot instance; Joiner does nothing',
  ),
  event('Warning', 'InstanceStopping', 'NodeClaim', 'the instance is stopping or has stopped'),
  event(
    'Warning',
    'InstanceTerminating',
    'NodeClaim',
    'the instance is being terminated by somebody other than Joiner',
  ),
  event(
    'Warning',
    'CapacityReservationInstanceInterrupted',
    'NodeClaim',
    'the owner of an interruptible reservation takes it back',
  ),
  event(
    'Normal',
    'WaitingOnNodeClaimTermination',
    'EC2NodeClass',
    'the EC2NodeClass is deleted after its NodeClaims are deleted',
  ),
  event(
    'Warning',
    'ReconcileFailed',
    'EC2NodeClass',
    'the EC2NodeClass could not be reconciled; the message has the reason',
  ),
  event(
    'Warning',
    'CanaryFailed',
    'NodePool',
    'the first node with a new image or template did not become ready',
  ),
  event(
    'Warning',
    'ReplacementNotReady',
    'NodePool',
    'a replacement that consolidation launched did not become ready',
  ),
  event(
    'Warning',
    'MoveUndone',
    'NodePool',
    'a node was launched for pods soon after consolidation had moved them',
  ),
];

const HEAD = [
  'Events of objects without a namespace are in the namespace `default`: `kubectl get events -n default`. Repeated events are',
  'one object with a count. Joiner also writes an event when a condition becomes False. Its reason is one of',
  '[Conditions](conditions.md).',
  '',
];

/** docs/reference/events.md. */
export function eventsPage(): string {
  const rows = EVENTS.map(({ reason, on, type, means }) => [code(reason), on, type, means]);
  return pageOf([
    ...heading('Events', 'scripts/docs/reference/events.ts'),
    ...HEAD,
    ...table(['reason', 'on', 'type', 'means'], rows),
  ]);
}
