import type {
  CancelCapacityReservationCommandOutput,
  CancelCapacityReservationRequest,
  CapacityReservation,
  CopyImageCommandOutput,
  CopyImageRequest,
  CreateCapacityReservationCommandOutput,
  CreateCapacityReservationRequest,
  CreateSecurityGroupCommandOutput,
  CreateSecurityGroupRequest,
  DeleteSecurityGroupCommandOutput,
  DeleteSecurityGroupRequest,
  DescribeAvailabilityZonesCommandOutput,
  DescribeAvailabilityZonesRequest,
  EnableImageDeprecationCommandOutput,
  EnableImageDeprecationRequest,
  StopInstancesCommandOutput,
  StopInstancesRequest,
} from '@aws-sdk/client-ec2';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import type { Account } from './account.ts';
import { handle } from './handle.ts';

function reservationOf(
  account: Account,
  request: CreateCapacityReservationRequest,
): CapacityReservation {
  const { TagSpecifications = [], InstanceCount, EndDate, ...rest } = request;
  return {
    ...rest,
    CapacityReservationId: account.newId('cr'),
    OwnerId: account.id,
    TotalInstanceCount: InstanceCount,
    AvailableInstanceCount: InstanceCount,
    EndDate,
    EndDateType: EndDate === undefined ? 'unlimited' : 'limited',
    ReservationType: 'default',
    State: 'active',
    Tags: TagSpecifications.flatMap(({ Tags = [] }) => Tags),
  };
}

function imageHandlers(account: Account): Handlers {
  return {
    CopyImage: handle<CopyImageRequest, CopyImageCommandOutput>((request) => {
      const source = account.images.find(({ ImageId }) => ImageId === request.SourceImageId);
      if (source === undefined) {
        throw new WireFault('InvalidAMIID.NotFound', `no image ${request.SourceImageId}`);
      }
      const ImageId = account.newId('ami');
      const Tags = request.TagSpecifications?.flatMap(({ Tags: each = [] }) => each) ?? [];
      const copy = { ...source, ImageId, Name: request.Name, OwnerId: account.id, Tags };
      account.images = [...account.images, copy];
      return { ImageId };
    }),
    EnableImageDeprecation: handle<
      EnableImageDeprecationRequest,
      EnableImageDeprecationCommandOutput
    >(({ ImageId, DeprecateAt }) => {
      const DeprecationTime = DeprecateAt?.toISOString();
      account.images = account.images.map((each) =>
        each.ImageId === ImageId ? { ...each, DeprecationTime } : each,
      );
      return { Return: true };
    }),
  };
}

function reservationHandlers(account: Account): Handlers {
  return {
    CreateCapacityReservation: handle<
      CreateCapacityReservationRequest,
      CreateCapacityReservationCommandOutput
    >((request) => {
      const made = reservationOf(account, request);
      account.reservations = [...account.reservations, made];
      return { CapacityReservation: made };
    }),
    CancelCapacityReservation: handle<
      CancelCapacityReservationRequest,
      CancelCapacityReservationCommandOutput
    >(({ CapacityReservationId: id }) => {
      account.reservations = account.reservations.filter(
        (each) => each.CapacityReservationId !== id,
      );
      // Its instances run on, on-demand.
      for (const each of account.instances.values()) {
        if (each.reservationId === id) each.reservationId = undefined;
      }
      return { Return: true };
    }),
  };
}

function groupHandlers(account: Account): Handlers {
  return {
    CreateSecurityGroup: handle<CreateSecurityGroupRequest, CreateSecurityGroupCommandOutput>(
      ({ GroupName, Description, VpcId, TagSpecifications = [] }) => {
        const Tags = TagSpecifications.flatMap(({ Tags: each = [] }) => each);
        const GroupId = account.newId('sg');
        const made = { GroupId, GroupName, Description, VpcId, OwnerId: account.id, Tags };
        account.securityGroups = [...account.securityGroups, made];
        return { GroupId, Tags };
      },
    ),
    DeleteSecurityGroup: handle<DeleteSecurityGroupRequest, DeleteSecurityGroupCommandOutput>(
      ({ GroupId }) => {
        account.securityGroups = account.securityGroups.filter((each) => each.GroupId !== GroupId);
        return { Return: true, GroupId };
      },
    ),
  };
}

/** What people and other programs ask of EC2; the functions never do. */
export function operatorHandlers(account: Account): Handlers {
  return {
    ...imageHandlers(account),
    ...reservationHandlers(account),
    ...groupHandlers(account),
    DescribeAvailabilityZones: handle<
      DescribeAvailabilityZonesRequest,
      DescribeAvailabilityZonesCommandOutput
    >(() => ({
      AvailabilityZones: account.subnets.map((each) => ({
        ZoneName: each.AvailabilityZone,
        ZoneId: each.AvailabilityZoneId,
        ZoneType: 'availability-zone',
        RegionName: account.region,
        State: 'available',
      })),
    })),
    StopInstances: handle<StopInstancesRequest, StopInstancesCommandOutput>(
      ({ InstanceIds = [] }) => {
        const found = InstanceIds.flatMap((id) => account.instances.get(id) ?? []);
        for (const instance of found) instance.state = 'stopped';
        return { StoppingInstances: found.map(({ id }) => ({ InstanceId: id })) };
      },
    ),
  };
}
