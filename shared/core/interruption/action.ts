import type { Interruption, InterruptionKind } from './interruption.ts';

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
  /** Whether EC2 can say that it is so; what it cannot confirm acts on few nodes at a time. */
  readonly confirmable: boolean;
}

const ACTIONS: Readonly<Record<InterruptionKind, InterruptionAction | undefined>> = {
  no_op: undefined,
  spot_interrupted: {
    deleteClaim: true,
    markOffering: true,
    eventReason: 'SpotInterrupted',
    confirmable: true,
  },
  rebalance_recommendation: {
    deleteClaim: false,
    markOffering: false,
    eventReason: 'SpotRebalanceRecommendation',
    confirmable: false,
  },
  instance_stopped: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceStopping',
    confirmable: true,
  },
  instance_terminated: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceTerminating',
    confirmable: true,
  },
  scheduled_change: {
    deleteClaim: true,
    markOffering: false,
    eventReason: 'InstanceUnhealthy',
    confirmable: false,
  },
  capacity_reservation_interrupted: {
    deleteClaim: true,
    markOffering: true,
    eventReason: 'CapacityReservationInstanceInterrupted',
    confirmable: false,
  },
};

/** Undefined: nothing is to be done. */
export function actionFor({ kind }: Interruption): InterruptionAction | undefined {
  return ACTIONS[kind];
}
