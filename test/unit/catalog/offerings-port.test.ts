import { expect, it } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { DEFAULT_LAUNCH_ENVIRONMENT } from '../../../shared/catalog/node-class-settings.ts';
import { offeringsPort } from '../../../shared/catalog/offerings-port.ts';
import type { CapacityReservation } from '../../../shared/core/model/node-class.ts';
import { PortError } from '../../../shared/ports.ts';
import { aNodeClass, aReservation } from '../../builders/launches.ts';

const RESERVATION = aReservation('us-east-1a');

async function offered() {
  const catalog = await loadCatalog('us-east-1');
  let answer = async (): Promise<(CapacityReservation & { readonly available: number })[]> => [];
  const port = offeringsPort('us-east-1', () => catalog, DEFAULT_LAUNCH_ENVIRONMENT, {
    reservations: async () => await answer(),
  });
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
  const answers = (next: typeof answer) => {
    answer = next;
  };
  return { capacities, answers };
}

it('a reservation that EC2 does not have any more is offered no more', async () => {
  const { capacities, answers } = await offered();
  answers(async () => [{ ...RESERVATION, available: 2 }]);
  expect(await capacities()).toEqual([[true, 2]]);
  answers(async () => []);
  expect(await capacities()).toEqual([[false, 0]]);
});

it('a Capacity Block that is about to end is offered no more, whatever its class says', async () => {
  const { capacities, answers } = await offered();
  answers(async () => [{ ...RESERVATION, state: 'expiring', available: 2 }]);
  expect(await capacities()).toEqual([[false, 0]]);
});

it('a class whose reservations EC2 does not tell of is offered with what was known', async () => {
  const { capacities, answers } = await offered();
  answers(async () => [{ ...RESERVATION, available: 2 }]);
  await capacities();
  answers(async () => {
    throw new PortError('throttled', 'RequestLimitExceeded', 'slow down');
  });
  expect(await capacities()).toEqual([[true, 2]]);
});
