import { expect, it } from 'vitest';
import { offeringsPort } from '../../../functions/runtime/offerings.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import type { CapacityReservation } from '../../../shared/core/model/node-class.ts';
import { aNodeClass } from '../../builders/launches.ts';

const RESERVATION: CapacityReservation = {
  id: 'cr-0123456789abcdef0',
  instanceType: 'm5.large',
  zone: 'us-east-1a',
  ownerID: '123456789012',
  instanceMatchCriteria: 'open',
  reservationType: 'default',
  interruptible: false,
  state: 'active',
  endsAtMs: undefined,
};

it('a reservation that EC2 does not have any more is offered no more', async () => {
  const catalog = await loadCatalog('us-east-1');
  const config = { region: 'us-east-1', memoryOverhead: 0.075, reservedEnis: 0 };
  let found = [{ ...RESERVATION, available: 2 }];
  const port = offeringsPort(
    { config, catalog: () => catalog },
    { reservations: async () => found },
  );
  const nodeClass = aNodeClass(
    { capacityReservationSelectorTerms: [{ id: RESERVATION.id }] },
    {
      subnets: [{ id: 'subnet-a', zone: 'us-east-1a', zoneId: 'use1-az1' }],
      capacityReservations: [RESERVATION],
    },
  );
  const capacities = async () =>
    (await port.instanceTypes(nodeClass))
      .flatMap(({ offerings }) => offerings)
      .filter(({ capacityType }) => capacityType === 'reserved')
      .map(({ available, reservation }) => [available, reservation?.capacity]);
  expect(await capacities()).toEqual([[true, 2]]);
  found = [];
  expect(await capacities()).toEqual([[false, 0]]);
});
