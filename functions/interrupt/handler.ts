import { interruptInTime, TRY_MS } from '../../shared/app/interrupt/in-time.ts';
import { newInterruptMemory } from '../../shared/app/interrupt/interrupt.ts';
import { composed } from '../runtime/compose.ts';
import type { QueueAnswer, QueueEvent } from '../runtime/context.ts';
import { instancesCloud } from '../runtime/instances-cloud.ts';
import { publishWakeUps } from '../runtime/publish-wake-ups.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { logFailures } from '../runtime/telemetry.ts';
import { untilItPasses } from '../runtime/until-it-passes.ts';
import { answerProbe } from './probe.ts';

const memory = newInterruptMemory();

/**
 * Deletes the claims of instances that are about to be taken away and wakes those who replace them.
 * Messages that failed come again alone; the others of the batch are done with.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export const handler = composed(async (event: QueueEvent, invocation): Promise<QueueAnswer> => {
  const { config, telemetry, remainingMs } = invocation;
  // Warnings are rare, and most are met by a new process, which has to ask EKS first.
  const { ports, base, flush } = await untilItPasses(
    () => openSandbox(invocation, instancesCloud),
    { remainingMs, tryMs: TRY_MS },
  );
  const messages = event.Records.map(({ messageId: id, body, attributes }) => ({
    id,
    body,
    queuedAtMs: Number(attributes.SentTimestamp),
  }));
  // Written at once: those who are woken look at what is remembered of offerings.
  const wake = async (): Promise<void> => {
    await Promise.all([flush(), publishWakeUps(base, telemetry, ['nodeclaim-deleted'])]);
  };
  await answerProbe(ports, config.settings, messages);
  const { settings } = config;
  const handling = { ports, settings, onDeleted: wake, memory, remainingMs };
  const report = await interruptInTime(handling, messages);
  logFailures(telemetry, report.failures);
  if (report.refused.size > 0) {
    telemetry.logger.info('refused messages', { reasons: Object.fromEntries(report.refused) });
  }
  await flush();
  return { batchItemFailures: report.failedIds.map((id) => ({ itemIdentifier: id })) };
});
