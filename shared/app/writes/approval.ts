import type { VoluntaryReason } from '../../core/disruption/voluntary.ts';
import { APPROVED } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { PauseScope } from '../../ports.ts';

/** Nodes that somebody has approved to go together. */
export interface ApprovedDisruption {
  readonly reason: VoluntaryReason;
  /** Uids of their claims. */
  readonly claims: readonly string[];
  /** Whether nothing is to come in their place. */
  readonly isRemoval: boolean;
}

/** What a brake holds and somebody may approve all the same. */
type Held = Extract<PauseScope, 'launch' | 'disrupt'>;

/**
 * Says on a claim what was approved of it while this brake was on: that its instance is launched or
 * that its node goes. A brake that was set later holds it like everything else.
 */
export function approvedAnnotation(brake: Held): Readonly<Record<string, string>> {
  return { [APPROVED]: brake };
}

/** Whether somebody has approved what this brake would hold. */
export function isApproved({ annotations }: Pick<NodeClaim, 'annotations'>, brake: Held): boolean {
  return annotations[APPROVED] === brake;
}
