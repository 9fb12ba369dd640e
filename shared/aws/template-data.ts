import type {
  LaunchTemplateBlockDeviceMappingRequest,
  LaunchTemplateInstanceNetworkInterfaceSpecificationRequest,
  RequestLaunchTemplateData,
} from '@aws-sdk/client-ec2';
import { gibibytes } from '../core/launch/block-devices.ts';
import type { ClusterFacts } from '../core/launch/cluster-facts.ts';
import { IMAGE_FAMILIES } from '../core/launch/image-families/families.ts';
import { readKubelet } from '../core/launch/kubelet.ts';
import { registrationOf } from '../core/launch/node-bootstrap.ts';
import { RESERVED, TENANCY } from '../core/model/labels.ts';
import type { FleetRequest } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import { isInterruptibleReservation } from './interruptible.ts';
import { type NodeClassSpec, nodeClassSpec } from './node-class-spec.ts';
import { tagsOf, templateTags } from './tags.ts';
import { userData } from './user-data/user-data.ts';

/** What tells the templates of one fleet apart: they share everything else. */
export interface TemplateVariant {
  readonly imageId: string;
  readonly podsMax: number;
  /** Network cards with an interface for EFA; none where no pod asks for one. */
  readonly efaCards: readonly number[];
  readonly reservationId: string | undefined;
}

/** Asked for by a pod that runs nitro enclaves. */
const ENCLAVE = 'eks.amazonaws.com/nitro-sandbox';
const IPV6_ADDRESSES = 1;

function blockDevices(
  fleet: FleetRequest,
  spec: NodeClassSpec,
): LaunchTemplateBlockDeviceMappingRequest[] {
  if (spec.blockDeviceMappings === undefined) {
    return IMAGE_FAMILIES[fleet.nodeClass.imageFamily].defaultVolumes.map((each) => ({
      DeviceName: each.deviceName,
      Ebs: { VolumeSize: each.sizeGib, VolumeType: 'gp3', Encrypted: each.encrypted },
    }));
  }
  return spec.blockDeviceMappings.map(({ deviceName, ebs }) => ({
    DeviceName: deviceName,
    Ebs: {
      DeleteOnTermination: ebs?.deleteOnTermination,
      Encrypted: ebs?.encrypted,
      Iops: ebs?.iops,
      KmsKeyId: ebs?.kmsKeyID,
      SnapshotId: ebs?.snapshotID,
      Throughput: ebs?.throughput,
      VolumeInitializationRate: ebs?.volumeInitializationRate,
      VolumeSize: ebs?.volumeSize === undefined ? undefined : gibibytes(ebs.volumeSize),
      VolumeType: ebs?.volumeType,
    },
  }));
}

type NetworkInterface = LaunchTemplateInstanceNetworkInterfaceSpecificationRequest;

interface Slot {
  readonly card: number;
  readonly device: number;
  readonly type: 'interface' | 'efa' | 'efa-only';
}

