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

/** A test holds them against the code. */
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
    'no node is planned for the pod. The message has, for each NodePool, the stages that took its instance types away',
  ),
  event('Warning', 'LaunchFailed', 'NodeClaim', 'EC2 refused the launch; the message has its code'),
  event(
    'Warning',
    'InsufficientCapacityError',
    'NodeClaim, NodePool',
    'no offering is left for the NodeClaim, which is deleted; its pods are planned anew. On a static NodePool: nodes are missing',
  ),
  event(
    'Normal',
    'ProvenImageLaunched',
    'NodeClaim',
    'launched with the proven image, since the new one’s canary failed',
  ),
  event(
    'Warning',
    'UnplannedTaint',
    'NodeClaim',
    'the node joined with a taint that its NodeClaim does not have',
  ),
  event(
    'Warning',
    'FailedConsistencyCheck',
    'NodeClaim',
    'the node has less, or other labels or taints, than was planned',
  ),
  event(
    'Warning',
    'CapacityReservationEnded',
    'NodeClaim',
    'the instance is billed as on-demand from now on',
  ),
  event('Normal', 'DisruptionLaunching', 'NodeClaim', 'it replaces a node'),
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
    'the node goes; the message says why',
  ),
  event(
    'Normal',
    'DisruptionBlocked',
    'NodeClaim, Node, NodePool',
    'what keeps a node that would go',
  ),
  event('Normal', 'Unconsolidatable', 'NodeClaim, Node', 'why a node is not consolidated'),
  event(
    'Warning',
    'FailedDraining',
    'Node',
    'a pod was not evicted; the message names its PodDisruptionBudget or the refusal',
  ),
  event(
    'Warning',
    'NodeUnhealthy',
    'NodeClaim',
    'the node is repaired: one of its conditions has been bad for too long',
  ),
  event(
    'Warning',
    'InstanceUnhealthy',
    'NodeClaim',
    'the node is repaired: EC2’s status checks fail, or AWS has scheduled maintenance',
  ),
  event('Warning', 'NodeRepairBlocked', 'NodeClaim', 'an unhealthy node is not repaired, and why'),
  event(
    'Warning',
    'SpotInterrupted',
    'NodeClaim',
    'EC2 takes the spot instance back in two minutes',
  ),
  event(
    'Normal',
    'SpotRebalanceRecommendation',
    'NodeClaim',
    'EC2 expects to take the spot instance back; nothing is done',
  ),
  event('Warning', 'InstanceStopping', 'NodeClaim', 'the instance is stopping or has stopped'),
  event(
    'Warning',
    'InstanceTerminating',
    'NodeClaim',
    'the instance is being terminated, not by Joiner',
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
    'the class is deleted once its NodeClaims are gone',
  ),
  event(
    'Warning',
    'ReconcileFailed',
    'EC2NodeClass',
    'the class could not be looked after; the message says why',
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
    'a replacement of consolidation did not become ready',
  ),
];

const HEAD = [
  'Events of objects without a namespace are in the namespace `default`: `kubectl get events -n default`. Equal events are one',
  'object that is counted. A condition that turns False is an event, too: its reason is one of [Conditions](conditions.md).',
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
