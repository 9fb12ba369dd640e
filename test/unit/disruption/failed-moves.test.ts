import { describe, expect, it } from 'vitest';
import {
  endedTargets,
  type FailedMoves,
  failedMoves,
  failedMovesText,
  remembered,
  targetOf,
  waitingTargets,
  withFailure,
  withoutTargets,
  withSuccess,
} from '../../../shared/core/disruption/failed-moves.ts';
import { FAILED_MOVES } from '../../../shared/core/model/labels.ts';
import { claimOf, FAMILY } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TARGET = 'm.large on-demand';

/** Failures at these moments, each as soon as another may be tried. */
function failing(times: number): FailedMoves {
  let moves: FailedMoves = new Map();
  for (let at = 0; at < times; at += 1) {
    moves = withFailure(moves, TARGET, moves.get(TARGET)?.untilMs ?? 0);
  }
  return moves;
}

describe('an instance of a move that ended while it booted', () => {
  it.each<[string, Readonly<Record<string, number>>, FailedMoves, number, readonly string[]]>([
    ['counts', { [`move to ${TARGET}`]: 5 }, new Map(), 6, [TARGET]],
    ['counts once', { [`move to ${TARGET}`]: 5 }, withFailure(new Map(), TARGET, 6), 7, []],
    [
      'counts after another',
      { [`move to ${TARGET}`]: 5 },
      withFailure(new Map(), TARGET, 4),
      6,
      [TARGET],
    ],
    ['counts no longer after 15 minutes', { [`move to ${TARGET}`]: 0 }, new Map(), 15 * MINUTE, []],
    ['is no canary', { 'NodePool/general template abc': 5 }, new Map(), 6, []],
  ])('%s', (_, tried, moves, nowMs, targets) => {
    expect(endedTargets(new Map(Object.entries(tried)), moves, nowMs)).toEqual(targets);
  });
});

describe('moves that failed', () => {
  it.each([
    [1, 15],
    [2, 15 + 30],
    [3, 15 + 30 + 60],
    [4, 15 + 30 + 60 + 120],
  ])('of a kind wait ever longer: %i', (times, minutes) => {
    expect(failing(times).get(TARGET)).toEqual({ untilMs: minutes * MINUTE, count: times });
  });

  it('wait 8 hours at most', () => {
    const [before, after] = [failing(12).get(TARGET), failing(13).get(TARGET)];
    expect((after?.untilMs ?? 0) - (before?.untilMs ?? 0)).toBe(8 * HOUR);
  });

  it('count once where several nodes of one move fail', () => {
    const once = withFailure(new Map(), TARGET, 0);
    expect(withFailure(once, TARGET, 14 * MINUTE)).toBe(once);
  });

  it('are forgotten a day after their wait', () => {
    const moves = failing(1);
    expect(remembered(moves, 15 * MINUTE + 24 * HOUR - 1)).toEqual(moves);
    expect(remembered(moves, 15 * MINUTE + 24 * HOUR).size).toBe(0);
  });

  it('bar their own kind only, and until the time', () => {
    const moves = failing(1);
    expect([...waitingTargets(moves, 15 * MINUTE - 1)]).toEqual([TARGET]);
    expect([...waitingTargets(moves, 15 * MINUTE)]).toEqual([]);
    const left = withoutTargets(FAMILY, new Set([TARGET]));
    const kinds = (types: typeof FAMILY) =>
      types.flatMap(({ name, offerings }) =>
        offerings.map(({ capacityType }) => `${name} ${capacityType}`),
      );
    expect(kinds(left)).toEqual(kinds(FAMILY).filter((each) => each !== TARGET));
    expect(withoutTargets(FAMILY, new Set())).toBe(FAMILY);
  });

  it('bar a type where they bar all its offerings', () => {
    const left = withoutTargets(FAMILY, new Set([TARGET, 'm.large spot', 'm.xlarge spot']));
    expect(left.map(({ name }) => name)).toEqual(['m.xlarge', 'm.2xlarge', 'm.4xlarge']);
  });

  it('are named by what the claim was launched as', () => {
    const labels = {
      'node.kubernetes.io/instance-type': 'm.large',
      'karpenter.sh/capacity-type': 'on-demand',
    };
    expect(targetOf(claimOf('new', { labels }))).toBe(TARGET);
    expect(targetOf({ labels: {} })).toBe(' ');
  });
});

describe('the annotation of failed moves', () => {
  it('is read as it was written, and none where there is nothing', () => {
    const moves = failing(2);
    const text = failedMovesText(moves);
    expect(failedMoves({ [FAILED_MOVES]: text ?? '' })).toEqual(moves);
    expect(failedMovesText(new Map())).toBeNull();
    expect(failedMoves({}).size).toBe(0);
  });

  it('has the same text in whatever order they failed', () => {
    const targets = ['b spot', 'c spot', 'a spot'];
    const text = failedMovesText(
      new Map(targets.map((target) => [target, { untilMs: 0, count: 1 }])),
    );
    const said = '{"until":"1970-01-01T00:00:00.000Z","count":1}';
    expect(text).toBe(`{"a spot":${said},"b spot":${said},"c spot":${said}}`);
    expect(failedMoves({ [FAILED_MOVES]: text ?? '' }).size).toBe(3);
  });

  it.each([
    'x',
    '[]',
    'null',
    '{"a on-demand":1}',
    '{"a on-demand":null}',
    '{"a on-demand":{"until":2026,"count":1}}',
    '{"a on-demand":{"until":"soon","count":1}}',
    '{"a on-demand":{"until":"2026-01-01T00:00:00Z","count":"1"}}',
    '{"a on-demand":{"until":"2026-01-01T00:00:00Z","count":0}}',
  ])('says nothing where it cannot be read: %s', (text) => {
    expect(failedMoves({ [FAILED_MOVES]: text }).size).toBe(0);
  });
});

it('a node that became ready ends the row of failures, but no wait', () => {
  const failed = withFailure(new Map(), TARGET, 0);
  const untilMs = failed.get(TARGET)?.untilMs ?? 0;
  expect(withSuccess(failed, new Set([TARGET]), untilMs - 1)).toEqual(failed);
  expect(withSuccess(failed, new Set(['other spot']), untilMs)).toEqual(failed);
  expect(withSuccess(failed, new Set([TARGET]), untilMs)).toEqual(new Map());
});
