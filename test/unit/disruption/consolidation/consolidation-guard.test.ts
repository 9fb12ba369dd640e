import { describe, expect, it } from 'vitest';
import { consolidate } from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import {
  consolidationGuardOf,
  guarded,
  settingsFor,
  tooYoung,
} from '../../../../shared/core/disruption/consolidation/consolidation-guard.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../../../shared/core/disruption/consolidation/payback.ts';
import { isReason, reason, sentence, sentences } from '../../../../shared/core/explain/reason.ts';
import { CONSOLIDATION_GUARD } from '../../../../shared/core/model/labels.ts';
import { clusterOf, consolidationOf } from '../../../builders/consolidation.ts';
import { claimOf, podOf, poolOf, typeOf } from '../../../builders/scheduling.ts';

const HOUR = 3_600_000;

function guardedBy(text: string) {
  return { ...poolOf('general'), annotations: { [CONSOLIDATION_GUARD]: text } };
}

function textOf(found: object | undefined): string {
  return found !== undefined && isReason(found) ? sentence(found) : '';
}

describe('the guard of a NodePool', () => {
  it.each<[string, object]>([
    ['saving=0.05', { saving: 0.05 }],
    ['saving=12', { saving: 12 }],
    ['saving=12.75', { saving: 12.75 }],
    ['share=0.1', { share: 0.1 }],
    ['age=90m', { ageMs: 1.5 * HOUR }],
    ['horizon=12h', { horizonMs: 12 * HOUR }],
    [' saving=1 , share=1,age=0s, horizon=1h', { saving: 1, share: 1, ageMs: 0, horizonMs: HOUR }],
  ])('%s', (text, expected) => {
    expect(consolidationGuardOf(guardedBy(text))).toEqual(expected);
  });

  it.each([
    '',
    'saving',
    'saving=-1',
    'saving=$1',
    'saving=1x',
    'saving=0.05=9',
    'age=1h=',
    'share=10',
    'age=1',
    'horizon=soon',
    'price=1',
    'time=1h',
  ])('says what cannot be read: "%s"', (text) => {
    expect(textOf(consolidationGuardOf(guardedBy(text)))).toMatch(
      /^Annotation joiner\.dev\/consolidation-guard: ".*" is invalid; example: saving=0\.05/u,
    );
  });

  it('names the part that cannot be read', () => {
    expect(textOf(consolidationGuardOf(guardedBy('saving=1, cost=2 ,age=1h')))).toContain(
      ': "cost=2" is invalid',
    );
  });

  it('is none without the annotation', () => {
    expect(consolidationGuardOf(poolOf('general'))).toEqual({});
  });

  it('keeps young nodes, and all where it cannot be read', () => {
    const claim = claimOf('a', { createdAtMs: 9 * HOUR });
    expect(textOf(tooYoung(guardedBy('age=2h'), claim, 10 * HOUR))).toContain(
      'keeps it for 60 more minutes',
    );
    expect(tooYoung(guardedBy('age=2h'), claim, 11 * HOUR)).toBeUndefined();
    expect(tooYoung(guardedBy('age=2h'), claim, 11 * HOUR - 1)).toBeDefined();
    expect(textOf(tooYoung(guardedBy('age=x'), claim, 9 * HOUR))).toContain(
      'is invalid; example: ',
    );
    expect(tooYoung(poolOf('general'), claim, 0)).toBeUndefined();
  });

  const settings = DEFAULT_CONSOLIDATION_SETTINGS;
  /** `lastMs`: how long what moves save lasts in every pool. */
  const horizonsLasting = (lastMs: number | undefined, ...texts: readonly string[]) => {
    const nodes = texts.map((text, at) => ({
      pool: { ...guardedBy(text), name: `pool-${at}` },
    }));
    const use = { pricePerHour: 1, disruption: 1, savingsLastMs: lastMs };
    const pools = new Map(nodes.map(({ pool }) => [pool.name, use]));
    return settingsFor(nodes, settings, pools).horizonMs;
  };

  it('sets the horizon of its nodes, the shortest where several go together', () => {
    const horizons = (...texts: readonly string[]) => horizonsLasting(undefined, ...texts);
    expect(horizons('horizon=12h')).toBe(12 * HOUR);
    expect(horizons('horizon=12h', 'horizon=1h')).toBe(HOUR);
    expect(horizons('horizon=12h', 'saving=1')).toBe(settings.horizonMs);
    expect(settingsFor([], settings, new Map())).toBe(settings);
    expect(horizons('horizon=soon', 'horizon=12h')).toBe(12 * HOUR);
  });

  it('comes before what lasts less long than the setting', () => {
    expect(horizonsLasting(HOUR, 'saving=1')).toBe(HOUR);
    expect(horizonsLasting(HOUR, 'horizon=2h')).toBe(2 * HOUR);
    expect(horizonsLasting(9 * HOUR, 'saving=1')).toBe(settings.horizonMs);
  });
});

