import { lifecycle } from '../../shared/app/lifecycle.ts';
import { LifecycleMemory } from '../../shared/app/lifecycle-memory.ts';
import { joiningNodes } from '../../shared/kube/joining-nodes.ts';
import { composed } from '../runtime/compose.ts';
import type { WakeUpEvent } from '../runtime/context.ts';
import { instancesCloud } from '../runtime/instances-cloud.ts';
import { held, leased, mayHandOver } from '../runtime/leased.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { tell } from '../runtime/tell.ts';

/**
 * Between two looks at claims in transition, unless a node joins: a drain of hours is a series of
 * them.
 */
const PAUSE_MS = 1000;

/** EC2 renews its checks each minute; asking more often tells nothing new. */
const CHECKS_MS = 60_000;

const memory = new LifecycleMemory(CHECKS_MS);

/**
 * Registers, initialises, drains and terminates what NodeClaims stand for. Stays while a claim is
 * in transition; when its time is up, it wakes the invocation that goes on.
 */
export const handler = composed(async (_event: WakeUpEvent, invocation) => {
  const { config, requestId, remainingMs, telemetry, publish } = invocation;
  const invocationMs = remainingMs();
  const { ports, kube, base, leases, remember } = await openSandbox(invocation, instancesCloud);
  const joining = joiningNodes(kube);
  const waking: Promise<void>[] = [];
  const wakeAnother = (): void => void waking.push(tell(base, telemetry, ['nodeclaim-changed']));
  try {
    const outcome = await leased({
      leases: leases(requestId),
      name: 'lifecycle',
      pass: async (lease) => {
        const report = await lifecycle(held(ports, lease), config.settings, memory);
        logFailures(telemetry, report.failures);
        // An invocation may stay for minutes: an alarm must not wait for its end.
        publish();
        return report.isUnsettled || report.isExpecting ? 'unsettled' : 'settled';
      },
      remainingMs,
      sleep: joining.pause,
      pauseMs: PAUSE_MS,
      finish: async () => {
        await memory.nominations.close();
        logFailures(telemetry, memory.nominations.takeFailures());
      },
      onLeft: wakeAnother,
    });
    if (outcome === 'out of time' && mayHandOver(invocationMs)) wakeAnother();
    return { outcome };
  } finally {
    joining.close();
    await Promise.all([remember(), ...waking]);
  }
});
