import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import { WAKE_EVENT, type Wake } from '../contract.ts';
import { PortError } from '../ports/fault.ts';
import { type AwsAccess, configuration } from './access.ts';
import type { Calls } from './calls.ts';

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
const ENTRIES_MAX = 10;

/** Here and not beside the others: who seldom wakes anybody imports it when it does. */
export function eventBridgeClient(access: AwsAccess): EventBridgeClient {
  return new EventBridgeClient(configuration(access));
}

export interface WakeBusParts {
  readonly eventBridge: EventBridgeClient;
  readonly calls: Calls;
  /** Name of the stack's own bus. */
  readonly bus: string;
}

/** Wakes other functions; a wake-up carries no data, so one that comes twice does no harm. */
export class WakeBus {
  private readonly parts: WakeBusParts;

  constructor(parts: WakeBusParts) {
    this.parts = parts;
  }

  async wake(wakes: readonly Wake[]): Promise<void> {
    const entries = wakes.map(
      (wake): PutEventsRequestEntry => ({
        EventBusName: this.parts.bus,
        Source: WAKE_EVENT.source,
        DetailType: WAKE_EVENT.wakeDetailType,
        Detail: JSON.stringify(wake),
      }),
    );
    for (let at = 0; at < entries.length; at += ENTRIES_MAX) {
      await this.put(entries.slice(at, at + ENTRIES_MAX), 1);
    }
  }

  /** EventBridge takes some entries of a call and refuses others: those go once more. */
  private async put(entries: PutEventsRequestEntry[], retries: number): Promise<void> {
    const { eventBridge, calls } = this.parts;
    const command = new PutEventsCommand({ Entries: entries });
    const answer = await calls.run('events:PutEvents', () => eventBridge.send(command));
    const results = answer.Entries ?? [];
    const refused = entries.filter((_, at) => results[at]?.ErrorCode !== undefined);
    if (refused.length === 0) return;
    if (retries > 0) {
      await this.put(refused, retries - 1);
      return;
    }
    const { ErrorCode: code = '', ErrorMessage: message = '' } =
      results.find((each) => each.ErrorCode !== undefined) ?? {};
    throw new PortError('unknown', code, `events:PutEvents: ${message}`);
  }
}