/** One plain interface, all for EFA where a pod asks for it, or what the class says. */
function slots(spec: NodeClassSpec, { efaCards }: TemplateVariant): readonly Slot[] {
  if (spec.networkInterfaces !== undefined) {
    return spec.networkInterfaces.map(({ networkCardIndex, deviceIndex, interfaceType }) => ({
      card: networkCardIndex,
      device: deviceIndex,
      type: interfaceType,
    }));
  }
  const efa = efaCards.map((card): Slot => ({ card, device: card === 0 ? 0 : 1, type: 'efa' }));
  // Every instance begins with an interface on its first card.
  return efaCards.includes(0) ? efa : [{ card: 0, device: 0, type: 'interface' }, ...efa];
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html (device index of cards) */
function networkInterface(
  fleet: FleetRequest,
  spec: NodeClassSpec,
  ipFamily: ClusterFacts['ipFamily'],
  { card, device, type }: Slot,
): NetworkInterface {
  const isFirst = card === 0 && device === 0;
  const tracking = type === 'efa-only' ? undefined : spec.connectionTracking;
  const isIpv6 = ipFamily === 'ipv6' && isFirst;
  const prefixes = isFirst ? spec.ipPrefixCount : undefined;
  return {
    NetworkCardIndex: card,
    DeviceIndex: device,
    Groups: fleet.nodeClass.status.securityGroups.map(({ id }) => id).sort(),
    InterfaceType: type,
    AssociatePublicIpAddress: isFirst ? spec.associatePublicIPAddress : undefined,
    PrimaryIpv6: isIpv6 ? true : undefined,
    Ipv6AddressCount: isIpv6 ? IPV6_ADDRESSES : undefined,
    Ipv6PrefixCount: isIpv6 ? prefixes : undefined,
    Ipv4PrefixCount: isIpv6 ? undefined : prefixes,
    ConnectionTrackingSpecification:
      tracking === undefined
        ? undefined
        : {
            TcpEstablishedTimeout: tracking.tcpEstablishedTimeout,
            UdpStreamTimeout: tracking.udpStreamTimeout,
            UdpTimeout: tracking.udpTimeout,
          },
  };
}

/**
 * Spot and on-demand launches leave open reservations alone; a reserved one takes its own only.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
 */
function reservation(
  fleet: FleetRequest,
  { reservationId }: TemplateVariant,
): Pick<RequestLaunchTemplateData, 'CapacityReservationSpecification' | 'InstanceMarketOptions'> {
  if (fleet.capacityType !== RESERVED || reservationId === undefined) {
    return { CapacityReservationSpecification: { CapacityReservationPreference: 'none' } };
  }
  const isInterruptible = isInterruptibleReservation(fleet, reservationId);
  const market =
    fleet.reservationType === 'capacity-block'
      ? 'capacity-block'
      : isInterruptible
        ? 'interruptible-capacity-reservation'
        : undefined;
  return {
    CapacityReservationSpecification: {
      CapacityReservationPreference: 'capacity-reservations-only',
      CapacityReservationTarget: { CapacityReservationId: reservationId },
    },
    ...(market === undefined ? {} : { InstanceMarketOptions: { MarketType: market } }),
  };
}

function encodedUserData(
  fleet: FleetRequest,
  spec: NodeClassSpec,
  cluster: ClusterFacts,
  podsMax: number,
): string | undefined {
  const { nodeClass } = fleet;
  const { configuration, problems } = readKubelet(spec.kubelet ?? {}, nodeClass.imageFamily);
  const [problem] = problems;
  if (problem !== undefined) {
    throw new PortError('invalid', problem.reason, `${problem.path}: ${problem.message}`);
  }
  const text = userData(nodeClass.imageFamily, spec.userData, {
    cluster,
    kubelet: configuration,
    podsMax,
    ...registrationOf(fleet.nodeLabels, fleet.taints),
    instanceStoreRaid: spec.instanceStorePolicy === 'RAID0',
  });
  return text === '' ? undefined : Buffer.from(text).toString('base64');
}

/** Everything about an instance but its type, subnet and image, which are the fleet's overrides. */
export function templateData(
  fleet: FleetRequest,
  variant: TemplateVariant,
  cluster: ClusterFacts,
): RequestLaunchTemplateData {
  const { nodeClass, nodeLabels, requests } = fleet;
  const spec = nodeClassSpec(nodeClass);
  if (spec.placementGroupSelector !== undefined) {
    throw new PortError('invalid', 'UnsupportedPlacementGroup', 'placement groups: not supported');
  }
  if (spec.enclaveOptions?.enabled === true) {
    throw new PortError('invalid', 'UnsupportedEnclaves', 'Nitro Enclaves: not supported');
  }
  const profile = nodeClass.instanceProfile ?? nodeClass.status.instanceProfile;
  const tags = tagsOf(templateTags(fleet));
  const { httpEndpoint, httpProtocolIPv6, httpPutResponseHopLimit, httpTokens } =
    spec.metadataOptions;
  const nested = spec.cpuOptions?.nestedVirtualization;
  return {
    ImageId: variant.imageId,
    UserData: encodedUserData(fleet, spec, cluster, variant.podsMax),
    IamInstanceProfile: profile === undefined ? undefined : { Name: profile },
    Monitoring: { Enabled: spec.detailedMonitoring ?? false },
    BlockDeviceMappings: blockDevices(fleet, spec),
    NetworkInterfaces: slots(spec, variant).map((slot) =>
      networkInterface(fleet, spec, cluster.ipFamily, slot),
    ),
    MetadataOptions: {
      HttpEndpoint: httpEndpoint,
      HttpProtocolIpv6: httpProtocolIPv6,
      HttpPutResponseHopLimit: httpPutResponseHopLimit,
      HttpTokens: httpTokens,
      InstanceMetadataTags: 'disabled',
    },
    TagSpecifications: [
      { ResourceType: 'network-interface', Tags: tags },
      ...(fleet.capacityType === 'spot'
        ? [{ ResourceType: 'spot-instances-request' as const, Tags: tags }]
        : []),
    ],
    ...reservation(fleet, variant),
    ...(nodeLabels[TENANCY] === 'dedicated' ? { Placement: { Tenancy: 'dedicated' } } : {}),
    ...((requests[ENCLAVE] ?? 0) > 0 ? { EnclaveOptions: { Enabled: true } } : {}),
    ...(nested === undefined ? {} : { CpuOptions: { NestedVirtualization: nested } }),
  };
}
