import { setTimeout as sleep } from 'node:timers/promises';
import { maintainNodeClasses } from '../../shared/app/nodeclass/nodeclass.ts';
import { leaseGuarded } from '../../shared/app/writes/write-leases.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { leased } from '../runtime/leased.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { describingCloud } from './cloud.ts';

/** AWS is asked again after the first, then after twice as long each time. */
const BACK_OFF_MS = { first: 1_000, max: 30_000 } as const;

/**
 * Keeps the status of every EC2NodeClass true: images, subnets, security groups, profiles. Stays
 * while AWS could not be asked: the next tick is minutes away, and nodes wait for a new class.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { requestId, remainingMs, telemetry } = invocation;
  const { ports, leases, refreshPrices } = await openSandbox(invocation, describingCloud);
  // Classes are checked against the types of the region, which few regions have embedded.
  await refreshPrices();
  let pauseMs: number = BACK_OFF_MS.first;
  const outcome = await leased({
    leases: leases(requestId),
    name: 'nodeclass',
    pass: async (lease) => {
      let isTransient = false;
      const failures = await maintainNodeClasses(leaseGuarded(ports, lease), () => {
        isTransient = true;
      });
      logFailures(telemetry, failures);
      return isTransient ? 'unsettled' : 'settled';
    },
    remainingMs,
    sleep: (ms) => sleep(ms),
    pauseMs: () => {
      const ms = pauseMs;
      pauseMs = Math.min(ms * 2, BACK_OFF_MS.max);
      return ms;
    },
  });
  return { outcome };
});
