import type * as ec2 from '@aws-sdk/client-ec2';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import type { Account } from './account.ts';
import { type Attributes, meetsFilters, tagAttributes } from './filters.ts';
import { handle, page } from './handle.ts';

function one(value: string | undefined): readonly string[] {
  return value === undefined ? [] : [value];
}

interface Request {
  readonly Filters?: ec2.Filter[] | undefined;
  readonly NextToken?: string | undefined;
  readonly MaxResults?: number | undefined;
}

/** Filtered and paged as every Describe call of EC2. */
function list<Item extends { readonly Tags?: ec2.Tag[] | undefined }>(
  account: Account,
  items: readonly Item[],
  request: Request,
  attributes: (item: Item) => Attributes,
): { readonly items: Item[]; readonly NextToken: string | undefined } {
  const kept = items.filter((each) =>
    meetsFilters(request.Filters, tagAttributes(each.Tags ?? [], attributes(each))),
  );
  const size = Math.min(request.MaxResults ?? 1000, account.pageSize);
  const { items: found, next } = page(kept, request.NextToken, size);
  return { items: found, NextToken: next };
}

function subnets(account: Account, request: ec2.DescribeSubnetsRequest) {
  const of =
    (each: ec2.Subnet): Attributes =>
    (name) =>
      name === 'subnet-id' ? one(each.SubnetId) : undefined;
  const { items, NextToken } = list(account, account.subnets, request, of);
  return { Subnets: items, NextToken };
}

function securityGroups(account: Account, request: ec2.DescribeSecurityGroupsRequest) {
  const of =
    (each: ec2.SecurityGroup): Attributes =>
    (name) => {
      if (name === 'group-id') return one(each.GroupId);
      return name === 'group-name' ? one(each.GroupName) : undefined;
    };
  const { items, NextToken } = list(account, account.securityGroups, request, of);
  return { SecurityGroups: items, NextToken };
}

function images(account: Account, request: ec2.DescribeImagesRequest) {
  const owners = request.Owners;
  const owned = account.images.filter((image) => {
    const isOwn = image.OwnerId === account.id;
    const isNamed = (owner: string): boolean =>
      owner === image.OwnerId || owner === image.ImageOwnerAlias || (owner === 'self' && isOwn);
    return owners === undefined || owners.some(isNamed);
  });
  const of =
    (each: ec2.Image): Attributes =>
    (name) => {
      if (name === 'image-id') return one(each.ImageId);
      if (name === 'state') return one(each.State);
      return name === 'name' ? one(each.Name) : undefined;
    };
  const isDeprecated = ({ DeprecationTime }: ec2.Image): boolean =>
    DeprecationTime !== undefined && Date.parse(DeprecationTime) <= account.nowMs;
  const shown = owned.filter((each) => request.IncludeDeprecated === true || !isDeprecated(each));
  const { items, NextToken } = list(account, shown, request, of);
  return { Images: items, NextToken };
}

function reservations(account: Account, request: ec2.DescribeCapacityReservationsRequest) {
  const ids = request.CapacityReservationIds;
  const known = new Set(account.reservations.map((each) => each.CapacityReservationId));
  const missing = ids?.find((id) => !known.has(id));
  if (missing !== undefined) {
    const message = `The capacity reservation '${missing}' does not exist`;
    throw new WireFault('InvalidCapacityReservationId.NotFound', message);
  }
  const of =
    (each: ec2.CapacityReservation): Attributes =>
    (name) => {
      if (name === 'state') return one(each.State);
      if (name === 'owner-id') return one(each.OwnerId);
      return name === 'instance-match-criteria' ? one(each.InstanceMatchCriteria) : undefined;
    };
  const named = account.reservations.filter(
    (each) => ids === undefined || ids.includes(each.CapacityReservationId ?? ''),
  );
  const { items, NextToken } = list(account, named, request, of);
  return { CapacityReservations: items, NextToken };
}

function instanceTypes(account: Account, request: ec2.DescribeInstanceTypesRequest) {
  const of =
    (each: ec2.InstanceTypeInfo): Attributes =>
    (name) => {
      if (name === 'supported-virtualization-type') return each.SupportedVirtualizationTypes ?? [];
      return name === 'processor-info.supported-architecture'
        ? (each.ProcessorInfo?.SupportedArchitectures ?? [])
        : undefined;
    };
  const { items, next } = page(
    account.instanceTypes.filter((each) => meetsFilters(request.Filters, of(each))),
    request.NextToken,
    Math.min(request.MaxResults ?? 100, account.pageSize),
  );
  return { InstanceTypes: items, NextToken: next };
}

function zonesOf(account: Account): readonly string[] {
  return [...new Set(account.subnets.flatMap((each) => each.AvailabilityZone ?? []))].sort();
}

function offerings(account: Account, request: ec2.DescribeInstanceTypeOfferingsRequest) {
  const all = account.instanceTypes.flatMap(({ InstanceType }) =>
    zonesOf(account).map((Location) => ({ InstanceType, Location })),
  );
  const { items, next } = page(all, request.NextToken, account.pageSize);
  return { InstanceTypeOfferings: items, NextToken: next };
}

function spotPrices(account: Account, request: ec2.DescribeSpotPriceHistoryRequest) {
  const all = [...account.prices].flatMap(([key, price]) => {
    const [InstanceType = '', AvailabilityZone, market] = key.split('/');
    if (market !== 'spot') return [];
    const Timestamp = new Date(account.nowMs);
    return [
      {
        InstanceType: InstanceType as ec2.SpotPrice['InstanceType'],
        AvailabilityZone,
        AvailabilityZoneId: account.subnets.find(
          (each) => each.AvailabilityZone === AvailabilityZone,
        )?.AvailabilityZoneId,
        SpotPrice: String(price),
        ProductDescription: 'Linux/UNIX' as const,
        Timestamp,
      },
    ];
  });
  const { items, next } = page(all, request.NextToken, account.pageSize);
  return { SpotPriceHistory: items, NextToken: next ?? '' };
}

export function descriptionHandlers(account: Account): Handlers {
  return {
    DescribeSubnets: handle<ec2.DescribeSubnetsRequest, ec2.DescribeSubnetsCommandOutput>(
      (request) => subnets(account, request),
    ),
    DescribeSecurityGroups: handle<
      ec2.DescribeSecurityGroupsRequest,
      ec2.DescribeSecurityGroupsCommandOutput
    >((request) => securityGroups(account, request)),
    DescribeImages: handle<ec2.DescribeImagesRequest, ec2.DescribeImagesCommandOutput>((request) =>
      images(account, request),
    ),
    DescribeCapacityReservations: handle<
      ec2.DescribeCapacityReservationsRequest,
      ec2.DescribeCapacityReservationsCommandOutput
    >((request) => reservations(account, request)),
    DescribeInstanceTypes: handle<
      ec2.DescribeInstanceTypesRequest,
      ec2.DescribeInstanceTypesCommandOutput
    >((request) => instanceTypes(account, request)),
    DescribeInstanceTypeOfferings: handle<
      ec2.DescribeInstanceTypeOfferingsRequest,
      ec2.DescribeInstanceTypeOfferingsCommandOutput
    >((request) => offerings(account, request)),
    DescribeSpotPriceHistory: handle<
      ec2.DescribeSpotPriceHistoryRequest,
      ec2.DescribeSpotPriceHistoryCommandOutput
    >((request) => spotPrices(account, request)),
  };
}
