import { lifecycle } from '../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../shared/app/lifecycle/memory.ts';
import { LifecyclePace } from '../../shared/app/lifecycle/pace.ts';
import { leaseGuarded } from '../../shared/app/writes/write-leases.ts';
import { TICK_PREFIX } from '../../shared/kube/lease-state.ts';
import { lifecycleNews } from '../../shared/kube/lifecycle-news.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { instancesCloud } from '../runtime/instances-cloud.ts';
import { leased, mayHandOver } from '../runtime/leased.ts';
import { publishWakeUps } from '../runtime/publish-wake-ups.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { wakeOf } from '../runtime/wake.ts';

/** EC2 renews its checks each minute; asking more often tells nothing new. */
const CHECKS_MS = 60_000;

const memory = new LifecycleMemory(CHECKS_MS);

/**
 * Registers, initialises, drains and terminates what NodeClaims stand for. Stays while a claim is
 * in transition; when its time is up, it wakes the invocation that goes on.
 */
export const handler = composed(async (event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry, publish } = invocation;
  const invocationMs = remainingMs();
  const { ports, kube, base, leases, flush } = await openSandbox(invocation, instancesCloud);
  const news = lifecycleNews(kube);
  const pace = new LifecyclePace();
  let pauseMs = 0;
  let draining: readonly string[] = [];
  const tick = wakeOf(event) === 'tick' ? TICK_PREFIX : '';
  const waking: Promise<void>[] = [];
  const wakeAnother = (): void =>
    void waking.push(publishWakeUps(base, telemetry, ['nodeclaim-changed']));
  try {
    const outcome = await leased({
      leases: leases(`${tick}${requestId}`),
      name: 'lifecycle',
      pass: async (lease) => {
        const report = await lifecycle(leaseGuarded(ports, lease), config.settings, memory);
        logFailures(telemetry, report.failures);
        pauseMs = pace.next(report, Date.now());
        draining = report.draining;
        // An invocation may stay for minutes: an alarm must not wait for its end.
        publish();
        return report.isUnsettled || report.isExpecting ? 'unsettled' : 'settled';
      },
      remainingMs,
      sleep: (ms) => news.pause(ms, draining),
      pauseMs: () => pauseMs,
      finish: async () => {
        await memory.nominations.close();
        logFailures(telemetry, memory.nominations.takeFailures());
      },
      onLeft: wakeAnother,
    });
    if (outcome === 'out of time' && mayHandOver(invocationMs)) wakeAnother();
    return { outcome };
  } finally {
    await Promise.all([news.close(), flush(), ...waking]);
  }
});
