import { eventBridgeClient, WakeBus } from '../../shared/aws/events.ts';
import type { Base } from './sandbox.ts';

/** The stack's bus, for the functions that wake others. */
export function wakeBus({ access, calls, config }: Base): WakeBus {
  return new WakeBus({ eventBridge: eventBridgeClient(access), calls, bus: config.eventBus });
}
