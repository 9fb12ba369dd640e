import { setTimeout as sleep } from 'node:timers/promises';
import { maintainNodeClasses } from '../../shared/app/nodeclass.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { held, leased } from '../runtime/leased.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { describingCloud } from './cloud.ts';

/** Keeps the status of every EC2NodeClass true: images, subnets, security groups, profiles. */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { requestId, remainingMs, telemetry } = invocation;
  const { ports, leases, refreshPrices } = await openSandbox(invocation, describingCloud);
  // Classes are checked against the types of the region, which few regions have embedded.
  await refreshPrices();
  const outcome = await leased({
    leases: leases(requestId),
    name: 'nodeclass',
    pass: async (lease) => {
      const failures = await maintainNodeClasses(held(ports, lease));
      logFailures(telemetry, failures);
      return 'settled';
    },
    remainingMs,
    sleep: async (ms) => void (await sleep(ms)),
    pauseMs: 1000,
  });
  return { outcome };
});
