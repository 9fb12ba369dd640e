import { catalogPort } from '../../shared/catalog/port.ts';
import type { Catalog as CatalogPort, Network } from '../../shared/ports.ts';
import type { Base } from './sandbox.ts';

/** Instance types with the reservations' free instances of this moment. */
export function offeringsPort(
  {
    config: { region, memoryOverhead, reservedEnis },
    catalog,
  }: Pick<Base, 'catalog'> & {
    readonly config: Pick<Base['config'], 'region' | 'memoryOverhead' | 'reservedEnis'>;
  },
  network: Pick<Network, 'reservations'>,
): CatalogPort {
  const available = new Map<string, number>();
  const port = catalogPort(region, catalog, () => ({
    reservedNetworkInterfaces: reservedEnis,
    memoryOverhead,
    availableReservations: available,
  }));
  return {
    region,
    get source() {
      return port.source;
    },
    instanceTypes: async (nodeClass) => {
      const terms = nodeClass.capacityReservationSelectorTerms;
      const found = terms.length === 0 ? [] : await network.reservations(terms);
      // The class names reservations that have ended until it is looked at again.
      for (const { id } of nodeClass.status.capacityReservations) available.delete(id);
      for (const each of found) available.set(each.id, each.available);
      return await port.instanceTypes(nodeClass);
    },
  };
}
