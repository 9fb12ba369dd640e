import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import type { MachineFacts } from './facts.ts';
import type { LaunchSettings, NetworkInterface } from './settings.ts';

/** Whether instances of the type can be launched with these settings at all. */
export function isCompatible(facts: MachineFacts, settings: LaunchSettings): boolean {
  return (
    runsImageFamily(facts, settings) &&
    (!settings.connectionTracking || facts.hypervisor === 'nitro') &&
    (!settings.nestedVirtualization || supportsNestedVirtualization(facts)) &&
    (settings.networkInterfaces === undefined ||
      takesNetworkInterfaces(facts, settings.networkInterfaces))
  );
}

function runsImageFamily(facts: MachineFacts, { imageFamily }: LaunchSettings): boolean {
  if (facts.arch === undefined) return false;
  const { os, runsOn } = IMAGE_FAMILIES[imageFamily];
  return runsOn(facts.name) && (os === 'linux' || facts.arch === 'amd64');
}

/**
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/amazon-ec2-nested-virtualization.html
 * (virtual instances of C8i, M8i and R8i, their flex variants included).
 */
function supportsNestedVirtualization(facts: MachineFacts): boolean {
  return !facts.bareMetal && /^[cmr]8i(-flex)?\./.test(facts.name);
}

function takesNetworkInterfaces(
  facts: MachineFacts,
  interfaces: readonly NetworkInterface[],
): boolean {
  // Interfaces need ENA, which every Nitro and bare-metal type has. Xen types are left out: the
  // source does not say which of them have it.
  if (facts.hypervisor === 'xen') return false;
  const fits = interfaces.every(
    ({ networkCardIndex, deviceIndex }) =>
      networkCardIndex < facts.networkCards &&
      deviceIndex < interfacesOfCard(facts, networkCardIndex),
  );
  return fits && interfaces.filter((each) => each.efaOnly).length <= facts.efaInterfaces;
}

/**
 * Network cards that take an interface for EFA. The source counts both alone: of cards that are one
 * more than such interfaces (P6-B300), the first is for ENA.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
 */
export function efaCards({
  efaInterfaces: count,
  networkCards,
}: Pick<MachineFacts, 'efaInterfaces' | 'networkCards'>): readonly number[] {
  const first = count > 1 && networkCards === count + 1 ? 1 : 0;
  return Array.from({ length: count }, (_, at) => first + at);
}

/** The source gives the default card's interfaces and the total; the other cards share the rest. */
function interfacesOfCard(facts: MachineFacts, index: number): number {
  if (index === 0) return facts.networkInterfaces;
  const others = facts.networkCards - 1;
  return Math.floor((facts.networkInterfacesTotal - facts.networkInterfaces) / others);
}
