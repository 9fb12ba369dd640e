import { describe, expect, it } from 'vitest';
import {
  type LaunchPlan,
  launchPlanOf,
  launchPlanText,
} from '../../../../shared/core/model/annotations/launch-plan.ts';
import { PLAN } from '../../../../shared/core/model/labels.ts';

const FULL: LaunchPlan = {
  type: 'm7g.large',
  zone: 'eu-central-1a',
  capacityType: 'reserved',
  reservationId: 'cr-0123456789abcdef0',
  price: 0.0816,
  amounts: {
    allocatable: { cpu: 1930, memory: 7_000_000_000_000 },
    capacity: { cpu: 2000, memory: 8_000_000_000_000 },
  },
};

const read = (text: string) => launchPlanOf({ annotations: { [PLAN]: text } });

describe('the plan of a NodeClaim', () => {
  it('is read as it was written, its reservation included', () => {
    const { amounts, price: _, ...choice } = FULL;
    expect(read(launchPlanText(FULL))).toEqual({ ...choice, ...amounts });
  });

  it('has no amounts where the instance type was not known', () => {
    const text = launchPlanText({ ...FULL, reservationId: undefined, amounts: undefined });
    expect(JSON.parse(text)).toEqual({
      type: 'm7g.large',
      zone: 'eu-central-1a',
      capacityType: 'reserved',
      price: 0.0816,
    });
    expect(read(text)).toMatchObject({ allocatable: {}, capacity: {}, reservationId: undefined });
  });

  it('keeps what can be read of an edited one', () => {
    expect(
      read('{"type":"a","zone":7,"allocatable":{"cpu":"2","memory":5},"capacity":[]}'),
    ).toEqual({
      type: 'a',
      zone: undefined,
      capacityType: undefined,
      reservationId: undefined,
      allocatable: { cpu: 2000 },
      capacity: {},
    });
  });

  it.each(['', '{', 'null', '[]', '"a"', '7'])('is none where the text is %j', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it('is none without the annotation', () => {
    expect(launchPlanOf({ annotations: {} })).toBeUndefined();
  });
});
