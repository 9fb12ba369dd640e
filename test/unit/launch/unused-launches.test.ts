import { describe, expect, it } from 'vitest';
import { type UnusedLaunch, withOutcomes } from '../../../shared/core/launch/unused-launches.ts';

const HOUR_MS = 3_600_000;

function launch(uid: string, createdAtMs: number, rest: Partial<UnusedLaunch> = {}): UnusedLaunch {
  return {
    group: 'g',
    claim: `claim-${uid}`,
    uid,
    createdAtMs,
    ways: 'w',
    runsOthers: false,
    hasRun: false,
    lacks: '',
    ...rest,
  };
}

const uids = (launches: readonly UnusedLaunch[]): string =>
  launches.map(({ group, uid }) => (group === 'g' ? uid : `${group}${uid}`)).join(' ');

const NOTHING = { unused: [], used: [] };

describe('what is remembered of launches in vain', () => {
  it('is the newest first, then by uid and group, in whatever order they come', () => {
    const all = [
      launch('b', 1),
      launch('a', 1, { group: 'h' }),
      launch('a', 1),
      launch('c', 2),
      launch('d', 0.5),
    ];
    expect(uids(withOutcomes([], { unused: all, used: [] }, 3))).toBe('c a ha b d');
    expect(uids(withOutcomes(all.toReversed(), NOTHING, 3))).toBe('c a ha b d');
  });

  it('is each launch of a group once, as it was first remembered', () => {
    const before = [launch('a', 1, { lacks: 'first' })];
    const again = [launch('a', 1, { lacks: 'again' }), launch('a', 1, { group: 'h' })];
    const found = withOutcomes(before, { unused: again, used: [] }, 2);
    expect(uids(found)).toBe('a ha');
    expect(found[0]?.lacks).toBe('first');
  });

  it('is the same list where nothing is new, and another where something is', () => {
    const before = [launch('b', 2), launch('a', 1)];
    expect(withOutcomes(before, { unused: [launch('a', 1)], used: [] }, 3)).toBe(before);
    expect(withOutcomes(before, { unused: [launch('c', 3)], used: [] }, 4)).not.toBe(before);
    const turned = before.toReversed();
    expect(withOutcomes(turned, NOTHING, 3)).not.toBe(turned);
  });

  it('lasts 48 hours', () => {
    const before = [launch('a', 1000)];
    expect(uids(withOutcomes(before, NOTHING, 1000 + 48 * HOUR_MS - 1))).toBe('a');
    expect(uids(withOutcomes(before, NOTHING, 1000 + 48 * HOUR_MS))).toBe('');
  });

  it('is struck out up to the last launch that served its group, and no other’s', () => {
    const use = (group: string, createdAtMs: number, isSettled = true) => ({
      group,
      uid: `u${createdAtMs}`,
      createdAtMs,
      isSettled,
    });
    const before = [launch('c', 3), launch('b', 2), launch('h', 1, { group: 'h' }), launch('a', 1)];
    const left = (...used: readonly ReturnType<typeof use>[]): string =>
      uids(withOutcomes(before, { unused: [], used }, 4));
    expect(left(use('g', 2))).toBe('c hh');
    expect(left(use('g', 2), use('g', 1))).toBe('c hh');
    expect(left(use('g', 1), use('g', 2))).toBe('c hh');
    expect(left(use('g', 2, false))).toBe('c b a hh');
    expect(left(use('h', 1))).toBe('c b a');
  });
});

describe('of many launches for a group', () => {
  it('24 are remembered, and all where there are no more', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, at) => launch(`${at}`, at + 1));
    expect(withOutcomes(many(24), NOTHING, 100)).toHaveLength(24);
    expect(withOutcomes(many(40), NOTHING, 100)).toHaveLength(24);
    const others = many(10).map((each) => ({ ...each, group: 'h' }));
    expect(withOutcomes([...many(40), ...others], NOTHING, 100)).toHaveLength(34);
  });

  it('those are, of which the next newer one is farthest away, and then the newest', () => {
    const uid = (at: number): string => String(at).padStart(2, '0');
    // 30 of one time, by uid; six hours before them one, and a second before that another.
    const newest = Array.from({ length: 30 }, (_, at) => launch(uid(at), 10 * HOUR_MS));
    const older = [launch('old', 4 * HOUR_MS), launch('older', 4 * HOUR_MS - 1000)];
    const found = withOutcomes([...older, ...newest], NOTHING, 11 * HOUR_MS);
    const kept = [...Array(22).keys()].map(uid);
    expect(uids(found)).toBe([...kept, 'old', 'older'].join(' '));
  });
});

it('20,000 launches are remembered in all: the newest', () => {
  const all = Array.from({ length: 20_001 }, (_, at) =>
    launch(`${at}`, 20_001 - at, { group: `g${at}` }),
  );
  const found = withOutcomes(all, NOTHING, 20_002);
  expect(found).toHaveLength(20_000);
  expect(found.at(-1)?.createdAtMs).toBe(2);
});
