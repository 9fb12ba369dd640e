import type { ImageFamilyTraits } from '../core/launch/image-families/family.ts';
import {
  ARCH,
  CAPACITY_TYPE,
  INSTANCE_LABELS,
  INSTANCE_TYPE,
  ON_DEMAND,
  OS,
  PLACEMENT_GROUP_ID,
  PLACEMENT_GROUP_PARTITION,
  REGION,
  RESERVATION_ID,
  RESERVATION_INTERRUPTIBLE,
  RESERVATION_TYPE,
  RESERVED,
  SPOT,
  TENANCY,
  WINDOWS_BUILD,
  ZONE,
  ZONE_ID,
} from '../core/model/labels.ts';
import type { CatalogZone, MachineFacts } from './facts.ts';
import type { AvailableReservation } from './settings.ts';

type LabelValues = Readonly<Record<string, readonly string[] | null>>;

/** Letters, an optional size in TB, and digits: `u-6tb1.metal` is category u, generation 1. */
const CATEGORY_AND_GENERATION = /^([a-z]+)(?:-[0-9]+tb)?([0-9]+).*\./;

const known = new WeakMap<MachineFacts, LabelValues>();

/** Labels that depend on nothing but the machine; null: nodes of the type never have the label. */
export function machineLabels(facts: MachineFacts): LabelValues {
  const before = known.get(facts);
  if (before !== undefined) return before;
  const labels = describeMachine(facts);
  known.set(facts, labels);
  return labels;
}

function describeMachine(facts: MachineFacts): LabelValues {
  const [family = '', size] = facts.name.split('.');
  const [, category, generation] = CATEGORY_AND_GENERATION.exec(facts.name) ?? [];
  return {
    [INSTANCE_TYPE]: [facts.name],
    [INSTANCE_LABELS.category]: only(category),
    [INSTANCE_LABELS.generation]: only(generation),
    [INSTANCE_LABELS.family]: only(family),
    [INSTANCE_LABELS.size]: only(size),
    [INSTANCE_LABELS.capabilityFlex]: [String(family.includes('-flex'))],
    [INSTANCE_LABELS.cpu]: [String(facts.vcpus)],
    [INSTANCE_LABELS.cpuManufacturer]: [labelName(facts.cpuManufacturer)],
    [INSTANCE_LABELS.cpuClockMhz]: only(facts.cpuClockMhz),
    [INSTANCE_LABELS.memory]: [String(facts.memoryMiB)],
    [INSTANCE_LABELS.localNvme]: only(facts.localStorageGb),
    [INSTANCE_LABELS.ebsBandwidth]: only(facts.ebsMbps),
    [INSTANCE_LABELS.networkBandwidth]: only(facts.networkMbps),
    [INSTANCE_LABELS.hypervisor]: [facts.hypervisor],
    [INSTANCE_LABELS.encryptionInTransit]: [String(facts.encryptionInTransit)],
    [TENANCY]: ['default', 'dedicated'],
    // No source says which types have Nitro Enclaves, and nodes are in no placement group.
    [INSTANCE_LABELS.nitroSandbox]: null,
    [PLACEMENT_GROUP_ID]: null,
    [PLACEMENT_GROUP_PARTITION]: null,
    ...gpuLabels(facts),
    ...acceleratorLabels(facts),
  };
}

function only(value: string | number | undefined): readonly string[] | null {
  return value === undefined ? null : [String(value)];
}

/** EC2's display names as label values: `RTX PRO 4500` → `rtx-pro-4500`. */
function labelName(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

/** Machines with several kinds of GPU have no GPU labels: one value could not describe them. */
function gpuLabels({ gpus }: MachineFacts): LabelValues {
  const [gpu] = gpus.length === 1 ? gpus : [];
  return {
    [INSTANCE_LABELS.gpuName]: gpu === undefined ? null : [labelName(gpu.name)],
    [INSTANCE_LABELS.gpuManufacturer]: gpu === undefined ? null : [labelName(gpu.manufacturer)],
    [INSTANCE_LABELS.gpuCount]: only(gpu?.count),
    [INSTANCE_LABELS.gpuMemory]: only(gpu?.memoryMiB),
  };
}

function acceleratorLabels({ accelerators }: MachineFacts): LabelValues {
  const [device] = accelerators.length === 1 ? accelerators : [];
  return {
    [INSTANCE_LABELS.acceleratorName]: device === undefined ? null : [labelName(device.name)],
    [INSTANCE_LABELS.acceleratorManufacturer]:
      device === undefined ? null : [labelName(device.manufacturer)],
    [INSTANCE_LABELS.acceleratorCount]: only(device?.count),
  };
}

/** Labels that the node class and the region add to the machine's. */
export function placementLabels(
  facts: MachineFacts,
  region: string,
  zones: readonly CatalogZone[],
  traits: ImageFamilyTraits,
  reservations: readonly AvailableReservation[],
): LabelValues {
  const capacityTypes = [
    ...(facts.offersOnDemand ? [ON_DEMAND] : []),
    ...(reservations.length > 0 ? [RESERVED] : []),
    ...(facts.offersSpot ? [SPOT] : []),
  ];
  const zoneIds = zones.map((zone) => zone.zoneId).filter((id) => id !== '');
  return {
    [ARCH]: only(facts.arch),
    [OS]: [traits.os],
    [WINDOWS_BUILD]: only(traits.windowsBuild),
    [REGION]: [region],
    [ZONE]: zones.map((zone) => zone.zone),
    [ZONE_ID]: zoneIds.length > 0 ? zoneIds : null,
    [CAPACITY_TYPE]: capacityTypes,
    [RESERVATION_ID]: distinct(reservations.map((each) => each.id)),
    [RESERVATION_TYPE]: distinct(reservations.map((each) => each.reservationType)),
    [RESERVATION_INTERRUPTIBLE]: distinct(reservations.map((each) => String(each.interruptible))),
  };
}

function distinct(values: readonly string[]): readonly string[] | null {
  return values.length === 0 ? null : [...new Set(values)].sort();
}
