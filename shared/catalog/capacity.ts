import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import type { Overhead } from '../core/model/instance-type.ts';
import { CPU, EPHEMERAL_STORAGE, MEMORY, PODS, type Resources } from '../core/model/resources.ts';
import type { GpuFacts, MachineFacts } from './facts.ts';
import type { EvictionThreshold, LaunchSettings, NetworkInterface } from './settings.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const GB = 1e9;

/** Graviton keeps this much for its contiguous memory allocator. */
const ARM64_RESERVED_MIB = 64;
/** Pods of a node whose network does not limit them: the kubelet's default. */
const PODS_DEFAULT = 110;

/** Extended resources that nodes may have by themselves. */
export const EXTENDED_RESOURCES = [
  'nvidia.com/gpu',
  'amd.com/gpu',
  'habana.ai/gaudi',
  'aws.amazon.com/neuron',
  'aws.amazon.com/neuroncore',
  'vpc.amazonaws.com/efa',
  'vpc.amazonaws.com/pod-eni',
  'vpc.amazonaws.com/PrivateIPv4Address',
] as const;

/** Everything a node of the type has, before anything is kept for the system. */
export function capacityOf(facts: MachineFacts, settings: LaunchSettings): Resources {
  const counts: Partial<Record<(typeof EXTENDED_RESOURCES)[number], number>> = {
    'nvidia.com/gpu': gpuCount(facts.gpus, 'NVIDIA'),
    'amd.com/gpu': gpuCount(facts.gpus, 'AMD'),
    'habana.ai/gaudi': gpuCount(facts.gpus, 'Habana'),
    'aws.amazon.com/neuron': neuronCount(facts, () => 1),
    'aws.amazon.com/neuroncore': neuronCount(facts, (cores) => cores),
    'vpc.amazonaws.com/efa': efaCount(facts, settings.networkInterfaces),
    'vpc.amazonaws.com/pod-eni': facts.branchInterfaces,
  };
  if (IMAGE_FAMILIES[settings.imageFamily].os === 'windows') {
    counts['vpc.amazonaws.com/PrivateIPv4Address'] = facts.addressesPerInterface - 1;
  }
  const capacity: Record<string, number> = {
    [CPU]: facts.vcpus * 1000,
    [MEMORY]: memoryOf(facts, settings.memoryOverhead),
    [EPHEMERAL_STORAGE]: storageOf(facts, settings),
    [PODS]: podsOf(facts, settings),
  };
  for (const [name, count] of Object.entries(counts)) if (count > 0) capacity[name] = count;
  return capacity;
}

/** Memory in bytes as a node will report it: the share kept by the hypervisor in whole MiB. */
function memoryOf(facts: MachineFacts, overhead: number): number {
  const mebibytes = facts.memoryMiB - (facts.arch === 'arm64' ? ARM64_RESERVED_MIB : 0);
  return (mebibytes - Math.ceil((mebibytes * MIB * overhead) / MIB)) * MIB;
}

function storageOf(facts: MachineFacts, settings: LaunchSettings): number {
  if (settings.instanceStoreRaid && facts.localStorageGb !== undefined) {
    return facts.localStorageGb * GB;
  }
  const { storageDevice, storageDefault } = IMAGE_FAMILIES[settings.imageFamily];
  const root = settings.blockDevices.find((device) => device.rootVolume);
  if (root?.volumeSize !== undefined) return root.volumeSize;
  const pods =
    storageDevice === undefined
      ? settings.blockDevices.at(-1)
      : settings.blockDevices.find((device) => device.deviceName === storageDevice);
  return pods?.volumeSize ?? storageDefault;
}

function podsOf(facts: MachineFacts, settings: LaunchSettings): number {
  const traits = IMAGE_FAMILIES[settings.imageFamily];
  const { maxPods, podsPerCore } = settings.kubelet;
  const limit =
    maxPods ??
    (traits.interfaceLimitedPods
      ? interfaceLimitedPods(facts, settings, settings.reservedNetworkInterfaces)
      : PODS_DEFAULT);
  if (podsPerCore === undefined || podsPerCore === 0 || !traits.honoursPodsPerCore) return limit;
  return Math.min(limit, podsPerCore * facts.vcpus);
}

/**
 * One address of each interface is its own; the two pods on top use the host's network.
 * https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
 */
function interfaceLimitedPods(
  facts: MachineFacts,
  settings: LaunchSettings,
  reserved: number,
): number {
  const efaOnly = (settings.networkInterfaces ?? []).filter(
    (each) => each.networkCardIndex === 0 && each.efaOnly,
  ).length;
  const usable = facts.networkInterfaces - reserved - efaOnly;
  return usable <= 0 ? 0 : usable * (facts.addressesPerInterface - 1) + 2;
}

function gpuCount(gpus: readonly GpuFacts[], manufacturer: string): number {
  return gpus
    .filter((gpu) => gpu.manufacturer === manufacturer)
    .reduce((sum, gpu) => sum + gpu.count, 0);
}

function neuronCount(facts: MachineFacts, perDevice: (cores: number) => number): number {
  return facts.accelerators.reduce(
    (sum, each) => sum + (each.cores === undefined ? 0 : each.count * perDevice(each.cores)),
    0,
  );
}

function efaCount(
  facts: MachineFacts,
  interfaces: readonly NetworkInterface[] | undefined,
): number {
  return interfaces?.filter((each) => each.efaOnly).length ?? facts.efaInterfaces;
}

/** What the kubelet, the system and the eviction thresholds keep of the capacity. */
export function overheadOf(
  facts: MachineFacts,
  settings: LaunchSettings,
  capacity: Resources,
): Overhead {
  const { kubelet } = settings;
  const pods = IMAGE_FAMILIES[settings.imageFamily].reservesForInterfaces
    ? interfaceLimitedPods(facts, settings, 0)
    : (capacity[PODS] ?? 0);
  return {
    kubeReserved: {
      [CPU]: reservedCpu(facts.vcpus * 1000),
      [MEMORY]: (11 * pods + 255) * MIB,
      [EPHEMERAL_STORAGE]: GIB,
      ...kubelet.kubeReserved,
    },
    systemReserved: kubelet.systemReserved,
    evictionThreshold: {
      [MEMORY]: threshold(kubelet.memoryAvailable ?? { amount: 100 * MIB }, capacity[MEMORY]),
      [EPHEMERAL_STORAGE]: threshold(
        kubelet.storageAvailable ?? { percent: 10 },
        capacity[EPHEMERAL_STORAGE],
      ),
    },
  };
}

/** Share of each stretch of cores that the kubelet reserves, in order. */
const CPU_RESERVATION = [
  { fromMilli: 0, toMilli: 1000, share: 0.06 },
  { fromMilli: 1000, toMilli: 2000, share: 0.01 },
  { fromMilli: 2000, toMilli: 4000, share: 0.005 },
  { fromMilli: 4000, toMilli: Infinity, share: 0.0025 },
] as const;

function reservedCpu(milli: number): number {
  return CPU_RESERVATION.reduce(
    (sum, { fromMilli, toMilli, share }) =>
      sum + Math.floor(Math.max(0, Math.min(milli, toMilli) - fromMilli) * share),
    0,
  );
}

/** 100 % switches a threshold off, as the kubelet's documentation says. */
function threshold(setting: EvictionThreshold, capacity = 0): number {
  if ('amount' in setting) return setting.amount;
  return setting.percent >= 100 ? 0 : Math.ceil((capacity / 100) * setting.percent);
}
