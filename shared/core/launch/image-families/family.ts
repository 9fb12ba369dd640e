import type { LaunchVolume } from '../block-devices.ts';
import type { AliasParameters } from './parameters.ts';

/** Everything in which nodes of one image family differ from those of another, but for user data. */
export interface ImageFamilyTraits {
  readonly os: 'linux' | 'windows';
  /** The label node.kubernetes.io/windows-build; undefined on Linux. */
  readonly windowsBuild: string | undefined;
  /** The family in `amiSelectorTerms[].alias`; undefined: there is no alias. */
  readonly alias: string | undefined;
  /** SSM parameters with the ids of an alias's images. `kubernetes`: the cluster's version, 1.33. */
  readonly parameters: (version: string, kubernetes: string) => AliasParameters;
  /** Whether the images run on instance types of this name, as far as the name says. */
  readonly runsOn: (instanceType: string) => boolean;
  /** Memory is reserved for the pods that the interfaces allow, whatever maxPods says. */
  readonly reservesForInterfaces: boolean;
  readonly honoursPodsPerCore: boolean;
  /** The kubelet takes every field of its configuration, and more than one DNS address. */
  readonly takesAnyKubeletField: boolean;
  /** Pods are limited by the addresses of the network interfaces (else 110). */
  readonly interfaceLimitedPods: boolean;
  /** The device whose volume holds the pods' storage; undefined: not known. */
  readonly storageDevice: string | undefined;
  /** Bytes of that volume when the class does not say. */
  readonly storageDefault: number;
  /** What an instance gets where its class maps no devices; empty: what the image says. */
  readonly defaultVolumes: readonly LaunchVolume[];
}

export const GIB = 2 ** 30;

export function gp3(deviceName: string, sizeGib: number): LaunchVolume {
  return { deviceName, sizeGib, volumeType: 'gp3', encrypted: true };
}

/** What families on Linux have in common. */
export const LINUX = {
  os: 'linux',
  windowsBuild: undefined,
  runsOn: () => true,
  reservesForInterfaces: true,
  honoursPodsPerCore: true,
  takesAnyKubeletField: false,
  interfaceLimitedPods: true,
  storageDevice: '/dev/xvda',
  storageDefault: 20 * GIB,
  defaultVolumes: [gp3('/dev/xvda', 20)],
} as const satisfies Partial<ImageFamilyTraits>;
