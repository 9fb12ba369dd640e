import type { StackSettings } from '../app/settings.ts';
import type { LaunchEnvironment } from '../catalog/node-class-settings.ts';
import { catalogPort } from '../catalog/port.ts';
import type { Previewed } from './copy.ts';

/** What decisions go by beside the cluster. */
export type PlanBasis = Omit<Previewed, 'live' | 'state' | 'nowMs'>;

/** What of a stack's settings instance types depend on; no reservations are known. */
export function launchEnvironmentOf({
  memoryOverhead,
  reservedEnis,
}: Pick<StackSettings, 'memoryOverhead' | 'reservedEnis'>): LaunchEnvironment {
  return {
    reservedNetworkInterfaces: reservedEnis,
    memoryOverhead,
    availableReservations: new Map(),
  };
}

/** What decisions on these prices go by beside the cluster. */
export function basisOf(
  known: Pick<PlanBasis, 'prices' | 'memory' | 'groupUsages' | 'backoffs' | 'isCatalogCurrent'>,
  stack: Pick<StackSettings, 'useCases' | 'memoryOverhead' | 'reservedEnis'>,
): PlanBasis {
  const { prices } = known;
  const catalog = catalogPort(
    prices.region,
    () => prices,
    () => launchEnvironmentOf(stack),
  );
  return { ...known, catalog, settings: stack.useCases };
}
