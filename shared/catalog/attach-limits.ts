import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import type { MachineFacts } from './facts.ts';
import type { LaunchSettings } from './settings.ts';

export const EBS_CSI_DRIVER = 'ebs.csi.aws.com';

/** Families whose volume limit is not shared with interfaces and other devices. */
const DEDICATED_FAMILIES: ReadonlySet<string> = new Set(
  (
    'm7a m7i m7i-flex m8g c7a c7i c7i-flex c8g r7a r7i r7iz r8g x8g i7ie i8g ' +
    'f2 g6 g6e gr6 p5 p5e p5en trn2 trn2u hpc7a'
  ).split(' '),
);

/** Their limit by instance size, the root volume included. */
const DEDICATED_LIMITS: Readonly<Record<string, number>> = {
  medium: 32,
  large: 32,
  xlarge: 32,
  '2xlarge': 32,
  '4xlarge': 32,
  '8xlarge': 32,
  '12xlarge': 32,
  '16xlarge': 48,
  '24xlarge': 64,
  '32xlarge': 88,
  '48xlarge': 128,
  'metal-16xl': 39,
  'metal-24xl': 39,
  'metal-32xl': 79,
  'metal-48xl': 79,
};

/** What a Nitro instance can attach in all: volumes, network interfaces, local disks and GPUs. */
const SHARED_LIMIT = 28;
/** On Xen a Linux instance with more than this beside its root volume may fail to boot. */
const XEN_LIMIT = 39;

/**
 * How many EBS volumes pods can attach on a node, or undefined where AWS's documentation does not
 * determine it: bare metal with a shared limit, and local disks (their number is not in the
 * catalog) on instances that share the limit with them. Families of generation 8 and above that
 * the documentation does not name yet are undefined too.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/volume_limits.html
 */
export function attachLimitsOf(
  facts: MachineFacts,
  settings: LaunchSettings,
): Readonly<Record<string, number>> | undefined {
  const volumes = volumeLimit(facts);
  if (volumes === undefined) return undefined;
  const { defaultVolumes } = IMAGE_FAMILIES[settings.imageFamily];
  // An instance has a root volume at least.
  const started = Math.max(1, settings.blockDevices.length, defaultVolumes.length);
  return { [EBS_CSI_DRIVER]: Math.max(0, volumes - started) };
}

function volumeLimit(facts: MachineFacts): number | undefined {
  const [family = '', size = ''] = facts.name.split('.');
  if (DEDICATED_FAMILIES.has(family)) return DEDICATED_LIMITS[size];
  if (facts.hypervisor === 'xen') return XEN_LIMIT + 1;
  const generation = Number(/\d+/.exec(family)?.[0] ?? 0);
  if (facts.bareMetal || generation >= 8 || facts.localStorageGb !== undefined) return undefined;
  const devices = [...facts.gpus, ...facts.accelerators].reduce((sum, each) => sum + each.count, 0);
  return SHARED_LIMIT - 1 - devices;
}
