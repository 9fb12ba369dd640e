import type { NodeClaim } from '../../core/model/provisioning.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import type { DisruptPass } from './pass.ts';

/**
 * `provision` waits for the Lease under which claims are marked. A change that concerns all of 1,000
 * claims takes longer than this on a busy API server: the next passes go on with it.
 */
const MARKING_MS = 5_000;

/** Writes what is to be said of each claim, in order, as long as there is time for it. */
export async function markClaims<Item extends { readonly claim: NodeClaim }>(
  { ports, failures }: Pick<DisruptPass, 'ports' | 'failures'>,
  items: readonly Item[],
  write: (item: Item) => Promise<void>,
): Promise<void> {
  const endsAtMs = ports.clock.nowMs() + MARKING_MS;
  await atOnce(WRITES_AT_ONCE, items, async (item) => {
    if (ports.clock.nowMs() >= endsAtMs) return;
    failures.push(...(await attempt(`NodeClaim/${item.claim.name}`, () => write(item))));
  });
}
