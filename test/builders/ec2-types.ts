import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';

/** As EC2 describes a type; the figures are those of AWS's documentation. */
export const C7G_LARGE: InstanceTypeInfo = {
  InstanceType: 'c7g.large',
  SupportedVirtualizationTypes: ['hvm'],
  SupportedUsageClasses: ['on-demand', 'spot'],
  ProcessorInfo: {
    SupportedArchitectures: ['arm64'],
    SustainedClockSpeedInGhz: 2.6,
    Manufacturer: 'AWS',
  },
  VCpuInfo: { DefaultVCpus: 2 },
  MemoryInfo: { SizeInMiB: 4096 },
  NetworkInfo: {
    MaximumNetworkInterfaces: 3,
    MaximumNetworkCards: 1,
    DefaultNetworkCardIndex: 0,
    NetworkCards: [
      { NetworkCardIndex: 0, MaximumNetworkInterfaces: 3, BaselineBandwidthInGbps: 0.937 },
    ],
    Ipv4AddressesPerInterface: 10,
    EncryptionInTransitSupported: true,
  },
  EbsInfo: {
    EbsOptimizedSupport: 'default',
    EbsOptimizedInfo: { MaximumBandwidthInMbps: 10000 },
    MaximumEbsAttachments: 27,
    AttachmentLimitType: 'shared',
  },
  Hypervisor: 'nitro',
  BareMetal: false,
};
