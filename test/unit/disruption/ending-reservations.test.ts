import { expect, it } from 'vitest';
import { withoutEndingReservations } from '../../../shared/core/disruption/ending-reservations.ts';
import type { CapacityReservation } from '../../../shared/core/model/node-class.ts';
import { aNodeClass, aReservation } from '../../builders/launches.ts';
import { snapshotOf, typeOf } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;
const { id } = aReservation('zone-a');

/** Which offerings of the type can be had for moves that have to pay back until the moment. */
function available(changes: Partial<CapacityReservation>, atMs: number): readonly boolean[] {
  const reservation = { id, type: 'default', capacity: 2, interruptible: false } as const;
  const type = typeOf('m.large', 2, 8, 0.1, { zones: ['zone-a'] });
  const reserved = type.offerings.map((each) => ({ ...each, price: 0, reservation }));
  const offerings = [...type.offerings, ...reserved];
  const snapshot = snapshotOf({ types: [{ ...type, offerings }] });
  const capacityReservations = [{ ...aReservation('zone-a'), ...changes }];
  const nodeClass = aNodeClass({}, { capacityReservations });
  const { instanceTypes } = withoutEndingReservations(snapshot, [nodeClass], atMs);
  return [...instanceTypes.values()].flatMap((types) =>
    types.flatMap((type) => type.offerings.map((each) => each.available)),
  );
}

it.each<[string, Partial<CapacityReservation>, readonly boolean[]]>([
  ['that has no end is moved to', { endsAtMs: undefined }, [true, true]],
  ['that ends later is moved to', { endsAtMs: 4 * HOUR }, [true, true]],
  ['that ends before is not', { endsAtMs: 4 * HOUR - 1 }, [true, false]],
  ['of another name is nothing to it', { id: 'cr-other', endsAtMs: 0 }, [true, true]],
])('a reservation %s', (_, changes, expected) => {
  expect(available(changes, 4 * HOUR)).toEqual(expected);
});
