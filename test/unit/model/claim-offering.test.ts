import { expect, it } from 'vitest';
import { offeringOfClaim } from '../../../shared/core/model/claim-offering.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  RESERVATION_ID,
  ZONE,
} from '../../../shared/core/model/labels.ts';
import { typeOf } from '../../builders/scheduling.ts';

const plain = typeOf('m.large', 2, 8, 0.1, { spot: true });
const reserved = (id: string, price: number) =>
  plain.offerings.slice(0, 1).map((each) => ({
    ...each,
    capacityType: 'reserved' as const,
    price,
    reservation: { id, type: 'default' as const, capacity: 1, interruptible: false },
  }));
const type = {
  ...plain,
  offerings: [...plain.offerings, ...reserved('cr-1', 0.01), ...reserved('cr-2', 0.02)],
};

it.each<[string, Readonly<Record<string, string>>, number | undefined]>([
  ['on-demand', { [CAPACITY_TYPE]: 'on-demand' }, 0.1],
  ['spot', { [CAPACITY_TYPE]: 'spot' }, 0.1 * 0.4],
  ['one reservation', { [CAPACITY_TYPE]: 'reserved', [RESERVATION_ID]: 'cr-1' }, 0.01],
  ['another', { [CAPACITY_TYPE]: 'reserved', [RESERVATION_ID]: 'cr-2' }, 0.02],
  ['one that is gone', { [CAPACITY_TYPE]: 'reserved', [RESERVATION_ID]: 'cr-3' }, undefined],
  ['another zone', { [CAPACITY_TYPE]: 'on-demand', [ZONE]: 'zone-x' }, undefined],
  ['another type', { [CAPACITY_TYPE]: 'on-demand', [INSTANCE_TYPE]: 'm.huge' }, undefined],
])('what a claim was bought as: %s', (_, changes, price) => {
  const labels = { [INSTANCE_TYPE]: 'm.large', [ZONE]: 'zone-a', ...changes };
  expect(offeringOfClaim({ labels }, [type])?.price).toBe(price);
});
