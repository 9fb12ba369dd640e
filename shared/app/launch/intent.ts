import { encodeMembership, type FleetMembership } from '../../core/launch/fleet-group.ts';
import { TERMINATION_FINALIZER } from '../../core/lifecycle/actions.ts';
import { FLEET, LAUNCH_TRIED } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { MetadataPatch, ObjectRef } from '../../ports.ts';
import type { Launchable, LaunchPass } from './choice.ts';

/**
 * What a claim is to say before its launch; undefined: it does. Whoever wrote it, it is held from
 * here on, so that its deletion waits for the drain of its node.
 */
function intentOf(
  { annotations, finalizers }: NodeClaim,
  text: string,
  nowMs: number,
): MetadataPatch | undefined {
  const isHeld = finalizers.includes(TERMINATION_FINALIZER);
  if (isHeld && annotations[FLEET] === text) return undefined;
  const tried = annotations[LAUNCH_TRIED] ?? new Date(nowMs).toISOString();
  return {
    annotations: { [FLEET]: text, [LAUNCH_TRIED]: tried },
    ...(isHeld ? {} : { addFinalizer: TERMINATION_FINALIZER }),
  };
}

/**
 * The group's claims carry it before the call: whoever comes after a crash repeats the same. Returns
 * those that do: one that has changed since it was read may have been launched or deleted.
 */
export async function writeGroup(
  { ports, changed }: LaunchPass,
  group: readonly Launchable[],
  membership: FleetMembership,
  refOf: (item: Launchable) => ObjectRef,
): Promise<readonly Launchable[]> {
  const text = encodeMembership(membership);
  const written: Launchable[] = [];
  for (const each of group) {
    const patch = intentOf(each.claim, text, ports.clock.nowMs());
    if (patch !== undefined) {
      const result = await ports.cluster.patchNodeClaim(refOf(each), patch);
      if (result === 'conflict') changed.push(each.claim.name);
      if (result !== 'done') continue;
    }
    written.push(each);
  }
  return written;
}
