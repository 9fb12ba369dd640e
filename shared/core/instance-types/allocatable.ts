import type { InstanceType, Offering, Overhead } from '../model/instance-type.ts';
import {
  addResources,
  amountOf,
  HUGEPAGES_PREFIX,
  MEMORY,
  type Resources,
} from '../model/resources.ts';

/** Everything that the system keeps. */
export function totalOverhead({
  kubeReserved,
  systemReserved,
  evictionThreshold,
}: Overhead): Resources {
  return addResources(addResources(kubeReserved, systemReserved), evictionThreshold);
}

/**
 * What pods and DaemonSets may use of a node of the type bought through the offering: capacity less
 * overhead. Hugepages are carved out of memory, so they are subtracted from it (floor 0).
 */
export function allocatable(
  type: InstanceType,
  { capacityOverride, overheadOverride }: Pick<Offering, 'capacityOverride' | 'overheadOverride'>,
): Resources {
  const capacity =
    capacityOverride === undefined ? type.capacity : addResources(type.capacity, capacityOverride);
  const own = totalOverhead(type.overhead);
  const overhead =
    overheadOverride === undefined ? own : addResources(own, totalOverhead(overheadOverride));
  const amounts: Record<string, number> = {};
  for (const [name, amount] of Object.entries(capacity))
    amounts[name] = amount - amountOf(overhead, name);
  for (const [name, amount] of Object.entries(capacity)) {
    if (!name.startsWith(HUGEPAGES_PREFIX) || amount === 0) continue;
    amounts[MEMORY] = Math.max(0, (amounts[MEMORY] ?? 0) - amount);
  }
  return amounts;
}
