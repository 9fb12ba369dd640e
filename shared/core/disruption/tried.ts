import type { NodeClaim } from '../model/provisioning.ts';
import { triedStates } from './canary.ts';
import { triedMove } from './failed-moves.ts';

/**
 * What an instance was to try that has ended while it booted: states of a canary, or the target of
 * a move. The memory of launches keeps it, since its NodeClaim is gone in a moment.
 */
export function triedBy(claim: NodeClaim): readonly string[] {
  return [...triedStates(claim), ...triedMove(claim)];
}
