import type { QueueMessage } from '../../shared/app/interrupt/interrupt.ts';
import type { AppSettings } from '../../shared/app/settings.ts';
import { recordDecision } from '../../shared/app/writes/decisions.ts';
import { PROBE } from '../../shared/contract.ts';
import { reason } from '../../shared/core/explain/reason.ts';
import { probeOf } from '../../shared/core/interruption/probe.ts';
import type { Ports } from '../../shared/ports.ts';

/**
 * Answers a probe with a decision, which is kept as every decision is. One of a batch: whoever
 * sends many is no more than a line in the log.
 */
export async function answerProbe(
  ports: Pick<Ports, 'clock' | 'recorder'>,
  { cluster, envelope }: Pick<AppSettings, 'cluster' | 'envelope'>,
  messages: readonly QueueMessage[],
): Promise<void> {
  for (const { body } of messages) {
    const mark = probeOf(body, { ...envelope, ...PROBE, cluster });
    if (mark === undefined) continue;
    const why = reason('probe-answered', {});
    const decision = {
      id: `probe-${mark}`,
      useCase: 'interrupt',
      object: `Probe/${mark}`,
      action: 'none',
      reasons: [why],
      detail: { reason: why.code },
    } as const;
    await recordDecision({ ports }, decision);
    return;
  }
}
