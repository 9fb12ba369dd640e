import { setTimeout as sleep } from 'node:timers/promises';
import type { DeadLetterQueue, MoveTask } from './queue.ts';

const WAIT_MS_MAX = 60_000;
const LOOK_MS = 1_000;

/** How long somebody waits for the end; tests wait less. */
export interface MoveOptions {
  readonly waitMsMax?: number;
  readonly lookMs?: number;
}

/**
 * Has SQS redrive the whole queue and waits for the end of it; a redrive that takes longer goes on
 * by itself. Undefined: SQS says nothing of it yet.
 */
export async function moveAll(
  queue: Pick<DeadLetterQueue, 'startMove' | 'lastMove'>,
  { waitMsMax = WAIT_MS_MAX, lookMs = LOOK_MS }: MoveOptions = {},
): Promise<MoveTask | undefined> {
  const before = await queue.lastMove();
  if (before?.status === 'RUNNING') throw new Error(`a redrive is under way: ${progress(before)}`);
  await queue.startMove();
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const last = await queue.lastMove();
    const task = last?.startedAtMs === before?.startedAtMs ? undefined : last;
    const isOver = task !== undefined && task.status !== 'RUNNING';
    if (isOver || waitedMs >= waitMsMax) return task;
    await sleep(lookMs);
  }
}

/** How far it has come, for people. */
export function progress({ moved, toMove }: MoveTask): string {
  return toMove === undefined ? `${moved} messages moved` : `${moved} of ${toMove} messages moved`;
}
