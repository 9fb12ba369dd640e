import type { InstanceTypeInfo } from '@aws-sdk/client-ec2';
import type { MachineFacts } from '../../../shared/catalog/facts.ts';
import { catalogIn } from '../aws/catalogs.ts';
import type { WireCloud } from '../aws/cloud.ts';
import { furnish } from '../aws/furnish.ts';

/** Enough types for a choice, few enough to be described quickly. */
const FAMILIES = /^(?:c6a|m6a|r6a|m6g)\.(?:large|xlarge|2xlarge)$/;

const ARCHITECTURES = { amd64: 'x86_64', arm64: 'arm64' } as const;

/** A type as EC2 describes it. */
function described(facts: MachineFacts): InstanceTypeInfo {
  const {
    name,
    arch = 'amd64',
    vcpus,
    memoryMiB,
    networkInterfaces,
    addressesPerInterface,
  } = facts;
  const clock = facts.cpuClockMhz === undefined ? undefined : facts.cpuClockMhz / 1000;
  return {
    InstanceType: name as InstanceTypeInfo['InstanceType'],
    SupportedVirtualizationTypes: ['hvm'],
    SupportedUsageClasses: ['on-demand', 'spot'],
    ProcessorInfo: {
      SupportedArchitectures: [ARCHITECTURES[arch]],
      SustainedClockSpeedInGhz: clock,
      Manufacturer: facts.cpuManufacturer,
    },
    VCpuInfo: { DefaultVCpus: vcpus },
    MemoryInfo: { SizeInMiB: memoryMiB },
    NetworkInfo: {
      MaximumNetworkInterfaces: networkInterfaces,
      MaximumNetworkCards: 1,
      DefaultNetworkCardIndex: 0,
      NetworkCards: [{ NetworkCardIndex: 0, MaximumNetworkInterfaces: networkInterfaces }],
      Ipv4AddressesPerInterface: addressesPerInterface,
      EncryptionInTransitSupported: facts.encryptionInTransit,
    },
    EbsInfo: {
      EbsOptimizedSupport: 'default',
      EbsOptimizedInfo: { MaximumBandwidthInMbps: facts.ebsMbps },
    },
    Hypervisor: 'nitro',
    BareMetal: false,
  };
}

/** What Karpenter asks EC2 and the price list for, and images of the cluster's own release. */
export async function furnishKarpenter(cloud: WireCloud, kubernetes: string): Promise<void> {
  const { account } = cloud;
  cloud.cluster = {
    ...cloud.cluster,
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: { endpointPublicAccess: true, publicAccessCidrs: ['0.0.0.0/0'] },
  };
  await furnish(account, kubernetes);
  // Karpenter keeps one variant of an image that several parameters name: here each names its own.
  const variants = [...account.parameters].filter(([name]) => !name.includes('/standard/'));
  for (const [at, [name, id]] of variants.entries()) {
    const other = `ami-${String(at).padStart(17, 'f')}`;
    const image = account.images.find(({ ImageId }) => ImageId === id);
    account.images = [...account.images, { ...image, ImageId: other, Name: `variant-${at}` }];
    account.parameters.set(name, other);
  }
  const catalog = await catalogIn(account.region);
  const types = catalog.types.filter(({ name }) => FAMILIES.test(name));
  account.instanceTypes = types.map(described);
  // Karpenter takes the price list only with prices of bare metal, too.
  cloud.onDemandPrices.push({ instanceType: 'c6a.metal', price: 7.344 });
  for (const { name, onDemandPrice } of types) {
    if (onDemandPrice !== undefined) {
      cloud.onDemandPrices.push({ instanceType: name, price: onDemandPrice });
    }
  }
}
