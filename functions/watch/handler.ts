import { setTimeout as sleep } from 'node:timers/promises';
import { heldForMs } from '../../shared/kube/leases.ts';
import type { WakeUp } from '../../shared/kube/wake-sources.ts';
import { watchWakeUps } from '../../shared/kube/wake-ups.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { finishAndRelease } from '../runtime/leased.ts';
import { noCloud } from '../runtime/no-cloud.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { wakeBus } from '../runtime/wake-bus.ts';
import { Coalescer } from './coalesce.ts';
import { isWorthWaiting, RESERVE_MS, WAIT_MS_MAX } from './hand-over.ts';

const LEASE = 'watch';

/** Each kind of wake-up is sent at most once in that time. */
const COALESCE_MS = 1000;

/** Between two looks at the Lease, ours or another's. */
const LOOK_MS = 500;

/**
 * The event source that EKS lacks: holds watches for minutes and wakes the other functions. The
 * one that comes when it is about to end waits for the Lease, so that there is hardly a moment
 * without a watch; those before leave at once. After one that died, that is a minute at most.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs } = invocation;
  const { kube, base, leases } = await openSandbox(invocation, noCloud);
  const bus = wakeBus(base);
  const heldMs = await heldForMs(kube, LEASE);
  if (heldMs !== undefined && !isWorthWaiting(heldMs, remainingMs())) {
    return { outcome: 'held by another' };
  }
  const holder = leases(requestId);
  const waitUntilMs = Date.now() + WAIT_MS_MAX;
  let lease = await holder.acquire(LEASE);
  while (lease === undefined) {
    if (Date.now() > waitUntilMs || remainingMs() < 2 * RESERVE_MS) return { outcome: 'waited' };
    await sleep(LOOK_MS);
    lease = await holder.acquire(LEASE);
  }
  const over = new AbortController();
  const wakes = new Coalescer<WakeUp>(COALESCE_MS, async (kinds) => {
    await bus.wake(kinds.map((kind) => ({ cluster: config.cluster, kind })));
  });
  const watching = watchWakeUps({
    client: kube,
    wake: (kind) => wakes.add(kind),
    signal: over.signal,
  });
  try {
    const failed = watching.then(() => 'ended' as const);
    while (remainingMs() > RESERVE_MS && (await lease.isHeld())) {
      if ((await Promise.race([failed, sleep(LOOK_MS)])) === 'ended') break;
    }
  } finally {
    over.abort();
    await finishAndRelease(lease, () => wakes.close());
  }
  await watching;
  return { outcome: 'watched' };
});
