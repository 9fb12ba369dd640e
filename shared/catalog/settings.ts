import type { CapacityReservation, ImageFamily } from '../core/model/node-class.ts';
import type { Resources } from '../core/model/resources.ts';
import type { CatalogZone } from './facts.ts';

/** An eviction signal's threshold: a share of the capacity or a fixed amount (bytes). */
export type EvictionThreshold = { readonly percent: number } | { readonly amount: number };

/** What decisions need of `spec.kubelet`. */
export interface KubeletSettings {
  readonly maxPods: number | undefined;
  readonly podsPerCore: number | undefined;
  /** Entries replace the computed ones, name by name. */
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  /** Hard threshold of `memory.available`; undefined: 100Mi. */
  readonly memoryAvailable: EvictionThreshold | undefined;
  /** Hard threshold of `nodefs.available`; undefined: 10 %. */
  readonly storageAvailable: EvictionThreshold | undefined;
}

export interface BlockDevice {
  readonly deviceName: string | undefined;
  readonly rootVolume: boolean;
  /** Bytes; undefined: the size of the snapshot, which is not known here. */
  readonly volumeSize: number | undefined;
}

export interface NetworkInterface {
  readonly networkCardIndex: number;
  readonly deviceIndex: number;
  readonly efaOnly: boolean;
}

export interface AvailableReservation extends CapacityReservation {
  /** Instances still free in it. */
  readonly available: number;
}

/** What an EC2NodeClass and the environment decide about every node of a class. */
export interface LaunchSettings {
  readonly imageFamily: ImageFamily;
  /** Zones that the class has subnets in. */
  readonly zones: readonly CatalogZone[];
  readonly kubelet: KubeletSettings;
  readonly blockDevices: readonly BlockDevice[];
  /** Instance-store volumes become the node's ephemeral storage. */
  readonly instanceStoreRaid: boolean;
  /** Undefined: one interface, and all EFA interfaces for pods that ask for one. */
  readonly networkInterfaces: readonly NetworkInterface[] | undefined;
  readonly nestedVirtualization: boolean;
  /** Connection tracking timeouts are set: only Nitro types take them. */
  readonly connectionTracking: boolean;
  readonly reservations: readonly AvailableReservation[];
  /** Network interfaces kept away from pods (`RESERVED_ENIS`). */
  readonly reservedNetworkInterfaces: number;
  /** Share of the memory that the hypervisor keeps (`VM_MEMORY_OVERHEAD_PERCENT`). */
  readonly memoryOverhead: number;
}

export const DEFAULT_KUBELET: KubeletSettings = {
  maxPods: undefined,
  podsPerCore: undefined,
  kubeReserved: {},
  systemReserved: {},
  memoryAvailable: undefined,
  storageAvailable: undefined,
};

/** AL2023 with nothing else set; zones must still be given to get offerings. */
export const DEFAULT_LAUNCH_SETTINGS: LaunchSettings = {
  imageFamily: 'AL2023',
  zones: [],
  kubelet: DEFAULT_KUBELET,
  blockDevices: [],
  instanceStoreRaid: false,
  networkInterfaces: undefined,
  nestedVirtualization: false,
  connectionTracking: false,
  reservations: [],
  reservedNetworkInterfaces: 0,
  memoryOverhead: 0.075,
};
