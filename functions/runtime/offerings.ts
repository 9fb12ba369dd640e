import { offeringsPort } from '../../shared/catalog/offerings-port.ts';
import type { Catalog, Network } from '../../shared/ports.ts';
import { launchEnvironmentOf } from '../../shared/preview/basis.ts';
import type { Base } from './sandbox.ts';

/** Instance types by the stack's settings. */
export function offerings(
  { config, catalog }: Pick<Base, 'config' | 'catalog'>,
  network: Pick<Network, 'reservations'>,
): Catalog {
  return offeringsPort(config.region, catalog, launchEnvironmentOf(config), network);
}
