import { provision } from '../../shared/app/provision/provision.ts';
import { writeLeases } from '../../shared/app/writes/write-leases.ts';
import type { Wake } from '../../shared/contract.ts';
import { batchWindow } from '../../shared/kube/batch-window.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { mayHandOver, type Outcome, RESERVE_MS } from '../runtime/leased.ts';
import { publishWakeUps } from '../runtime/publish-wake-ups.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { wakeOf } from '../runtime/wake.ts';
import { launchingCloud } from './cloud.ts';

/**
 * Plans nodes for the pods that have none and launches every NodeClaim that has no instance. Woken
 * by pods and claims, and each minute. What it has launched it tells `lifecycle`, which then stays
 * until the nodes have joined: in the tick that launches, that one has been and gone. When its time
 * is up, it wakes the invocation that launches the rest.
 */
export const handler = composed(async (event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry } = invocation;
  const invocationMs = remainingMs();
  const { ports, kube, base, leases, refreshPrices, invalidate, flush } = await openSandbox(
    invocation,
    launchingCloud,
  );
  const refreshing = refreshPrices();
  if (wakeOf(event) === 'pods-unschedulable') {
    await batchWindow(kube, { idleMs: config.batchIdleMs, maxMs: config.batchMaxMs });
  }
  await refreshing;
  const waking: Promise<void>[] = [];
  // Not waited for while it holds a Lease: the bus may be out of reach.
  const wake = (kind: Wake['kind']): void =>
    void waking.push(publishWakeUps(base, telemetry, [kind]));
  const wakeAnother = (): void => wake('pods-unschedulable');
  const turns = writeLeases({ leases: leases(requestId), ports, wakeAnother });
  let outcome: Outcome | undefined;
  let isOwed = false;
  try {
    while (outcome === undefined) {
      invalidate();
      const report = await provision(ports, config.settings, remainingMs, turns);
      logFailures(telemetry, report.failures);
      if (report.launched.length > 0) wake('nodeclaim-changed');
      const { created, launched, unplaced, isLeftToAnother } = report;
      telemetry.logger.info('provisioned', {
        created: created.length,
        launched: launched.length,
        unplaced: unplaced.size,
        isLeftToAnother,
      });
      isOwed = report.isWoken;
      if (!report.isWoken && !report.isUnfinished) {
        outcome = isLeftToAnother ? 'held by another' : 'done';
      } else if (remainingMs() < RESERVE_MS) {
        outcome = 'out of time';
      }
    }
    if (outcome === 'out of time' && mayHandOver(invocationMs)) wake('nodeclaim-created');
    return { outcome };
  } catch (error) {
    if (isOwed) wakeAnother();
    throw error;
  } finally {
    await Promise.all([flush(), ...waking]);
  }
});
