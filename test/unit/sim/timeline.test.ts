import { describe, expect, it } from 'vitest';
import { Timeline } from '../../../shared/sim/timeline.ts';

describe('who waits in the simulated world', () => {
  it('lets everything else go on meanwhile, and sees the time pass', async () => {
    const timeline = new Timeline(0);
    const seen: string[] = [];
    const see = (what: string) => () => void seen.push(`${what} at ${timeline.nowMs()}`);
    timeline.after(10, async () => {
      see('falls asleep')();
      await timeline.sleep(100);
      see('wakes')();
    });
    timeline.after(50, see('meanwhile'));
    timeline.after(200, see('later'));
    while (timeline.nextMs() !== undefined) await timeline.advance();
    expect(seen).toEqual(['falls asleep at 10', 'meanwhile at 50', 'wakes at 110', 'later at 200']);
  });
});
