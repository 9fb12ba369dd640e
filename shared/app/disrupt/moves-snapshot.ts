import { withoutEndingReservations } from '../../core/disruption/ending-reservations.ts';
import { withoutFailedMoves } from './failed-moves.ts';
import type { DisruptPass } from './pass.ts';
import { reservedSnapshot } from './snapshot.ts';

/**
 * What moves that save money are planned by: without the room that pods of nodes will take which
 * go already, what has failed to become ready, and reservations that end before a move pays back.
 * `hosts` are the names of the nodes that those pods will go to.
 */
export async function movesSnapshot(pass: DisruptPass): ReturnType<typeof reservedSnapshot> {
  const { state, settings, nowMs } = pass;
  const { snapshot, hosts } = await reservedSnapshot(pass);
  const paysBackMs = nowMs + settings.consolidation.horizonMs;
  const lasting = withoutEndingReservations(snapshot, state.nodeClasses, paysBackMs);
  return { snapshot: withoutFailedMoves(pass, lasting), hosts };
}
