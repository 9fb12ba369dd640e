import { blockersOf, type DisruptionClass } from '../../core/disruption/candidates.ts';
import type { Command } from '../../core/disruption/commands.ts';
import { heldMoves, heldMovesText, withHeldMove } from '../../core/disruption/held-moves.ts';
import type { Reason } from '../../core/explain/reason.ts';
import { podsOnNode } from '../../core/model/joins.ts';
import { HELD_MOVES } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { recordEvent } from '../writes/claim-events.ts';
import { sayingAll } from '../writes/decisions.ts';
import { claimRef } from '../writes/references.ts';
import type { DisruptPass } from './pass.ts';

/** What holds the node of a command whose replacements are ready; empty: nothing does. */
export function holdersOf(
  { state, nowMs }: Pick<DisruptPass, 'state' | 'nowMs'>,
  { claim, node }: Command,
  disruptionClass: DisruptionClass,
): readonly Reason[] {
  if (node === undefined) return [];
  const { pods, podDisruptionBudgets } = state.objects;
  const own = podsOnNode(pods, node.name);
  return blockersOf({ claim, node, pods: own }, podDisruptionBudgets, nowMs, disruptionClass);
}

export async function publishHeld(
  pass: DisruptPass,
  { claim, node }: Command,
  reasons: readonly Reason[],
): Promise<void> {
  const event = { type: 'Normal', reason: 'DisruptionBlocked', ...sayingAll(reasons) } as const;
  await recordEvent(pass, claim, node, event);
}

/** Notes since when pods hold the node, and says what does. */
export async function noteHeld(
  pass: DisruptPass,
  command: Command,
  reasons: readonly Reason[],
): Promise<void> {
  const { claim } = command;
  const held = heldMoves(claim.annotations);
  if (held.sinceMs === undefined) {
    const annotations = { [HELD_MOVES]: heldMovesText({ ...held, sinceMs: pass.nowMs }) };
    await pass.ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
  }
  await publishHeld(pass, command, reasons);
}

/** While disruption is paused nothing would go: that time is no time in which pods hold the node. */
export async function forgetHolding({ ports }: DisruptPass, claim: NodeClaim): Promise<void> {
  const held = heldMoves(claim.annotations);
  if (held.sinceMs === undefined) return;
  const annotations = { [HELD_MOVES]: heldMovesText({ ...held, sinceMs: undefined }) };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations });
}

/** What the claim is annotated with when a move of its node is given up; `isHeld`: for its pods. */
export function heldMovesOnceEnded(
  { annotations }: NodeClaim,
  nowMs: number,
  isHeld: boolean,
): Readonly<Record<string, string | null>> {
  if (!isHeld && annotations[HELD_MOVES] === undefined) return {};
  const held = heldMoves(annotations);
  const after = isHeld ? withHeldMove(held, nowMs) : { ...held, sinceMs: undefined };
  return { [HELD_MOVES]: heldMovesText(after) };
}
