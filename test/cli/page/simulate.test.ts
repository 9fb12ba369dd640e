import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FinalState } from '../../../shared/sim/report.ts';
import { printedPage, ROOT, textOf } from './made.ts';

/** What pages of simulations say of what was decided, and of what was not. */

const pausedFolder = join(ROOT, 'test/scenarios/pause-windows');

const simulated = (...args: readonly string[]) =>
  printedPage('simulate', ...args, '--region', 'us-east-1');
// One after the other: what they print goes through one standard output.
const paused = await simulated(
  join(pausedFolder, 'manifests'),
  ...['--scenario', join(pausedFolder, 'scenario.yaml'), '--duration', '20m'],
);

/** The part of a page's words under one heading. */
function partOf(page: string, from: string, to: string): string {
  const text = textOf(page);
  return text.slice(text.indexOf(`\n${from}\n`), text.indexOf(`\n${to}\n`));
}

describe('a page of a simulation with pauses', () => {
  it('has every reason why passes changed nothing', () => {
    const part = partOf(paused.page, 'What was not done, and why', 'Pods without a node');
    const { decisions } = paused.json as unknown as FinalState;
    const texts = decisions
      .filter(({ action }) => action === 'unchanged')
      .flatMap(({ reasons: [why] }) =>
        why?.code === 'unchanged' ? why.parameters.reasons.map(({ text }) => text) : [],
      );
    expect(texts.length).toBeGreaterThan(8);
    for (const text of texts) expect(part).toContain(text);
  });

  it('says from when to when a NodePool was paused, and how often passes said the same', () => {
    const part = partOf(paused.page, 'What was not done, and why', 'Pods without a node');
    expect(part).toContain(
      '2m 7m disrupt NodePool/default Disruptions are paused: disrupt from 2 0 * * * for 5m',
    );
    expect(part).toContain(
      '8m 11m provision NodePool/default Launches are paused: launch from 8 0 * * * for 3m',
    );
    expect(part).toMatch(/^1m 20m \d+ disrupt .* would not run cheaper/m);
    expect(paused.page).toContain(
      'aria-label="Paused: disruptions of NodePool default from 2m to 7m (disrupt from 2 0 * * * for 5m)',
    );
  });

  it('tells of a NodePool that was not ready for a time, and not that it was at first', () => {
    const text = textOf(paused.page);
    expect(text).toMatch(/^8m status NodePool\/default Ready=False \(LaunchesPaused: /m);
    expect(text).toMatch(/^11m status NodePool\/default Ready=True$/m);
    expect(text).not.toMatch(/^0s status/m);
  });
});
