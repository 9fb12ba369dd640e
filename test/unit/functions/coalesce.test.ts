import { afterEach, beforeEach, expect, it, vi } from 'vitest';
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
