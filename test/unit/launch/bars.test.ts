import { describe, expect, it } from 'vitest';
import {
  activeBars,
  BARS_MAX,
  type Bar,
  type Bars,
  barKey,
  barsOfLastResorts,
  believedBars,
  hasRoomAgain,
  offeringsOf,
  REASON_LENGTH_MAX,
  subnetsOf,
  type UnavailableOffering,
  withBar,
  withoutBars,
} from '../../../shared/core/launch/bars.ts';
import type { BarKind } from '../../../shared/core/launch/faults.ts';

const MINUTE_MS = 60_000;
const SPOT = { instanceType: 'm7g.large', zone: 'a', capacityType: 'spot' } as const;
const SUBNET = { subnetId: 'subnet-1' };

function met(
  bars: Bars,
  markedAtMs: number,
  kind: BarKind = 'shortage',
  barred: Parameters<typeof withBar>[1] = SPOT,
): Bars {
  return withBar(bars, barred, { kind, reason: 'ICE', markedAtMs });
}

const only = (bars: Bars): Bar | undefined => [...bars.values()][0];

describe('the key of what is barred', () => {
  it.each([
    [SPOT, 'm7g.large/a/spot//'],
    [{ ...SPOT, reservationId: 'cr-1' }, 'm7g.large/a/spot/cr-1/'],
    [{ ...SPOT, nodeClass: 'uid/3' }, 'm7g.large/a/spot//uid/3'],
    [SUBNET, 'subnet-1'],
  ])('%j', (barred, key) => {
    expect(barKey(barred)).toBe(key);
  });
});

describe('where nothing else is left', () => {
  const marked = met(met(new Map(), 0), 3 * MINUTE_MS);

  it('a shortage bars for its first three minutes', () => {
    const barredAt = (nowMs: number) => barsOfLastResorts(offeringsOf([...marked.values()]), nowMs);
    expect(barredAt(6 * MINUTE_MS - 1)).toHaveLength(1);
    expect(barredAt(6 * MINUTE_MS)).toEqual([]);
  });

  it.each<BarKind>(['reservation', 'quota', 'class', 'unknown'])(
    'a fault of kind %s bars',
    (kind) => {
      const bars = offeringsOf([...met(new Map(), 0, kind).values()]);
      expect(barsOfLastResorts(bars, 3 * MINUTE_MS)).toEqual(bars);
    },
  );

  it('a shortage that is met again bars for as long again, and all others as before', () => {
    const again = only(met(marked, 6 * MINUTE_MS));
    expect(again).toEqual({ ...only(marked), markedAtMs: 6 * MINUTE_MS });
    expect(met(marked, 6 * MINUTE_MS - 1)).toBe(marked);
    expect(met(marked, 6 * MINUTE_MS, 'quota')).toBe(marked);
  });
});

describe('a bar', () => {
  it('holds three minutes at first', () => {
    expect(only(met(new Map(), 1000))).toEqual({
      ...SPOT,
      kind: 'shortage',
      reason: 'ICE',
      markedAtMs: 1000,
      untilMs: 1000 + 3 * MINUTE_MS,
      times: 1,
    });
  });

  it('does not change while it holds, and holds twice as long from its end on', () => {
    const first = met(new Map(), 0);
    expect(met(first, 3 * MINUTE_MS - 1)).toBe(first);
    const second = only(met(first, 3 * MINUTE_MS));
    expect(second).toMatchObject({ times: 2, untilMs: 9 * MINUTE_MS });
  });

  it('that is met again is the newest', () => {
    const other = { ...SPOT, instanceType: 'c7g.large' };
    const both = met(met(new Map(), 0), 1, 'shortage', other);
    expect([...met(both, 3 * MINUTE_MS).keys()]).toEqual([barKey(other), barKey(SPOT)]);
  });

  it('counts as the first again as long after its end as it held', () => {
    const first = met(new Map(), 0);
    expect(only(met(first, 6 * MINUTE_MS - 1))).toMatchObject({ times: 2 });
    expect(only(met(first, 6 * MINUTE_MS))).toMatchObject({ times: 1 });
  });

  it('counts as the first where it is of another kind', () => {
    const bars = met(met(new Map(), 0), 3 * MINUTE_MS);
    expect(only(met(bars, 9 * MINUTE_MS, 'quota'))).toMatchObject({ times: 1, kind: 'quota' });
  });

  it('holds no longer each time where its kind does not grow', () => {
    const second = only(met(met(new Map(), 0, 'subnet', SUBNET), 3 * MINUTE_MS, 'subnet', SUBNET));
    expect(second).toMatchObject({ times: 2, untilMs: 6 * MINUTE_MS });
  });

  it('has the beginning of a long reason', () => {
    const reason = 'x'.repeat(REASON_LENGTH_MAX + 1);
    const bars = withBar(new Map(), SPOT, { kind: 'shortage', reason, markedAtMs: 0 });
    expect(only(bars)?.reason).toBe('x'.repeat(REASON_LENGTH_MAX));
  });

  it('takes the place of those that are forgotten, and of the oldest where there are many', () => {
    const types = Array.from({ length: BARS_MAX }, (_, at) => `t${at}`);
    const all = types.reduce<Bars>(
      (bars, instanceType, at) => met(bars, at, 'shortage', { ...SPOT, instanceType }),
      new Map(),
    );
    expect(all.size).toBe(BARS_MAX);
    const more = met(all, BARS_MAX);
    expect(more.size).toBe(BARS_MAX);
    expect([...more.keys()].slice(0, 1)).toEqual(['t1/a/spot//']);
    expect([...more.keys()].at(-1)).toBe(barKey(SPOT));
    // The first 1,001 are forgotten six minutes after they were met.
    expect(met(all, 6 * MINUTE_MS + 1000).size).toBe(BARS_MAX - 1001 + 1);
  });
});

