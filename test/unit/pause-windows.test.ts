import { expect, it } from 'vitest';
import {
  pausedPools,
  pauseFault,
  pauseWindow,
  pauseWindowSoon,
} from '../../shared/core/pause-windows.ts';
import { poolOf } from '../builders/scheduling.ts';

/** A Monday. */
const at = (time: string): number => Date.parse(`2026-01-05T${time}:00Z`);
const pool = (text: string) => poolOf('web', { annotations: { 'joiner.dev/pause': text } });

const NIGHT = 'launch from 0 18 * * 1-5 for 14h';
const DAY = 'disrupt from 0 8 * * 1-5 for 10h';

it.each([
  ['17:59', NIGHT, undefined, undefined],
  ['18:00', NIGHT, NIGHT, undefined],
  ['07:59', `${NIGHT};${DAY}`, undefined, undefined],
  ['08:00', `${NIGHT}; ${DAY} ;`, undefined, DAY],
  ['17:59', `${DAY}; ${NIGHT}`, undefined, DAY],
  ['18:00', `${DAY}; ${NIGHT}`, NIGHT, undefined],
  ['18:00', 'launch at night', undefined, undefined],
])('at %s %j', (time, text, launch, disrupt) => {
  const own = pool(text);
  expect(pauseWindow(own, 'launch', at(time))).toBe(launch);
  expect(pauseWindow(own, 'disrupt', at(time))).toBe(disrupt);
  const isPaused = launch !== undefined || disrupt !== undefined;
  expect([...pausedPools([own, poolOf('other')], at(time))]).toEqual(isPaused ? ['web'] : []);
});

it.each([
  ['', undefined],
  [`${DAY}; ${NIGHT}`, undefined],
  ['launch', 'launch'],
  [`${DAY}; all from @daily for 2h`, 'all from @daily for 2h'],
  ['launch from 0 25 * * * for 2h', 'launch from 0 25 * * * for 2h'],
  ['launch from @daily for ever', 'launch from @daily for ever'],
])('%j has a fault: %s', (text, wrong) => {
  const fault = pauseFault(pool(text));
  if (wrong === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(`not "${wrong}"`);
});

it.each([
  ['23:49:59', undefined],
  ['23:50:00', 'disrupt from 0 0 * * * for 1h'],
  ['23:59:59', 'disrupt from 0 0 * * * for 1h'],
  ['00:00:00', undefined],
])('that begins within ten minutes is found at %s: %s', (time, expected) => {
  const annotations = {
    'joiner.dev/pause': 'launch from 55 23 * * * for 1h; disrupt from 0 0 * * * for 1h',
  };
  const nowMs = Date.parse(`2026-01-07T${time}Z`);
  expect(pauseWindowSoon({ annotations }, 'disrupt', nowMs, 10 * 60_000)).toBe(expected);
});
