import { interrupt } from '../../shared/app/interrupt.ts';
import { composed } from '../runtime/compose.ts';
import type { QueueAnswer, QueueEvent } from '../runtime/context.ts';
import { instancesCloud } from '../runtime/instances-cloud.ts';
import { openSandbox } from '../runtime/sandbox.ts';
import { wakeBus } from '../runtime/wake-bus.ts';

/**
 * Deletes the claims of instances that are about to be taken away and wakes those who replace them.
 * Messages that failed come again alone; the others of the batch are done with.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
export const handler = composed(async (event: QueueEvent, invocation): Promise<QueueAnswer> => {
  const { config, telemetry } = invocation;
  const { ports, base, remember } = await openSandbox(invocation, instancesCloud);
  const messages = event.Records.map(({ messageId, body }) => ({ id: messageId, body }));
  const report = await interrupt(ports, config.settings, messages);
  if (report.refused.size > 0) {
    telemetry.logger.info('refused messages', { reasons: Object.fromEntries(report.refused) });
  }
  const wake = async (): Promise<void> => {
    try {
      await wakeBus(base).wake([{ cluster: config.cluster, kind: 'nodeclaim-deleted' }]);
    } catch (error) {
      // The claims are deleted: the messages would find nothing to do, and the next minute wakes all.
      telemetry.logger.warn('nobody was woken', { text: String(error) });
    }
  };
  await Promise.all([remember(), ...(report.deleted.length > 0 ? [wake()] : [])]);
  return { batchItemFailures: report.failedIds.map((id) => ({ itemIdentifier: id })) };
});
