import type { Interruption, InterruptionKind } from './interruption.ts';

/**
 * What in EC2 can say whether a message is true. A message that nothing confirms acts on few nodes
 * of a NodePool at a time.
 */
export type Confirmation =
  /** The request of a spot instance says that EC2 takes it back. */
  | 'spot-request'
  /** An instance that runs contradicts the message. */
  | 'instance-state'
  | 'nothing';

/**
 * What a message leads to, and how much it has to be backed by EC2 first.
 * https://karpenter.sh/docs/concepts/disruption/#interruption
 */
export interface InterruptionAction {
  readonly deleteClaim: boolean;
  /** Bar the offering for others: its capacity is being taken back. */
  readonly markOffering: boolean;
  /** Event reason on the Node and the NodeClaim. */
  readonly eventReason: string;
  readonly confirmedBy: Confirmation;
  /** Whether the node can still be drained, so that the message cannot wait. */
  readonly isUrgent: boolean;
}

const ACTIONS: Readonly<Record<InterruptionKind, InterruptionAction | undefined>> = {
  no_op: undefined,
  spot_interrupted: {
    deleteClaim: true,
    markOffering: true,
    eventReason: 'SpotInterrupted',
    confirmedBy: 'spot-request',
    isUrgent: true,
  },
  rebalance_recommendation: {
    deleteClaim: false,
    markOffering: false,
    eventReason: 'SpotRebalanceRecommendation',
    confirmedBy: 'nothing',
    isUrgent: false,
  },
  instance_stopped: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceStopping',
    confirmedBy: 'instance-state',
    isUrgent: true,
  },
  instance_terminated: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceTerminating',
    confirmedBy: 'instance-state',
    isUrgent: false,
  },
  scheduled_change: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceUnhealthy',
    confirmedBy: 'nothing',
    isUrgent: true,
  },
  capacity_reservation_interrupted: {
    deleteClaim: true,
    markOffering: true,
    eventReason: 'CapacityReservationInstanceInterrupted',
    confirmedBy: 'nothing',
    isUrgent: true,
  },
};

/** Undefined: nothing is to be done. */
export function actionFor({ kind }: Pick<Interruption, 'kind'>): InterruptionAction | undefined {
  return ACTIONS[kind];
}
