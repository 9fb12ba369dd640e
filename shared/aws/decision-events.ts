import type { PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import type { ReadDecision } from '../api/decision-record.ts';
import { DECISION_ACTIONS, DECISION_EVENT, type DECISION_EVENTS } from '../contract.ts';
import { CALL_BYTES_MAX, type EventsParts, entryBytes, putEvents } from './events.ts';

/** Which decisions are published. */
export type PublishedDecisions = (typeof DECISION_EVENTS)[number];

/** Of one invocation's decisions. Two thousand launches would be no event that anybody reads. */
export const EVENTS_MAX = 500;

const UNCHANGING: ReadonlySet<string> = new Set([
  DECISION_ACTIONS.none,
  DECISION_ACTIONS.unchanged,
  DECISION_ACTIONS.unschedulable,
]);

function isChange({ action }: ReadDecision): boolean {
  return !UNCHANGING.has(action);
}

/** What is published of an object of records, in their order; changes before what is none. */
export function chosenDecisions(
  records: readonly ReadDecision[],
  published: PublishedDecisions,
): readonly ReadDecision[] {
  const changes = records.filter(isChange);
  const others = published === 'all' ? records.filter((each) => !isChange(each)) : [];
  return [...changes, ...others].slice(0, EVENTS_MAX);
}

/** The event of a decision, as large as EventBridge takes it. */
export function decisionEntry(record: ReadDecision, clusterArn: string): PutEventsRequestEntry {
  const entry = {
    EventBusName: DECISION_EVENT.bus,
    Source: DECISION_EVENT.source,
    DetailType: DECISION_EVENT.detailType,
    Time: new Date(record.atMs),
    Resources: [clusterArn],
  };
  return { ...entry, Detail: detailText(record, CALL_BYTES_MAX - entryBytes(entry)) };
}

/**
 * The record as JSON, without what does not fit: first its `detail`, whose names are in
 * `detail.omitted` then, then its last reasons, then the end of its message.
 */
export function detailText(record: ReadDecision, bytesMax: number): string {
  const fits = (each: object): boolean => Buffer.byteLength(JSON.stringify(each)) <= bytesMax;
  if (fits(record)) return JSON.stringify(record);
  const omitted = Object.keys(record.detail).sort();
  let smaller = { ...record, detail: { omitted } };
  if (fits(smaller)) return JSON.stringify(smaller);
  const reasons = mostThat((count) => {
    smaller = {
      ...record,
      detail: { omitted: [...omitted, 'reasons'] },
      reasons: record.reasons.slice(0, count),
      message: '',
    };
    return fits(smaller);
  }, record.reasons.length);
  smaller = { ...smaller, reasons: record.reasons.slice(0, reasons) };
  const letters = mostThat(
    (count) => fits({ ...smaller, message: record.message.slice(0, count) }),
    record.message.length,
  );
  return JSON.stringify({ ...smaller, message: record.message.slice(0, letters) });
}

/** The largest count up to `max` for which it holds, which holds for 0; by halving. */
function mostThat(holds: (count: number) => boolean, max: number): number {
  let [low, high] = [0, max];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Publishes decisions on the account's default bus. One that is repeated has the same id. */
export async function publishDecisions(
  parts: EventsParts,
  records: readonly ReadDecision[],
  clusterArn: string,
): Promise<void> {
  await putEvents(
    parts,
    records.map((record) => decisionEntry(record, clusterArn)),
  );
}
