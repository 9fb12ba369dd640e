import { offeringsPort } from '../../shared/catalog/offerings-port.ts';
import type { Catalog, Network } from '../../shared/ports.ts';
import type { Base } from './sandbox.ts';

/** Instance types by the stack's settings. */
export function offerings(
  { config: { region, memoryOverhead, reservedEnis }, catalog }: Pick<Base, 'config' | 'catalog'>,
  network: Pick<Network, 'reservations'>,
): Catalog {
  const environment = { reservedNetworkInterfaces: reservedEnis, memoryOverhead };
  return offeringsPort(region, catalog, () => environment, network);
}
