import { setTimeout as sleep } from 'node:timers/promises';
import { disrupt } from '../../shared/app/disrupt.ts';
import type { Wake } from '../../shared/contract.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { held, leased } from '../runtime/leased.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { tell } from '../runtime/tell.ts';
import { planningCloud } from './cloud.ts';
import { whenFree } from './turn.ts';

/**
 * Replaces nodes that are not what their NodePool and EC2NodeClass ask for. It decides under the
 * Lease of `provision`, which launches what it writes, while `lifecycle` drains what it deletes:
 * both are told.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry } = invocation;
  const { ports, kube, base, leases, refreshPrices, recall, remember } = await openSandbox(
    invocation,
    planningCloud,
  );
  await refreshPrices();
  const kinds = new Set<Wake['kind']>();
  let passes = 0;
  const outcome = await leased({
    leases: whenFree(kube, leases(requestId), remainingMs),
    name: 'decide',
    pass: async (lease) => {
      passes += 1;
      recall();
      const report = await disrupt(held(ports, lease), config.settings);
      logFailures(telemetry, report.failures);
      if (report.created.length > 0) kinds.add('nodeclaim-created');
      if (report.deleted.length > 0) kinds.add('nodeclaim-deleted');
      const { created, deleted } = report;
      telemetry.logger.info('disrupted', { created: created.length, deleted: deleted.length });
      return 'settled';
    },
    remainingMs,
    sleep: async (ms) => void (await sleep(ms)),
    pauseMs: 1000,
  });
  // Somebody wanted the Lease meanwhile. Whoever it was, `provision` is what cannot wait.
  if (passes > 1) kinds.add('nodeclaim-created');
  await Promise.all([remember(), tell(base, telemetry, [...kinds])]);
  return { outcome };
});
