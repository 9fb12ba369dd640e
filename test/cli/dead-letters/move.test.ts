import { describe, expect, it } from 'vitest';
import { moveAll } from '../../../cli/dead-letters/move.ts';
import type { MoveTask } from '../../../cli/dead-letters/queue.ts';

const QUICK = { waitMsMax: 20, lookMs: 5 };

function task(status: string, startedAtMs: number, change: Partial<MoveTask> = {}): MoveTask {
  return { status, startedAtMs, moved: 0, toMove: undefined, failure: undefined, ...change };
}

/** A queue that says these, one after the other, and the last one from then on. */
function queue(...said: readonly (MoveTask | undefined)[]) {
  let asked = 0;
  const started: number[] = [];
  return {
    started,
    startMove: async () => void started.push(asked),
    lastMove: async () => {
      asked += 1;
      return said[Math.min(asked, said.length) - 1];
    },
  };
}

describe('a redrive of everything', () => {
  it('is awaited to its end', async () => {
    const done = task('COMPLETED', 2, { moved: 4, toMove: 4 });
    const asked = queue(undefined, undefined, task('RUNNING', 2, { toMove: 4 }), done);
    expect(await moveAll(asked, QUICK)).toEqual(done);
    expect(asked.started).toEqual([1]);
  });

  it('that takes long goes on by itself', async () => {
    const running = task('RUNNING', 1, { moved: 2, toMove: 9 });
    expect(await moveAll(queue(undefined, running), QUICK)).toEqual(running);
  });

  it('is not the one before it', async () => {
    expect(await moveAll(queue(task('COMPLETED', 1)), QUICK)).toBeUndefined();
  });
});
