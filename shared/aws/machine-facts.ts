import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { SHARED_LIMIT } from '../catalog/attach-limits.ts';
import type { AcceleratorFacts, EbsAttachments, GpuFacts, MachineFacts } from '../catalog/facts.ts';

/** What EC2's description does not have. */
export interface Beside {
  readonly onDemandPrice: number | undefined;
  readonly spotPrices: Readonly<Record<string, number>>;
  readonly zones: readonly string[];
  /** What is embedded about the type, of whichever region: no API tells its bandwidth. */
  readonly known: MachineFacts | undefined;
  /** The band of the region; undefined: not published. */
  readonly spotInterruption: string | undefined;
}

const ARCHITECTURES = { x86_64: 'amd64', arm64: 'arm64' } as const;

function architecture(info: InstanceTypeInfo): MachineFacts['arch'] {
  const supported = info.ProcessorInfo?.SupportedArchitectures ?? [];
  for (const each of supported) {
    if (each === 'x86_64' || each === 'arm64') return ARCHITECTURES[each];
  }
  return undefined;
}

function gpus(info: InstanceTypeInfo): readonly GpuFacts[] {
  return (info.GpuInfo?.Gpus ?? []).map((each) => ({
    name: each.Name ?? '',
    manufacturer: each.Manufacturer ?? '',
    count: each.Count ?? 0,
    memoryMiB: each.MemoryInfo?.SizeInMiB ?? 0,
  }));
}

/** Neuron devices are described apart from older accelerators. */
function accelerators(info: InstanceTypeInfo): readonly AcceleratorFacts[] {
  const neuron = (info.NeuronInfo?.NeuronDevices ?? []).map((each) => ({
    name: each.Name ?? '',
    manufacturer: 'AWS',
    count: each.Count ?? 0,
    cores: each.CoreInfo?.Count,
  }));
  if (neuron.length > 0) return neuron;
  return (info.InferenceAcceleratorInfo?.Accelerators ?? []).map((each) => ({
    name: each.Name ?? '',
    manufacturer: each.Manufacturer ?? '',
    count: each.Count ?? 0,
    cores: undefined,
  }));
}

function ebsAttachments(
  { EbsInfo }: InstanceTypeInfo,
  known: MachineFacts | undefined,
): EbsAttachments | undefined {
  const most = EbsInfo?.MaximumEbsAttachments;
  if (most === undefined) return known?.ebsAttachments;
  const isShared = EbsInfo?.AttachmentLimitType === 'shared';
  return isShared && most === SHARED_LIMIT ? undefined : { most, isShared };
}

function network(info: InstanceTypeInfo) {
  const { NetworkInfo } = info;
  const cards = NetworkInfo?.NetworkCards ?? [];
  const first = NetworkInfo?.DefaultNetworkCardIndex ?? 0;
  const card = cards.find((each) => (each.NetworkCardIndex ?? 0) === first);
  const baseline = cards.reduce((sum, each) => sum + (each.BaselineBandwidthInGbps ?? 0), 0);
  const total = NetworkInfo?.MaximumNetworkInterfaces ?? 0;
  return {
    networkInterfaces: card?.MaximumNetworkInterfaces ?? total,
    networkInterfacesTotal: total,
    networkCards: NetworkInfo?.MaximumNetworkCards ?? 1,
    addressesPerInterface: NetworkInfo?.Ipv4AddressesPerInterface ?? 0,
    efaInterfaces: NetworkInfo?.EfaInfo?.MaximumEfaInterfaces ?? 0,
    baselineMbps: baseline === 0 ? undefined : Math.floor(baseline * 1000),
    encryptionInTransit: NetworkInfo?.EncryptionInTransitSupported ?? false,
  };
}

/**
 * One type as the catalog has it.
 * https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
 */
export function machineFacts(name: string, info: InstanceTypeInfo, beside: Beside): MachineFacts {
  const { baselineMbps, ...interfaces } = network(info);
  const { ProcessorInfo, EbsInfo } = info;
  const usage = info.SupportedUsageClasses ?? [];
  const clockGhz = ProcessorInfo?.SustainedClockSpeedInGhz;
  return {
    name,
    arch: architecture(info),
    vcpus: info.VCpuInfo?.DefaultVCpus ?? 0,
    memoryMiB: info.MemoryInfo?.SizeInMiB ?? 0,
    ...interfaces,
    branchInterfaces: beside.known?.branchInterfaces ?? 0,
    gpus: gpus(info),
    accelerators: accelerators(info),
    localStorageGb: info.InstanceStorageInfo?.TotalSizeInGB,
    networkMbps: beside.known?.networkMbps ?? baselineMbps,
    ebsMbps:
      EbsInfo?.EbsOptimizedSupport === 'default'
        ? EbsInfo.EbsOptimizedInfo?.MaximumBandwidthInMbps
        : undefined,
    ebsAttachments: ebsAttachments(info, beside.known),
    hypervisor: info.Hypervisor ?? '',
    bareMetal: info.BareMetal ?? false,
    cpuManufacturer: (ProcessorInfo?.Manufacturer ?? '').toLowerCase(),
    cpuClockMhz: clockGhz === undefined ? undefined : Math.round(clockGhz * 1000),
    offersOnDemand: usage.includes('on-demand'),
    offersSpot: usage.includes('spot'),
    onDemandPrice: beside.onDemandPrice,
    spotPrices: beside.spotPrices,
    spotInterruption: beside.spotInterruption,
    zones: beside.zones,
  };
}
