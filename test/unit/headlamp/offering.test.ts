import { describe, expect, it } from 'vitest';
import {
  instanceOf,
  monthText,
  offeringText,
  plannedInstead,
  priceOf,
  priceText,
  runnerUpOf,
  runnerUpText,
} from '../../../headlamp-plugin/src/model/offering.ts';
import { launchPlanText } from '../../../shared/core/model/annotations/launch-plan.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  PLAN,
  PRICE,
  PRICE_OVERLAY_APPLIED,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf } from '../../builders/scheduling.ts';

const chosen = {
  type: 'c7g.large',
  zone: 'us-east-1a',
  capacityType: 'spot',
  reservationId: undefined,
  price: 0.04,
} as const;
const other = { ...chosen, type: 'm7g.large', price: 0.05 };

interface Case {
  readonly runnerUp?: typeof other;
  readonly annotations?: NodeClaim['annotations'];
  readonly launched?: Partial<Record<'type' | 'zone' | 'capacityType', string>>;
  readonly zone?: string;
}

/** A claim with a plan; `launched`: with an instance, which differs from the plan in these. */
function planned({ runnerUp, annotations = {}, launched, zone = chosen.zone }: Case): NodeClaim {
  const plan = launchPlanText({ ...chosen, zone, runnerUp, amounts: undefined });
  const instance = { ...chosen, zone, ...launched };
  const labels = {
    [INSTANCE_TYPE]: instance.type,
    [ZONE]: instance.zone,
    [CAPACITY_TYPE]: instance.capacityType,
  };
  return claimOf('a', {
    annotations: { [PLAN]: plan, ...annotations },
    labels: launched === undefined ? {} : labels,
    providerId: launched === undefined ? undefined : 'aws:///us-east-1a/i-1',
  });
}

describe('the price', () => {
  it.each<readonly [string, Case, string]>([
    ['is planned before the launch', {}, '$0.0400/h, $29.20 a month, as planned'],
    [
      'is that of the instance after it',
      { launched: { type: 'r7g.large' }, annotations: { [PRICE]: '0.0625' } },
      '$0.0625/h, $45.63 a month, at its launch',
    ],
    [
      'says that overlays changed it',
      { launched: {}, annotations: { [PRICE]: '0', [PRICE_OVERLAY_APPLIED]: 'true' } },
      '$0.0000/h, $0.00 a month, at its launch, after overlays',
    ],
    [
      'is in yuan in China',
      { launched: {}, annotations: { [PRICE]: '0.5' }, zone: 'cn-north-1a' },
      '¥0.5000/h, ¥365.00 a month, at its launch',
    ],
    [
      'is not known of an instance that nobody noted it of',
      { launched: {} },
      'not known: the NodeClaim has no annotation joiner.dev/price',
    ],
  ])('%s', (_, given, text) => {
    expect(priceText(priceOf(planned(given)))).toBe(text);
  });

  it('is not known of a claim without a plan, or with one that cannot be read', () => {
    expect(priceOf(claimOf('a', { providerId: undefined }))).toBeUndefined();
    const annotations = { [PLAN]: '{', [PRICE]: 'much' };
    expect(priceOf(claimOf('a', { annotations, providerId: undefined }))).toBeUndefined();
  });

  it('is of 730 hours in a month', () => {
    expect(monthText(1, 'USD')).toBe('$730.00 a month');
  });
});

describe('the runner-up', () => {
  it('costs more', () => {
    expect(runnerUpText(planned({ runnerUp: other }))).toBe(
      'm7g.large spot in us-east-1a at $0.0500/h: $0.0100 more an hour (25.0 %)',
    );
  });

  it('costs the same', () => {
    expect(runnerUpText(planned({ runnerUp: { ...other, price: chosen.price } }))).toContain(
      'the same cost; the name comes later in the alphabet',
    );
  });

  it('is none, or is not recorded', () => {
    expect(runnerUpText(planned({}))).toBe('none: no other offering had room for the pods');
    expect(runnerUpOf(claimOf('a'))).toEqual({ kind: 'not-recorded' });
    const annotations = { [PLAN]: '{"type":"a","price":1}' };
    expect(runnerUpText(claimOf('a', { annotations }))).toBe('not recorded on the NodeClaim');
  });
});

describe('the instance', () => {
  it('is what is planned, then what EC2 launched', () => {
    expect(offeringText(instanceOf(planned({})))).toBe('c7g.large spot in us-east-1a');
    const launched = planned({ launched: { type: 'r7g.large' } });
    expect(offeringText(instanceOf(launched))).toBe('r7g.large spot in us-east-1a');
    expect(offeringText(instanceOf(claimOf('a', { labels: {} })))).toBe('? ? in ?');
  });

  it('differs from the plan where EC2 launched another offering', () => {
    expect(plannedInstead(planned({ launched: { type: 'r7g.large' } }))).toBe(
      'c7g.large spot in us-east-1a',
    );
    expect(plannedInstead(planned({ launched: {} }))).toBeUndefined();
    expect(plannedInstead(planned({}))).toBeUndefined();
    expect(plannedInstead(claimOf('a'))).toBeUndefined();
  });
});