describe('bars', () => {
  const both = met(met(new Map(), 0), 0, 'subnet', SUBNET);

  it('are the same where none is to be forgotten, and else without those', () => {
    expect(withoutBars(both, () => false)).toBe(both);
    const rest = withoutBars(both, (key, { kind }) => key === 'subnet-1' && kind === 'subnet');
    expect([...rest.keys()]).toEqual([barKey(SPOT)]);
  });

  it('are of offerings, without how often, or of subnets', () => {
    const [offering, more] = offeringsOf([...both.values()]);
    expect(offering).toEqual({
      ...SPOT,
      kind: 'shortage',
      reason: 'ICE',
      markedAtMs: 0,
      untilMs: 3 * MINUTE_MS,
    });
    expect(more).toBeUndefined();
    expect([...subnetsOf([...both.values()])]).toEqual(['subnet-1']);
  });

  it('hold until their end, in the order of their keys', () => {
    const bars = met(both, MINUTE_MS, 'shortage', { ...SPOT, instanceType: 'c7g.large' });
    const names = (nowMs: number) => activeBars(bars, [], nowMs).map((each) => barKey(each));
    expect(names(0)).toEqual(['c7g.large/a/spot//', 'm7g.large/a/spot//', 'subnet-1']);
    expect(names(3 * MINUTE_MS - 1)).toHaveLength(3);
    expect(names(3 * MINUTE_MS)).toEqual(['c7g.large/a/spot//']);
  });

  it('of other stacks hold to their latest end, and ours go before them', () => {
    const [early, late] = [met(new Map(), 0), met(new Map(), MINUTE_MS)];
    for (const others of [
      [early, late],
      [late, early],
    ]) {
      expect(activeBars(new Map(), others, 2 * MINUTE_MS)).toMatchObject([
        { untilMs: 4 * MINUTE_MS, isForeign: true },
      ]);
    }
    expect(activeBars(new Map(), [early], 3 * MINUTE_MS)).toEqual([]);
    const [own] = activeBars(early, [late], 2 * MINUTE_MS);
    expect(own).toMatchObject({ untilMs: 3 * MINUTE_MS });
    expect(own).not.toHaveProperty('isForeign');
  });
});

describe('bars of other stacks', () => {
  const foreign = (zone: string, rest: Partial<UnavailableOffering> = {}): UnavailableOffering => ({
    ...SPOT,
    zone,
    kind: 'shortage',
    reason: 'ICE',
    markedAtMs: 0,
    untilMs: 1,
    isForeign: true,
    ...rest,
  });
  const believed = (barred: readonly UnavailableOffering[], zones: number) =>
    believedBars(barred, () => zones).length;

  it('count in less than a third of a type’s zones, and in one at least', () => {
    const two = [foreign('a'), foreign('b')];
    expect(believed(two, 7)).toBe(2);
    expect(believed(two, 6)).toBe(0);
    expect(believed([foreign('a')], 1)).toBe(1);
    expect(believed([foreign('a')], 0)).toBe(1);
  });

  it('take nothing from what we have met ourselves, and that does not count with theirs', () => {
    const own = ['a', 'b', 'c'].map((zone) => foreign(zone, { isForeign: false }));
    expect(believed(own, 3)).toBe(3);
    expect(believed([...own, foreign('d')], 4)).toBe(4);
    const both = [...own, foreign('d'), foreign('e')];
    expect(believedBars(both, () => 5).map(({ zone }) => zone)).toEqual(['a', 'b', 'c']);
  });

  it('are counted by zone, type and capacity type', () => {
    const reserved = { nodeClass: 'uid/1' };
    expect(believed([foreign('a'), foreign('a', reserved)], 3)).toBe(2);
    expect(believed([foreign('a'), foreign('b', { instanceType: 'x' })], 3)).toBe(2);
    expect(believed([foreign('a'), foreign('b', { capacityType: 'on-demand' })], 3)).toBe(2);
    const asked: string[] = [];
    believedBars([foreign('a')], (type, capacityType) => asked.push(`${type} ${capacityType}`));
    expect(asked).toEqual(['m7g.large spot']);
  });
});

describe('a reservation that was full', () => {
  it.each([
    ['that has just been refused', 'reservation', 1, 59_999, false],
    ['that is full', 'reservation', 0, MINUTE_MS, false],
    ['that has room', 'reservation', 1, MINUTE_MS, true],
    ['which is barred for a shortage', 'shortage', 1, MINUTE_MS, false],
  ] as const)('%s', (_, kind, capacity, nowMs, expected) => {
    expect(hasRoomAgain({ kind, markedAtMs: 0 }, capacity, nowMs)).toBe(expected);
  });
});
