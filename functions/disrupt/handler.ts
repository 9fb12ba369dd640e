import { ConsolidationMemory } from '../../shared/app/consolidation-memory.ts';
import { disrupt } from '../../shared/app/disrupt.ts';
import type { Wake } from '../../shared/contract.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { leasedTurns } from '../runtime/leased.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { tell } from '../runtime/tell.ts';
import { planningCloud } from './cloud.ts';
import { whenFree } from './turn.ts';

const memory = new ConsolidationMemory();

/**
 * Removes nodes that nothing runs on, replaces those that are not what their NodePool and
 * EC2NodeClass ask for, and moves pods to fewer or cheaper ones where that pays back. It decides under the Lease of `provision`, which launches what it writes,
 * while `lifecycle` drains what it deletes: both are told.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry } = invocation;
  const { ports, kube, base, leases, refreshPrices, recall, remember } = await openSandbox(
    invocation,
    planningCloud,
  );
  await refreshPrices();
  const kinds = new Set<Wake['kind']>();
  const turns = leasedTurns({
    leases: whenFree(kube, leases(requestId), config.functionName, remainingMs),
    ports,
    wakeAnother: () => kinds.add('nodeclaim-created'),
  });
  try {
    const taken = await turns.take('decide', async (own) => {
      recall();
      return await disrupt(own, config.settings, { memory });
    });
    if (taken === undefined) return { outcome: 'held by another' };
    const { failures, created, deleted } = taken.result;
    logFailures(telemetry, failures);
    if (deleted.length > 0) kinds.add('nodeclaim-deleted');
    // Somebody wanted the Lease meanwhile: whoever it was, `provision` is what cannot wait.
    if (created.length > 0 || taken.isWoken) kinds.add('nodeclaim-created');
    telemetry.logger.info('disrupted', { created: created.length, deleted: deleted.length });
    return { outcome: 'done' };
  } finally {
    await Promise.all([remember(), tell(base, telemetry, [...kinds])]);
  }
});
