import type { MemoryObjects } from '../../shared/aws/memory/objects.ts';
import { NO_TOTALS, type Totals } from '../../shared/prometheus/totals.ts';
import { decodeTotals, encodeTotals } from '../../shared/prometheus/totals-file.ts';

/** As many as deliveries of different functions' logs may meet. */
const ATTEMPTS = 8;
const WAIT_MS = 50;

export interface TotalsStore {
  readonly objects: Pick<MemoryObjects, 'read' | 'write'>;
  readonly key: string;
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Changes the totals in the bucket. Who meets another writer reads again and changes what that one
 * has left, so `change` may be called more than once: its last result is what is written. Rejects
 * where the bucket does not answer: what was to be counted comes again.
 */
export async function changeTotals(
  { objects, key, sleep }: TotalsStore,
  change: (totals: Totals) => Totals,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await sleep(WAIT_MS * 2 ** attempt * (0.5 + Math.random()));
    const found = await objects.read(key);
    if (found === undefined) throw new Error(`${key} cannot be read from the bucket`);
    const before = found === 'absent' ? NO_TOTALS : (decodeTotals(found.body) ?? NO_TOTALS);
    const after = change(before);
    const etag = found === 'absent' ? undefined : found.etag;
    const written = await objects.write(key, encodeTotals(after), etag);
    if (written === 'failed') throw new Error(`${key} cannot be written to the bucket`);
    if (written !== 'conflict') return;
  }
  throw new Error(`${key} was changed by others ${ATTEMPTS} times`);
}
