import type { Wake } from '../../shared/contract.ts';
import type { Base } from './sandbox.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Says on the stack's bus what there is to do. Where that fails it is logged and no more: what was
 * done is written, and the next minute wakes everybody. The bus's client is loaded when it is needed.
 */
export async function publishWakeUps(
  base: Base,
  { logger }: Telemetry,
  kinds: readonly Wake['kind'][],
): Promise<void> {
  if (kinds.length === 0) return;
  const { cluster } = base.config;
  try {
    const { wakeBus } = await import('./wake-bus.ts');
    await wakeBus(base).wake(kinds.map((kind) => ({ cluster, kind })));
  } catch (error) {
    logger.warn('the wake-up failed', { text: String(error) });
  }
}
