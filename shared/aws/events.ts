import {
  EventBridgeClient,
  PutEventsCommand,
  type PutEventsRequestEntry,
} from '@aws-sdk/client-eventbridge';
import { WAKE_EVENT, type Wake } from '../contract.ts';
import { PortError } from '../ports/fault.ts';
import { type AwsAccess, configuration } from './access.ts';
import { type Calls, RETRY_MS } from './calls.ts';

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html */
const ENTRIES_MAX = 10;
/** Of all entries of a call; https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html */
export const CALL_BYTES_MAX = 256 * 1024;

/** Here and not beside the others: who seldom wakes anybody imports it when it does. */
export function eventBridgeClient(access: AwsAccess): EventBridgeClient {
  return new EventBridgeClient(configuration(access));
}

export interface EventsParts {
  readonly eventBridge: EventBridgeClient;
  readonly calls: Calls;
}

/**
 * Puts events onto their buses, at most ten and {@link CALL_BYTES_MAX} a call. Rejects
 * where EventBridge refuses one of them twice; the others are put.
 */
export async function putEvents(
  parts: EventsParts,
  entries: readonly PutEventsRequestEntry[],
): Promise<void> {
  for (const batch of batches(entries)) await put(parts, batch, 1);
}

/** In the given order; an entry that is too large for any call makes a batch of its own. */
function batches(entries: readonly PutEventsRequestEntry[]): readonly PutEventsRequestEntry[][] {
  const made: PutEventsRequestEntry[][] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = entryBytes(entry);
    const last = made.at(-1);
    if (last === undefined || last.length === ENTRIES_MAX || bytes + size > CALL_BYTES_MAX) {
      made.push([entry]);
      bytes = size;
    } else {
      last.push(entry);
      bytes += size;
    }
  }
  return made;
}

const TIME_BYTES = 14;

/**
 * What EventBridge counts of an entry.
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
 */
export function entryBytes(entry: PutEventsRequestEntry): number {
  const { Time, Source = '', DetailType = '', Detail = '', Resources = [] } = entry;
  const texts = [Source, DetailType, Detail, ...Resources];
  const bytes = texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  return bytes + (Time === undefined ? 0 : TIME_BYTES);
}

/** EventBridge takes some entries of a call and throttles others: those go once more. */
async function put(
  parts: EventsParts,
  entries: PutEventsRequestEntry[],
  retries: number,
): Promise<void> {
  const { eventBridge, calls } = parts;
  const command = new PutEventsCommand({ Entries: entries });
  const answer = await calls.run('events:PutEvents', () => eventBridge.send(command));
  const results = answer.Entries ?? [];
  const refused = entries.filter((_, at) => results[at]?.ErrorCode !== undefined);
  if (refused.length === 0) return;
  if (retries > 0) {
    await calls.timing.sleep(RETRY_MS);
    await put(parts, refused, retries - 1);
    return;
  }
  const { ErrorCode: code = '', ErrorMessage: message = '' } =
    results.find((each) => each.ErrorCode !== undefined) ?? {};
  throw new PortError('unknown', code, `events:PutEvents: ${message}`);
}

export interface WakeBusParts extends EventsParts {
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
    await putEvents(this.parts, entries);
  }
}
