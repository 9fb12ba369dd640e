import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';

/** How long nobody asks again whether a restart goes on; passes may be half a second apart. */
const KNOWN_MS = 10_000;

function keyOf({ uid }: NodeClaim, { controller }: Pod): string {
  return `${uid} ${controller?.uid ?? ''}`;
}

/** Restarts of Deployments that go on, for the node of a claim each: one for all of its pods. */
export class KnownRollouts {
  private askedAtMs = new Map<string, number>();

  note(claim: NodeClaim, pod: Pod, nowMs: number): void {
    const recent = [...this.askedAtMs].filter(([, atMs]) => nowMs - atMs < KNOWN_MS);
    this.askedAtMs = new Map([...recent, [keyOf(claim, pod), nowMs]]);
  }

  has(claim: NodeClaim, pod: Pod, nowMs: number): boolean {
    const atMs = this.askedAtMs.get(keyOf(claim, pod));
    return atMs !== undefined && nowMs - atMs < KNOWN_MS;
  }
}
