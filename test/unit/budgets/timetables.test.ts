import { expect, it } from 'vitest';
import { encodeTimetables, renderTimetables, timetables } from '../../../cli/budgets/timetables.ts';
import { claimOf, poolOf, snapshotOf, yes } from '../../builders/scheduling.ts';

/** A Friday. */
const FROM = Date.UTC(2026, 6, 17, 12);
const DAY = 86_400_000;

const always = { nodes: '20%', schedule: undefined, durationMs: undefined, reasons: undefined };
const weekend = { nodes: '0', schedule: '0 18 * * fri', durationMs: 2.5 * DAY };
const disruption = {
  consolidateAfter: 0,
  consolidationPolicy: 'WhenEmpty',
  budgets: [always, { ...weekend, reasons: ['Drifted' as const] }],
} as const;

const up = yes('Launched', 'Registered', 'Initialized');
const claims = Array.from({ length: 10 }, (_, at) =>
  claimOf(`n${at}`, { conditions: at < 8 ? up : [...up, ...yes('InstanceTerminating')] }),
);
const objects = snapshotOf({
  nodePools: [poolOf('general', { disruption }), poolOf('empty', { disruption })],
  nodeClaims: [...claims, claimOf('starting', { conditions: yes('Launched') })],
});

it('is a timetable for each NodePool, with as many nodes as it has now', async () => {
  const all = timetables({ objects }, { fromMs: FROM, toMs: FROM + 4 * DAY });
  await expect(renderTimetables(all)).toMatchFileSnapshot('golden/timetables.txt');
  expect(encodeTimetables(all)).toMatchObject([
    { nodePool: 'empty', nodes: 0, windows: [{ allowed: { Drifted: 0, Empty: 0 } }] },
    {
      nodePool: 'general',
      nodes: 8,
      windows: [
        { from: '2026-07-17T12:00:00.000Z', to: '2026-07-17T18:00:00.000Z', allowed: { Empty: 2 } },
        { to: '2026-07-20T06:00:00.000Z', allowed: { Drifted: 0, Empty: 2 } },
        { to: '2026-07-21T12:00:00.000Z', allowed: { Drifted: 2, Empty: 2 } },
      ],
    },
  ]);
  expect(renderTimetables([])).toBe('No NodePools.');
});

it('has a column for fallbacks where a NodePool asks for their return', () => {
  const annotations = { 'joiner.dev/return-to-first-choice': 'nodes=1' };
  const nodePools = [poolOf('general', { disruption, annotations })];
  const range = { fromMs: FROM, toMs: FROM + DAY };
  const asking = renderTimetables(timetables({ objects: { ...objects, nodePools } }, range));
  const not = renderTimetables(timetables({ objects }, range));
  expect(asking.split('\n')[1]?.split(/\s{2,}/u)).toContain('FALLBACK');
  expect(not).not.toContain('FALLBACK');
});
