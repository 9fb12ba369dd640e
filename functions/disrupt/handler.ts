import { ConsolidationMemory } from '../../shared/app/disrupt/consolidation-memory.ts';
import { disrupt } from '../../shared/app/disrupt/disrupt.ts';
import type { WriteLeases } from '../../shared/app/writes/write-leases.ts';
import { writeLeases } from '../../shared/app/writes/write-leases.ts';
import type { Wake } from '../../shared/contract.ts';
import { whenFree } from '../../shared/kube/when-free.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { publishWakeUps } from '../runtime/publish-wake-ups.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { planningCloud } from './cloud.ts';

const memory = new ConsolidationMemory();

/**
 * Removes nodes that nothing runs on, replaces those that are not what their NodePool and
 * EC2NodeClass ask for, and moves pods to fewer or cheaper ones where that pays back. It decides
 * under the Lease of `provision`, which launches what it writes, while `lifecycle` drains what it
 * deletes: both are told. It looks for moves without the Lease.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry } = invocation;
  const { ports, kube, base, leases, refreshPrices, invalidate, flush } = await openSandbox(
    invocation,
    planningCloud,
  );
  await refreshPrices();
  // The first list of a large cluster takes seconds: nobody is to wait for a Lease meanwhile.
  if (ports.cluster.isWarm?.() === false) await ports.cluster.read();
  const kinds = new Set<Wake['kind']>();
  const waking: Promise<void>[] = [];
  const decideLease = writeLeases({
    leases: whenFree(kube, leases(requestId), config.functionName, remainingMs),
    ports,
    // `provision` need not wait for the search for moves.
    wakeAnother: () => waking.push(publishWakeUps(base, telemetry, ['nodeclaim-created'])),
  });
  try {
    const withLease: WriteLeases['withLease'] = async (lease, work) =>
      await decideLease.withLease(lease, async (own) => {
        invalidate();
        return await work(own);
      });
    const own = { ...decideLease, withLease };
    const report = await disrupt(ports, config.settings, { memory }, own);
    const { failures, created, deleted, isLeftToAnother, isWoken } = report;
    if (isLeftToAnother) return { outcome: 'held by another' };
    logFailures(telemetry, failures);
    if (deleted.length > 0) kinds.add('nodeclaim-deleted');
    // Somebody wanted the Lease meanwhile: whoever it was, `provision` is what cannot wait.
    if (created.length > 0 || isWoken) kinds.add('nodeclaim-created');
    telemetry.logger.info('disrupted', { created: created.length, deleted: deleted.length });
    return { outcome: 'done' };
  } finally {
    await Promise.all([...waking, flush(), publishWakeUps(base, telemetry, [...kinds])]);
  }
});