describe('a move of guarded nodes', () => {
  const types = [typeOf('m.large', 2, 8, 0.1), typeOf('m.4xlarge', 16, 64, 0.8)];
  const pods = [
    podOf('p', { cpu: 500 }, { nodeName: 'a', phase: 'Running', unschedulable: false }),
  ];

  /** A node of $0.80 for which one of $0.10 would do. */
  function found(text: string) {
    const cluster = clusterOf([{ name: 'a', type: 'm.4xlarge', pods }], {
      types,
      pools: [guardedBy(text)],
    });
    const { moves, refusals } = consolidate(consolidationOf(cluster));
    return { moves: moves.length, why: sentences([...refusals.values()].flat()) };
  }

  it.each(['saving=0.6', 'share=0.8', 'horizon=1h', 'saving=0.6,share=0.8'])('goes: %s', (text) => {
    expect(found(text)).toEqual({ moves: 1, why: '' });
  });

  /** Types that EC2 may launch in the place of the node. */
  function typesOf(text: string) {
    const between = typeOf('m.2xlarge', 8, 32, 0.4);
    const cluster = clusterOf([{ name: 'a', type: 'm.4xlarge', pods }], {
      types: [...types, between],
      pools: [guardedBy(text)],
    });
    const { moves } = consolidate(consolidationOf(cluster));
    return moves.flatMap(({ replacements }) => replacements.map((each) => each.instanceTypes));
  }

  it.each([
    ['saving=0.4', ['m.large', 'm.2xlarge']],
    ['saving=0.41', ['m.large']],
    ['share=0.5', ['m.large', 'm.2xlarge']],
    ['share=0.51', ['m.large']],
    ['saving=0.7', ['m.large']],
  ])('saves as much in a shortage of the cheapest type: %s', (text, expected) => {
    expect(typesOf(text)).toEqual([expected]);
  });

  it.each([
    ['saving=0.75', 'It would save $0.7000 an hour, and joiner.dev/consolidation-guard'],
    ['share=0.9', 'It would save 88 %, and joiner.dev/consolidation-guard of NodePool general'],
    ['horizon=1m', 'would not repay the evictions within consolidationHorizon'],
  ])('stays: %s', (text, why) => {
    const { moves, why: said } = found(text);
    expect(moves).toBe(0);
    expect(said).toContain(why);
  });

  it.each([
    ['saving=0.5', 0.5, []],
    [
      'saving=0.5',
      0.499,
      [
        reason('guard-saving', {
          nodePool: 'general',
          saving: { amount: 0.499, currency: 'CNY' },
          asked: { amount: 0.5, currency: 'CNY' },
        }),
      ],
    ],
    ['share=0.25', 0.2, []],
    ['share=0.55', 0.44, []],
    ['share=0.25', 0.1, [reason('guard-share', { nodePool: 'general', percent: 13, asked: 25 })]],
    ['horizon=1h', 0, []],
    ['saving=much', 0, []],
  ])('is held to what it says: %s of 0.8, and %d is saved', (text, saving, expected) => {
    const node = { name: 'a', type: 'm.4xlarge', pods };
    const { usages } = clusterOf([node], { types, pools: [guardedBy(text)] });
    expect(guarded(usages, { saving, cost: 0 }, 'CNY')).toEqual(expected);
  });
});
