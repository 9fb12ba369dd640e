import { setTimeout as sleep } from 'node:timers/promises';
import { type WakeUp, watchWakeUps } from '../../shared/kube/wake-ups.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { letGo } from '../runtime/leased.ts';
import { noCloud } from '../runtime/no-cloud.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { wakeBus } from '../runtime/wake-bus.ts';
import { Coalescer } from './coalesce.ts';

/** Each kind of wake-up is sent at most once in that time. */
const COALESCE_MS = 1000;

/** What the last seconds of an invocation are for: sending what is left, releasing the Lease. */
const RESERVE_MS = 15_000;

/** Between two looks at the Lease, ours or another's. */
const LOOK_MS = 500;

/** Whoever waits longer than this for the Lease leaves it to the next minute's invocation. */
const WAIT_MS_MAX = 50_000;

/**
 * The event source that EKS lacks: holds watches for minutes and wakes the other functions. The
 * next one waits for the Lease, so that there is hardly a moment without a watch.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs } = invocation;
  const { kube, base, leases } = await openSandbox(invocation, noCloud);
  const bus = wakeBus(base);
  const holder = leases(requestId);
  const waitUntilMs = Date.now() + WAIT_MS_MAX;
  let lease = await holder.acquire('watch');
  while (lease === undefined) {
    if (Date.now() > waitUntilMs || remainingMs() < 2 * RESERVE_MS) return { outcome: 'waited' };
    await sleep(LOOK_MS);
    lease = await holder.acquire('watch');
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
    await wakes.close();
    await letGo(lease);
  }
  await watching;
  return { outcome: 'watched' };
});
