import type {
  CreateTagsRequest,
  DescribeInstanceStatusCommandOutput,
  DescribeInstanceStatusRequest,
  DescribeInstancesCommandOutput,
  DescribeInstancesRequest,
  DescribeSpotInstanceRequestsCommandOutput,
  DescribeSpotInstanceRequestsRequest,
  GroupIdentifier,
  Instance,
  InstanceStatus,
  SpotInstanceRequest,
  StateReason,
  TerminateInstancesCommandOutput,
  TerminateInstancesRequest,
} from '@aws-sdk/client-ec2';
import { privateDnsName } from '../joining.ts';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import type { Account, ModelInstance } from './account.ts';
import { meetsFilters, tagAttributes } from './filters.ts';
import { handle, page } from './handle.ts';

const STATE_CODES = {
  pending: 0,
  running: 16,
  'shutting-down': 32,
  terminated: 48,
  stopped: 80,
} as const;

function groupsOf({ securityGroups }: Account, { template }: ModelInstance): GroupIdentifier[] {
  const ids = template.NetworkInterfaces?.[0]?.Groups ?? template.SecurityGroupIds ?? [];
  return securityGroups
    .filter(({ GroupId = '' }) => ids.includes(GroupId))
    .map(({ GroupId, GroupName }) => ({ GroupId, GroupName }));
}

/** https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html */
function seenTags({ nowMs }: Account, { tags, tagsBefore }: ModelInstance): ModelInstance['tags'] {
  return tagsBefore !== undefined && nowMs < tagsBefore.untilMs ? tagsBefore.tags : tags;
}

function stateReasonOf({ state, stateReason }: ModelInstance): StateReason | undefined {
  return state === 'pending' ? { Code: 'pending', Message: 'pending' } : stateReason;
}

function described(account: Account, each: ModelInstance): Instance {
  return {
    SecurityGroups: groupsOf(account, each),
    InstanceId: each.id,
    InstanceType: each.instanceType as Instance['InstanceType'],
    ImageId: each.imageId,
    SubnetId: each.subnetId,
    LaunchTime: new Date(each.launchedAtMs),
    Placement: { AvailabilityZone: each.zone },
    State: { Name: each.state, Code: STATE_CODES[each.state] },
    StateReason: stateReasonOf(each),
    Tags: seenTags(account, each),
    InstanceLifecycle: each.market === 'on-demand' ? undefined : each.market,
    CapacityReservationId: each.reservationId,
    PrivateDnsName: privateDnsName(each.id),
  };
}

/** https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html */
function isVisible(account: Account, each: ModelInstance): boolean {
  return account.nowMs >= each.launchedAtMs + account.visibleAfterMs;
}

function find(account: Account, ids: readonly string[]): readonly ModelInstance[] {
  const malformed = ids.find((id) => !/^i-[0-9a-f]{8,17}$/.test(id));
  if (malformed !== undefined) {
    throw new WireFault('InvalidInstanceID.Malformed', `Invalid id: "${malformed}"`);
  }
  const missing = ids.filter((id) => {
    const found = account.instances.get(id);
    return found === undefined || !isVisible(account, found);
  });
  if (missing.length === 0) return ids.flatMap((id) => account.instances.get(id) ?? []);
  const [what, verb] = missing.length === 1 ? ['ID', 'does'] : ['IDs', 'do'];
  const message = `The instance ${what} '${missing.join(', ')}' ${verb} not exist`;
  throw new WireFault('InvalidInstanceID.NotFound', message);
}

/** Instances come up and go while nobody looks. */
export function passTime(account: Account): void {
  for (const instance of account.instances.values()) {
    const { state, launchedAtMs } = instance;
    if (state === 'pending' && account.nowMs >= launchedAtMs + account.bootMs) {
      instance.state = 'running';
    }
    if (state === 'shutting-down' && account.nowMs >= (instance.endsAtMs ?? 0)) {
      instance.state = 'terminated';
    }
  }
}

