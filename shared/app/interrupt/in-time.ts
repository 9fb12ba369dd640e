import { isTransient, type Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import {
  type InterruptMemory,
  type InterruptReport,
  interrupt,
  type QueueMessage,
} from './interrupt.ts';

const PAUSE_MS = 2_000;
/** No try is begun with less time than this: it may wait for what EC2 says of warnings. */
export const TRY_MS = 20_000;

/** What a batch is handled with. */
export interface Handling {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly onDeleted: () => Promise<void>;
  readonly memory: InterruptMemory;
  /** Milliseconds left to the invocation. */
  readonly remainingMs: () => number;
}

const NOTHING: InterruptReport = { failedIds: [], deleted: [], refused: new Map(), failures: [] };

/** Whether another try has the time that it may take: Lambda would cut it off. */
function mayRepeat(remainingMs: number): boolean {
  return remainingMs >= PAUSE_MS + TRY_MS;
}

function withReport(
  done: InterruptReport,
  report: InterruptReport,
  again: ReadonlySet<string>,
): InterruptReport {
  const refused = new Map(done.refused);
  for (const [reason, count] of report.refused) {
    refused.set(reason, (refused.get(reason) ?? 0) + count);
  }
  const failedIds = report.failedIds.filter((id) => !again.has(id));
  const failures = report.failures.filter(({ messageId }) => !again.has(messageId));
  return {
    failedIds: [...done.failedIds, ...failedIds].sort(),
    deleted: [...new Set([...done.deleted, ...report.deleted])].sort(),
    refused,
    failures: [...done.failures, ...failures],
  };
}

/**
 * {@link interrupt}, and again for messages that met what passes by itself, while there is time: a
 * spot warning leaves two minutes, and the queue hides for six what has failed.
 */
export async function interruptInTime(
  { ports, settings, onDeleted, memory, remainingMs }: Handling,
  messages: readonly QueueMessage[],
): Promise<InterruptReport> {
  let done = NOTHING;
  let left = messages;
  while (left.length > 0) {
    let again: ReadonlySet<string> = new Set();
    try {
      const report = await interrupt(ports, settings, left, onDeleted, memory);
      const passing = report.failures.filter(({ cause }) => isTransient(cause));
      if (mayRepeat(remainingMs())) again = new Set(passing.map(({ messageId }) => messageId));
      done = withReport(done, report, again);
    } catch (error) {
      if (!isTransient(error) || !mayRepeat(remainingMs())) throw error;
      again = new Set(left.map(({ id }) => id));
    }
    left = left.filter(({ id }) => again.has(id));
    if (left.length > 0) await ports.clock.sleep(PAUSE_MS);
  }
  return done;
}
