import { catalogPort } from '../../shared/catalog/port.ts';
import { notMine } from '../runtime/not-mine.ts';
import type { Base, Cloud } from '../runtime/sandbox.ts';

/**
 * What there is to buy, and nothing of EC2. How much of a reservation is free would have to be
 * asked for, so that no replacement is planned into one.
 */
export function planningCloud({ config, catalog }: Base): Cloud {
  const { region, memoryOverhead, reservedEnis } = config;
  return {
    compute: notMine('compute'),
    images: notMine('images'),
    network: notMine('network'),
    profiles: notMine('profiles'),
    catalog: catalogPort(region, catalog, () => ({
      reservedNetworkInterfaces: reservedEnis,
      memoryOverhead,
      availableReservations: new Map(),
    })),
  };
}
