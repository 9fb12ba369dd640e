import { instanceLabels } from '../instance-types/instance-labels.ts';
import { typeMeets } from '../instance-types/type-requirements.ts';
import type { InstanceType } from '../model/instance-type.ts';
import {
  CAPACITY_OVERLAY_APPLIED,
  CAPACITY_TYPE,
  type CapacityType,
  FLEET,
  INSTANCE_PROFILE,
  type Labels,
  NODE_POOL,
  ON_DEMAND,
  PRICE,
  PRICE_OVERLAY_APPLIED,
  SECURITY_GROUPS,
  SPOT,
  SUBNET,
  TENANCY,
  WELL_KNOWN_LABELS,
} from '../model/labels.ts';
import type { Image, NodeClass } from '../model/node-class.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { PODS } from '../model/resources.ts';
import { allows, requirementsOf } from '../requirements/value-set.ts';
import type { LaunchChoice, LaunchOption } from './overrides.ts';

export type AllocationStrategy =
  | 'lowest-price'
  | 'prioritized'
  | 'price-capacity-optimized'
  | 'capacity-optimized-prioritized';

/** EC2 does not know overlays: where one set a price, our order of preference has to be passed. */
export function allocationStrategy(
  capacityType: CapacityType,
  priceOverlaid: boolean,
): AllocationStrategy {
  if (capacityType === SPOT) {
    return priceOverlaid ? 'capacity-optimized-prioritized' : 'price-capacity-optimized';
  }
  return capacityType === ON_DEMAND && priceOverlaid ? 'prioritized' : 'lowest-price';
}

/** The first image meant for a type; images come newest first, deprecated ones last. */
export function imageFinder(
  images: readonly Image[],
): (type: Pick<InstanceType, 'name' | 'labels'>) => Image | undefined {
  const usable = [...images.filter((each) => !each.deprecated), ...images].map((image) => ({
    image,
    requirements: requirementsOf(image.requirements),
  }));
  return (type) =>
    usable.find(({ requirements }) => typeMeets(requirements, type, 'absent'))?.image;
}

/** For one type; see {@link imageFinder}. */
export function imageFor(
  images: readonly Image[],
  type: Pick<InstanceType, 'name' | 'labels'>,
): Image | undefined {
  return imageFinder(images)(type);
}

export interface LaunchLine {
  readonly instanceType: string;
  readonly zone: string;
  readonly imageId: string;
  readonly reservationId: string | undefined;
  readonly priority: number;
}

/** Options that have an image, in zones with a subnet, as lines of a fleet without their subnet. */
export function launchLines(
  options: readonly LaunchOption[],
  images: readonly Image[],
  zones: ReadonlySet<string>,
): readonly LaunchLine[] {
  const imageOf = imageFinder(images);
  return options.flatMap(({ type, offering }) => {
    const image = imageOf(type);
    if (!zones.has(offering.zone) || image === undefined) return [];
    return [
      {
        instanceType: type.name,
        zone: offering.zone,
        imageId: image.id,
        reservationId: offering.reservation?.id,
        priority: offering.price,
      },
    ];
  });
}

/**
 * Tags by which instances are found again; the class's own come first and cannot override them. The
 * pool's is there for claims without one too: the role may launch only what carries it.
 */
export function launchTags(
  nodeClass: NodeClass,
  nodePool: string | undefined,
  cluster: string,
  token: string,
): Labels {
  return {
    ...nodeClass.tags,
    [`kubernetes.io/cluster/${cluster}`]: 'owned',
    'eks:eks-cluster-name': cluster,
    'karpenter.k8s.aws/ec2nodeclass': nodeClass.name,
    [NODE_POOL]: nodePool ?? '',
    [FLEET]: token,
  };
}

/** `--max-pods` by type. */
export function podsMaxByType(choice: LaunchChoice): Readonly<Record<string, number>> {
  const podsMax: Record<string, number> = {};
  for (const { type } of choice.options) podsMax[type.name] = type.capacity[PODS] ?? 110;
  return podsMax;
}

const DEDICATED = 'dedicated';

/** Dedicated only where the claim allows no other: EC2 takes more money for it. */
export function tenancyOf({
  labels,
  requirements,
}: Pick<NodeClaim, 'labels' | 'requirements'>): string {
  const asked = requirementsOf(requirements).get(TENANCY);
  const least = asked === undefined || allows(asked, 'default') ? 'default' : DEDICATED;
  return labels[TENANCY] ?? least;
}

/** What a claim says of its node, launched as the option; undefined: nobody knows as what. */
export function launchedLabels(
  claim: Pick<NodeClaim, 'labels' | 'requirements'>,
  option: LaunchOption | undefined,
  region: string,
): Labels {
  const known = option === undefined ? {} : instanceLabels(option.type, option.offering, region);
  return { ...known, ...claim.labels, [TENANCY]: tenancyOf(claim) };
}

/** Well-known labels that a kubelet brings itself; all others of them are set at registration. */
const BROUGHT: ReadonlySet<string> = new Set([NODE_POOL, CAPACITY_TYPE]);

/**
 * Labels for the kubelet's command line: NodeRestriction refuses those of kubernetes.io and k8s.io
 * there, they are set at registration instead. So are those that describe the instance: a claim has
 * them once it is launched, and the repeat of a launch has to say the same as its first call.
 */
export function kubeletLabels(claim: NodeClaim): Labels {
  const isDedicated = tenancyOf(claim) === DEDICATED;
  const allowed = Object.entries(claim.labels).filter(([key]) => {
    const domain = key.split('/')[0] ?? '';
    if (/(^|\.)(kubernetes|k8s)\.io$/.test(domain)) return false;
    return BROUGHT.has(key) || !WELL_KNOWN_LABELS.has(key);
  });
  const all = isDedicated ? [...allowed, [TENANCY, DEDICATED] as const] : allowed;
  return Object.fromEntries(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Where the instance was launched and behind which groups, for drift to be compared with; and by
 * which instance profile, as Karpenter notes it.
 */
export function launchFacts(
  request: {
    readonly nodeClass: NodeClass;
    readonly overrides: readonly {
      readonly instanceType: string;
      readonly zone: string;
      readonly subnetId: string | undefined;
    }[];
  },
  instance: { readonly instanceType: string; readonly zone: string },
): Labels {
  const { securityGroups, instanceProfile } = request.nodeClass.status;
  const groups = securityGroups.map(({ id }) => id).sort();
  const { subnetId } =
    request.overrides.find(
      ({ instanceType, zone }) => instanceType === instance.instanceType && zone === instance.zone,
    ) ?? {};
  return {
    ...(groups.length === 0 ? {} : { [SECURITY_GROUPS]: groups.join(',') }),
    ...(subnetId === undefined ? {} : { [SUBNET]: subnetId }),
    ...(instanceProfile === undefined ? {} : { [INSTANCE_PROFILE]: instanceProfile }),
  };
}

/** The price of the option as it was launched, and which of its values overlays changed. */
export function optionAnnotations(option: LaunchOption): Labels {
  return {
    [PRICE]: String(option.offering.price),
    ...(option.offering.priceOverlay === undefined ? {} : { [PRICE_OVERLAY_APPLIED]: 'true' }),
    ...(option.type.capacityOverlays.length === 0 ? {} : { [CAPACITY_OVERLAY_APPLIED]: 'true' }),
  };
}
