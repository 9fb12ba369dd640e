import { instanceIdOf } from '../../core/lifecycle/actions.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { orphanedInstances } from '../../core/lifecycle/garbage.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { Instance } from '../../ports.ts';

/** EC2 is asked at least as often, whatever the cluster says. */
const KEPT_MS = 60_000;

/**
 * What EC2 has listed last. It holds for a minute while passes change nothing, every claim's
 * instance was there, and every instance has its claim: one that ends in this time is told by the
 * interruption queue, and another sandbox may have ended it together with its claim.
 */
export class KeptInstances {
  private listed: readonly Instance[] = [];
  private listedAtMs = Number.NEGATIVE_INFINITY;

  note(instances: readonly Instance[], nowMs: number): void {
    this.listed = instances;
    this.listedAtMs = nowMs;
  }

  /** A pass has changed something: EC2 may say something else by now. */
  forget(): void {
    this.listedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Undefined: EC2 has to be asked. */
  current(claims: readonly NodeClaim[], nowMs: number): readonly Instance[] | undefined {
    const ageMs = nowMs - this.listedAtMs;
    if (ageMs < 0 || ageMs >= KEPT_MS) return undefined;
    const there = new Set(
      this.listed.flatMap(({ id, state }) =>
        state === 'shutting-down' || state === 'terminated' ? [] : [id],
      ),
    );
    const isKnown = (claim: NodeClaim): boolean => {
      if (isTrue(claim, 'InstanceTerminating')) return false;
      const id = instanceIdOf(claim.providerId);
      return id === undefined || there.has(id);
    };
    const isCurrent =
      claims.every(isKnown) && orphanedInstances(this.listed, claims, nowMs).length === 0;
    return isCurrent ? this.listed : undefined;
  }
}
