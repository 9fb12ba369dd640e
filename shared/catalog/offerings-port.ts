import type { Catalog as CatalogPort, Network } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { Catalog } from './facts.ts';
import type { LaunchEnvironment } from './node-class-settings.ts';
import { catalogPort } from './port.ts';

/**
 * Instance types with the reservations' free instances of this moment, or as they were known before
 * where EC2 does not answer: what is no reservation can be launched all the same.
 */
export function offeringsPort(
  region: string,
  current: () => Catalog,
  environment: Omit<LaunchEnvironment, 'availableReservations'>,
  network: Pick<Network, 'reservations'>,
): CatalogPort {
  const available = new Map<string, number>();
  const port = catalogPort(region, current, () => ({
    ...environment,
    availableReservations: available,
  }));
  return {
    region,
    get source() {
      return port.source;
    },
    instanceTypes: async (nodeClass) => {
      const terms = nodeClass.capacityReservationSelectorTerms;
      const found = terms.length === 0 ? [] : await unlessRefused(network.reservations(terms));
      if (found !== undefined) {
        // The class names reservations that have ended until it is looked at again.
        for (const { id } of nodeClass.status.capacityReservations) available.delete(id);
        // It says of a Capacity Block that it is about to end only then, too.
        for (const { id, state, available: free } of found) {
          available.set(id, state === 'expiring' ? 0 : free);
        }
      }
      return await port.instanceTypes(nodeClass);
    },
  };
}

/** `nodeclass` says what EC2 refuses: it asks for the same reservations. */
async function unlessRefused<Answer>(asked: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof PortError) return undefined;
    throw error;
  }
}
