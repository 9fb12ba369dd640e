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

/** Pauses during which `joiner apply` may carry out a decision. */
type ApprovalScope = Extract<PauseScope, 'launch' | 'disrupt'>;

/**
 * The annotation of a claim whose launch or disruption was approved during this pause. A pause that
 * begins later stops it like everything else.
 */
export function approvedAnnotation(pause: ApprovalScope): Readonly<Record<string, string>> {
  return { [APPROVED]: pause };
}

/** Whether what this pause stops has been approved for the claim. */
export function isApproved(
  { annotations }: Pick<NodeClaim, 'annotations'>,
  pause: ApprovalScope,
): boolean {
  return annotations[APPROVED] === pause;
}
