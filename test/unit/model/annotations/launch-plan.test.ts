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
  runnerUp: {
    type: 'm7g.large',
    zone: 'eu-central-1b',
    capacityType: 'on-demand',
    reservationId: undefined,
    price: 0.0979,
  },
  amounts: {
    allocatable: { cpu: 1930, memory: 7_000_000_000_000 },
    capacity: { cpu: 2000, memory: 8_000_000_000_000 },
  },
};

const read = (text: string) => launchPlanOf({ annotations: { [PLAN]: text } });

describe('the plan of a NodeClaim', () => {
  it('is read as it was written, its reservation and its runner-up included', () => {
    const { amounts, ...choice } = FULL;
    expect(read(launchPlanText(FULL))).toEqual({ ...choice, ...amounts });
  });

  it('says that there is no runner-up, and nothing where an older version wrote it', () => {
    const text = launchPlanText({ ...FULL, runnerUp: undefined });
    expect(JSON.parse(text)).toMatchObject({ runnerUp: null });
    expect(read(text)?.runnerUp).toBe('none');
    expect(read('{"type":"a"}')?.runnerUp).toBeUndefined();
    expect(read('{"runnerUp":7}')?.runnerUp).toBeUndefined();
  });

  it('has no amounts where the instance type was not known', () => {
    const text = launchPlanText({
      ...FULL,
      reservationId: undefined,
      runnerUp: undefined,
      amounts: undefined,
    });
    expect(JSON.parse(text)).toEqual({
      type: 'm7g.large',
      zone: 'eu-central-1a',
      capacityType: 'reserved',
      price: 0.0816,
      runnerUp: null,
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
      price: undefined,
      runnerUp: undefined,
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
