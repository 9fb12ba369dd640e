import { type Reason, reason } from '../explain/reason.ts';
import type { DisruptionReason } from '../model/provisioning.ts';
import type { DisruptionClass } from './candidates.ts';

/** Reasons for which `disrupt` disrupts nodes; unhealthy nodes are repaired by `lifecycle`. */
export type VoluntaryReason = Exclude<DisruptionReason, 'Unhealthy'>;

/** In the order in which a pass goes by them. */
export const VOLUNTARY_REASONS: readonly VoluntaryReason[] = [
  'Empty',
  'Drifted',
  'Fallback',
  'Underutilized',
];

/** What differs between reasons beside the choice of nodes. */
export interface VoluntaryTerms {
  /**
   * Whether a terminationGracePeriod ends the protection of pods.
   * https://karpenter.sh/docs/concepts/disruption/#terminationgraceperiod
   */
  readonly class: DisruptionClass;
  /** A replacement is given up once the node is what its NodePool and EC2NodeClass ask for. */
  readonly endsOnceAsAsked: boolean;
  /** Pods that block the node when its replacements are ready make it stay. */
  readonly yieldsToPods: boolean;
  /** A replacement that failed is not tried again for a time. */
  readonly backsOff: boolean;
  /** Why its nodes are deleted, unless more is known. */
  readonly why: Reason;
}

/** By reason: a new one does not compile without its row. */
export const VOLUNTARY_TERMS: Readonly<Record<VoluntaryReason, VoluntaryTerms>> = {
  Empty: {
    class: 'graceful',
    endsOnceAsAsked: false,
    yieldsToPods: true,
    backsOff: false,
    why: reason('node-empty', {}),
  },
  Drifted: {
    class: 'eventual',
    endsOnceAsAsked: true,
    yieldsToPods: false,
    backsOff: false,
    why: reason('node-drifted', {}),
  },
  Fallback: {
    class: 'graceful',
    endsOnceAsAsked: false,
    yieldsToPods: true,
    backsOff: true,
    why: reason('node-fallback', {}),
  },
  Underutilized: {
    class: 'graceful',
    endsOnceAsAsked: false,
    yieldsToPods: true,
    backsOff: true,
    why: reason('pods-cheaper-on-replacements', {}),
  },
};
