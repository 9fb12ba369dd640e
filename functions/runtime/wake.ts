import type { Wake } from '../../shared/contract.ts';
import type { WakeUpEvent } from './context.ts';

/** The kind of a wake-up; whatever an event does not say is a tick: wake-ups are hints only. */
export function wakeOf(event: WakeUpEvent): Wake['kind'] {
  const { detail } = event;
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return 'tick';
  return typeof detail.kind === 'string' ? (detail.kind as Wake['kind']) : 'tick';
}
