import type { Leases } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import { askForLease, heldForMs } from './leases.ts';

/** Both run at the full minute: a pass of `provision` that has nothing to launch takes less. */
const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 500;
/** While pods come and go `provision` takes it again and again: it is asked to leave a gap. */
const ASK_AFTER_MS = 2_000;
/** What a pass needs after that. */
const RESERVE_MS = 60_000;

/**
 * Waits for its turn: whoever finds the Lease held would leave a mark on it, which sends the holder
 * round again, and would be as far as before in the next minute.
 */
export function whenFree(
  kube: KubeClient,
  leases: Leases,
  by: string,
  remainingMs: () => number,
): Leases {
  return {
    acquire: async (name) => {
      const patienceMs = Math.min(PATIENCE_MS, remainingMs() - RESERVE_MS);
      for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += LOOK_EVERY_MS) {
        if ((await heldForMs(kube, name)) === undefined) break;
        if (waitedMs === ASK_AFTER_MS) await askForLease(kube, name, by);
        await kube.timing.sleep(LOOK_EVERY_MS);
      }
      return await leases.acquire(name);
    },
  };
}