function describeInstances(account: Account, request: DescribeInstancesRequest) {
  passTime(account);
  const all =
    request.InstanceIds === undefined
      ? [...account.instances.values()].filter((each) => isVisible(account, each))
      : find(account, request.InstanceIds);
  const kept = all.filter((each) =>
    meetsFilters(
      request.Filters,
      tagAttributes(seenTags(account, each), (name) => {
        if (name === 'instance-id') return [each.id];
        return name === 'instance-state-name' ? [each.state] : undefined;
      }),
    ),
  );
  const size = Math.min(request.MaxResults ?? 1000, account.pageSize);
  const { items, next } = page(kept, request.NextToken, size);
  const reservations = items.map((each) => ({ Instances: [described(account, each)] }));
  return { Reservations: reservations, NextToken: next };
}

function spotRequestOf({ id, state, spotStatus }: ModelInstance): SpotInstanceRequest {
  const isOver = state === 'shutting-down' || state === 'terminated';
  return {
    SpotInstanceRequestId: id.replace('i-', 'sir-'),
    InstanceId: id,
    State: isOver ? 'closed' : 'active',
    Status: { Code: spotStatus ?? (isOver ? 'instance-terminated-by-user' : 'fulfilled') },
  };
}

function describeSpotRequests(
  account: Account,
  { Filters, NextToken }: DescribeSpotInstanceRequestsRequest,
) {
  passTime(account);
  const kept = [...account.instances.values()].filter(
    (each) =>
      each.market === 'spot' &&
      isVisible(account, each) &&
      account.nowMs >= each.launchedAtMs + account.spotRequestLagMs &&
      meetsFilters(Filters, (name) => (name === 'instance-id' ? [each.id] : undefined)),
  );
  const { items, next } = page(kept, NextToken, account.pageSize);
  return { SpotInstanceRequests: items.map(spotRequestOf), NextToken: next };
}

function terminate(account: Account, { InstanceIds = [] }: TerminateInstancesRequest) {
  for (const instance of find(account, InstanceIds)) {
    if (instance.state === 'terminated' || instance.state === 'shutting-down') continue;
    instance.state = 'shutting-down';
    instance.endsAtMs = account.nowMs + account.shutdownMs;
    const code = 'Client.UserInitiatedShutdown';
    instance.stateReason = { Code: code, Message: `${code}: User initiated shutdown` };
  }
  return { TerminatingInstances: InstanceIds.map((InstanceId) => ({ InstanceId })) };
}

function createTags(account: Account, { Resources = [], Tags = [] }: CreateTagsRequest) {
  for (const instance of find(account, Resources)) {
    const untilMs = account.nowMs + account.tagLagMs;
    instance.tagsBefore = { tags: seenTags(account, instance), untilMs };
    const kept = instance.tags.filter((tag) => !Tags.some((each) => each.Key === tag.Key));
    instance.tags = [...kept, ...Tags];
  }
  return {};
}

function statusAttributes(each: InstanceStatus): (name: string) => readonly string[] | undefined {
  const values: Readonly<Record<string, readonly (string | undefined)[]>> = {
    'instance-status.status': [each.InstanceStatus?.Status],
    'system-status.status': [each.SystemStatus?.Status],
    'event.code': (each.Events ?? []).map(({ Code }) => Code),
  };
  return (name) => values[name]?.flatMap((value) => value ?? []);
}

export function instanceHandlers(account: Account): Handlers {
  return {
    DescribeInstances: handle<DescribeInstancesRequest, DescribeInstancesCommandOutput>((request) =>
      describeInstances(account, request),
    ),
    DescribeSpotInstanceRequests: handle<
      DescribeSpotInstanceRequestsRequest,
      DescribeSpotInstanceRequestsCommandOutput
    >((request) => describeSpotRequests(account, request)),
    TerminateInstances: handle<TerminateInstancesRequest, TerminateInstancesCommandOutput>(
      (request) => terminate(account, request),
    ),
    CreateTags: handle<CreateTagsRequest, object>((request) => createTags(account, request)),
    DescribeInstanceStatus: handle<
      DescribeInstanceStatusRequest,
      DescribeInstanceStatusCommandOutput
    >(({ NextToken, Filters }) => {
      const kept = account.statuses.filter((each) => meetsFilters(Filters, statusAttributes(each)));
      const { items, next } = page(kept, NextToken, account.pageSize);
      return { InstanceStatuses: items, NextToken: next };
    }),
  };
}
