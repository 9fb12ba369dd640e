import type {
  DescribeAvailabilityZonesCommandOutput,
  DescribeAvailabilityZonesRequest,
  StopInstancesCommandOutput,
  StopInstancesRequest,
} from '@aws-sdk/client-ec2';
import type { SendMessageCommandOutput, SendMessageRequest } from '@aws-sdk/client-sqs';
import type { Handlers } from '../wire/server.ts';
import type { Account } from './account.ts';
import { handle } from './handle.ts';

/** What people and other programs ask of EC2; the functions never do. */
export function operatorHandlers(account: Account): Handlers {
  return {
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

/** A queue to which others than EventBridge send, too. */
export function senderHandlers(send: (body: string) => void): Handlers {
  return {
    SendMessage: handle<SendMessageRequest, SendMessageCommandOutput>(({ MessageBody = '' }) => {
      send(MessageBody);
      return { MessageId: 'sent' };
    }),
  };
}
