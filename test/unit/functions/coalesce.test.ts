import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Coalescer } from '../../../functions/watch/coalesce.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('sends a kind at once, and again only after a second', async () => {
  const sent: string[] = [];
  const wakes = new Coalescer<'a' | 'b'>(1000, async (kinds) => void sent.push(kinds.join()));
  wakes.add('a');
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual(['a']);
  wakes.add('a');
  await vi.advanceTimersByTimeAsync(990);
  expect(sent).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(10);
  expect(sent).toEqual(['a', 'a']);
});

it('a kind that is due does not wait for one that is not', async () => {
  const sent: string[] = [];
  const wakes = new Coalescer<'a' | 'b'>(1000, async (kinds) => void sent.push(kinds.join()));
  wakes.add('a');
  await vi.advanceTimersByTimeAsync(100);
  wakes.add('a');
  wakes.add('b');
  await vi.advanceTimersByTimeAsync(0);
  expect(sent).toEqual(['a', 'b']);
  await vi.advanceTimersByTimeAsync(900);
  expect(sent).toEqual(['a', 'b', 'a']);
});

describe('where a send takes longer than the time between two', () => {
  const SLOW_MS = 5_000;

  /** Sends slowly while a kind is added each 100 ms for a minute; what is sent, and when. */
  async function sentInAMinute() {
    const sent: [string, number][] = [];
    const startMs = Date.now();
    const wakes = new Coalescer<'a' | 'b'>(1000, async (kinds) => {
      sent.push([kinds.join(), Date.now() - startMs]);
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    });
    for (let ms = 0; ms < 60_000; ms += 100) {
      wakes.add('a');
      await vi.advanceTimersByTimeAsync(100);
    }
    return { wakes, sent, startMs };
  }

  it('what is added meanwhile is one more send, and not one for each second', async () => {
    const { sent } = await sentInAMinute();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.length).toBeLessThanOrEqual(60_000 / SLOW_MS + 1);
  });

  it('a new kind does not wait behind those of long ago', async () => {
    const { wakes, sent, startMs } = await sentInAMinute();
    const addedMs = Date.now() - startMs;
    wakes.add('b');
    await vi.advanceTimersByTimeAsync(60_000);
    const found = sent.find(([kinds]) => kinds.includes('b'));
    expect(found?.[1]).toBeLessThanOrEqual(addedMs + SLOW_MS);
  });

  it('nothing is lost that was added while the last send ran', async () => {
    const sent: string[] = [];
    const wakes = new Coalescer<'a' | 'b'>(1000, async (kinds) => {
      sent.push(kinds.join());
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
    });
    wakes.add('a');
    await vi.advanceTimersByTimeAsync(10);
    wakes.add('b');
    const closing = wakes.close();
    await vi.advanceTimersByTimeAsync(2 * SLOW_MS);
    await closing;
    expect(sent).toEqual(['a', 'b']);
  });
});
