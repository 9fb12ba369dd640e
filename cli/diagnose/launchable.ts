import type { InstanceType, Offering } from '../../shared/core/model/instance-type.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import {
  Domains,
  domainAllows,
  poolVariants,
  typeAllows,
} from '../../shared/core/scheduling/problem/launch-space.ts';

/** The types that each NodePool's requirements allow, with the offerings that they allow. */
export function launchableTypes(
  nodePools: readonly NodePool[],
  instanceTypes: ReadonlyMap<string, readonly InstanceType[]>,
): ReadonlyMap<string, readonly InstanceType[]> {
  const domains = new Domains();
  const found = new Map(instanceTypes);
  // One variant a pool, as no pod asks for labels; static and unready pools are none.
  for (const { pool, requirements, types } of poolVariants(nodePools, instanceTypes, new Map())) {
    const isAllowed = (each: Offering) => domainAllows(requirements, domains.of(each));
    const own = types
      .filter((each) => typeAllows(requirements, each))
      .map(({ type }) => ({ ...type, offerings: type.offerings.filter(isAllowed) }));
    found.set(pool.name, own);
  }
  return found;
}
