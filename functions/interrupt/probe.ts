import type { QueueMessage } from '../../shared/app/interrupt/interrupt.ts';
import type { AppSettings } from '../../shared/app/settings.ts';
import { PROBE } from '../../shared/contract.ts';
import { probeOf } from '../../shared/core/interruption/probe.ts';
import type { Ports } from '../../shared/ports.ts';

/**
 * Answers a probe with a decision, which is kept as every decision is. One of a batch: whoever
 * sends many is no more than a line in the log.
 */
export async function answerProbe(
  { clock, recorder }: Pick<Ports, 'clock' | 'recorder'>,
  { cluster, envelope }: Pick<AppSettings, 'cluster' | 'envelope'>,
  messages: readonly QueueMessage[],
): Promise<void> {
  for (const { body } of messages) {
    const mark = probeOf(body, { ...envelope, ...PROBE, cluster });
    if (mark === undefined) continue;
    await recorder.decision({
      id: `probe-${mark}`,
      atMs: clock.nowMs(),
      useCase: 'interrupt',
      object: `Probe/${mark}`,
      action: 'none',
      message: 'a probe has come through its rule and the queue',
      detail: { reason: 'probe' },
    });
    return;
  }
}
