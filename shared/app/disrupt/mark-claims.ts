import type { NodeClaim } from '../../core/model/provisioning.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import type { DisruptPass } from './pass.ts';

/**
 * `provision` waits for the Lease under which claims are marked. A change that concerns all of 1,000
 * claims takes half a minute on a busy API server: the Lease is let go meanwhile.
 */
const MARKING_MS = 1_000;

/** Writes what is to be said of each claim, in order, as long as there is time for it. */
export async function markClaims<Item extends { readonly claim: NodeClaim }>(
  { ports, outcome, changes }: Pick<DisruptPass, 'ports' | 'outcome' | 'changes'>,
  items: readonly Item[],
  write: (item: Item) => Promise<void>,
): Promise<void> {
  const endsAtMs = ports.clock.nowMs() + MARKING_MS;
  await atOnce(WRITES_AT_ONCE, items, async (item) => {
    if (ports.clock.nowMs() >= endsAtMs) {
      changes.unmarked.add(item.claim.uid);
      return;
    }
    outcome.failures.push(...(await attempt(`NodeClaim/${item.claim.name}`, () => write(item))));
  });
}
