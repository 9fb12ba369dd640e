import { type Reason, reason } from '../../core/explain/reason.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { recordUnchanged } from '../writes/unchanged.ts';
import { isLeaving, type View } from './report.ts';

/** What a claim waits for; undefined: its node is ready. */
function waitsFor(claim: NodeClaim): Reason | undefined {
  if (isLeaving(claim)) return reason('node-draining', {});
  if (claim.providerId === undefined) return reason('instance-awaited', {});
  return isTrue(claim, 'Initialized') ? undefined : reason('node-not-joined', {});
}

/** Says why a pass has changed nothing, in one record. */
export async function recordStays({ pass: { ports, changed }, claims }: View): Promise<void> {
  if (changed) return;
  const all = claims.flatMap((claim) => {
    const why = waitsFor(claim);
    return why === undefined ? [] : [{ object: `NodeClaim/${claim.name}`, why }];
  });
  const ready = { object: 'cluster', why: reason('nodes-are-ready', {}) };
  await recordUnchanged({ ports }, 'lifecycle', all.length > 0 ? all : [ready]);
}
