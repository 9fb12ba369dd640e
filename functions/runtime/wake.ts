import { SCHEDULE_KINDS, WAKE_TARGETS, type Wake } from '../../shared/contract.ts';
import type { WakeUpEvent } from './context.ts';

function isKind(kind: unknown): kind is Wake['kind'] {
  return (
    typeof kind === 'string' && [...Object.keys(WAKE_TARGETS), ...SCHEDULE_KINDS].includes(kind)
  );
}

/** The kind of a wake-up; whatever an event does not say is a tick: wake-ups are hints only. */
export function wakeOf({ detail }: WakeUpEvent): Wake['kind'] {
  if (typeof detail !== 'object' || detail === null || !('kind' in detail)) return 'tick';
  return isKind(detail.kind) ? detail.kind : 'tick';
}
