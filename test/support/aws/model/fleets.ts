import type {
  CreateFleetCommandOutput,
  CreateFleetError,
  CreateFleetInstance,
  CreateFleetRequest,
  CreateFleetResult,
  TagSpecification,
} from '@aws-sdk/client-ec2';
import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';
import { type Account, type ModelInstance, type ModelTemplate, poolKey } from './account.ts';
import { inOrderOf, type Pool, poolOf } from './fleet-pools.ts';
import { handle } from './handle.ts';
import { passTime } from './instances.ts';

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html */
const OVERRIDES_MAX = 300;
const TEMPLATES_MAX = 50;

/** EC2 puts it on every instance. https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Tags.html */
const TEMPLATE_TAG = 'aws:ec2launchtemplate:id';

const TEMPLATE_GONE = 'InvalidLaunchTemplateName.NotFoundException';

type TemplateConfig = NonNullable<CreateFleetRequest['LaunchTemplateConfigs']>[number];

function templateOf(account: Account, config: TemplateConfig): ModelTemplate | undefined {
  return account.templates.get(config.LaunchTemplateSpecification?.LaunchTemplateName ?? '');
}

/** Where all are gone the call is refused, else these are errors of its answer. */
function templatesGone(account: Account, request: CreateFleetRequest): CreateFleetError[] {
  const configs = request.LaunchTemplateConfigs ?? [];
  const gone = configs.filter((each) => templateOf(account, each) === undefined);
  const errors = gone.map(({ LaunchTemplateSpecification }) => ({
    LaunchTemplateAndOverrides: { LaunchTemplateSpecification },
    ErrorCode: TEMPLATE_GONE,
    ErrorMessage: 'The specified launch template does not exist.',
  }));
  const [first] = errors;
  if (first === undefined || gone.length < configs.length) return errors;
  throw new WireFault(first.ErrorCode, first.ErrorMessage);
}

function poolsOf(account: Account, request: CreateFleetRequest, market: string): Pool[] {
  const pools = (request.LaunchTemplateConfigs ?? []).flatMap((config) => {
    const template = templateOf(account, config);
    if (template === undefined) return [];
    return (config.Overrides ?? []).map((each) => poolOf(account, template, each, market));
  });
  const templates = request.LaunchTemplateConfigs?.length ?? 0;
  if (templates > TEMPLATES_MAX) {
    const message = `The request has ${templates} launch templates, at most ${TEMPLATES_MAX} are allowed`;
    throw new WireFault('InvalidParameterValue', message);
  }
  if (pools.length > OVERRIDES_MAX) {
    const message = `The request has ${pools.length} overrides, at most ${OVERRIDES_MAX} are allowed`;
    throw new WireFault('InvalidParameterValue', message);
  }
  return pools;
}

function tagsFor(request: { TagSpecifications?: TagSpecification[] | undefined }, kind: string) {
  const specifications = request.TagSpecifications ?? [];
  return specifications
    .filter((each) => each.ResourceType === kind)
    .flatMap((each) => each.Tags ?? []);
}

function marketOf(request: CreateFleetRequest): ModelInstance['market'] {
  const type = request.TargetCapacitySpecification?.DefaultTargetCapacityType;
  if (type === 'spot' || type === 'capacity-block') return type;
  return type === 'reserved-capacity' ? 'interruptible-capacity-reservation' : 'on-demand';
}

function start(
  account: Account,
  pool: Pool,
  market: ModelInstance['market'],
  tags: ModelInstance['tags'],
) {
  const { data } = pool.template;
  const instance: ModelInstance = {
    id: account.newId('i'),
    instanceType: pool.instanceType,
    zone: pool.zone,
    subnetId: pool.override.SubnetId ?? '',
    imageId: pool.override.ImageId ?? data.ImageId ?? '',
    market,
    reservationId:
      data.CapacityReservationSpecification?.CapacityReservationTarget?.CapacityReservationId,
    launchedAtMs: account.nowMs,
    template: data,
    state: 'pending',
    tags: [...tags, { Key: TEMPLATE_TAG, Value: pool.template.about.LaunchTemplateId }],
  };
  account.instances.set(instance.id, instance);
  const key = poolKey(pool.instanceType, pool.zone, market);
  const left = account.capacity.get(key);
  if (left !== undefined) account.capacity.set(key, left - 1);
  account.onLaunch(instance);
  return instance;
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html#ec2-on-demand-instances-limits */
const STANDARD = /^[acdhimrtz]\d/;

/** The quota is of vCPUs that run, whoever has launched them. */
function overQuota(account: Account, pool: Pool, market: string): [string, string] | undefined {
  const quota = account.standardVcpus.get(market);
  if (quota === undefined || !STANDARD.test(pool.instanceType)) return undefined;
  passTime(account);
  const vcpusOf = (type: string): number => account.vcpus.get(type) ?? 2;
  const used = [...account.instances.values()]
    .filter((each) => each.market === market && each.state !== 'terminated')
    .filter((each) => STANDARD.test(each.instanceType))
    .reduce((sum, each) => sum + vcpusOf(each.instanceType), 0);
  if (used + vcpusOf(pool.instanceType) <= quota) return undefined;
  if (market === 'spot')
    return ['MaxSpotInstanceCountExceeded', 'Max spot instance count exceeded'];
  return [
    'VcpuLimitExceeded',
    `You have requested more vCPU capacity than your current vCPU limit of ${quota} allows`,
  ];
}

/** The subnet or the image of a line that does not exist; an account without images has any. */
function absence(account: Account, pool: Pool): [string, string] | undefined {
  const subnetId = pool.override.SubnetId ?? '';
  if (!account.subnets.some((each) => each.SubnetId === subnetId)) {
    return ['InvalidSubnetID.NotFound', `The subnet ID '${subnetId}' does not exist`];
  }
  const imageId = pool.override.ImageId ?? pool.template.data.ImageId ?? '';
  const { images } = account;
  if (images.length === 0 || images.some((each) => each.ImageId === imageId)) return undefined;
  return ['InvalidAMIID.NotFound', `The image id '[${imageId}]' does not exist`];
}

/** Why a pool has nothing now; the codes are those of EC2's error list. */
function shortage(account: Account, pool: Pool, market: string): [string, string] | undefined {
  const absent = absence(account, pool);
  if (absent !== undefined) return absent;
  const profile = pool.template.data.IamInstanceProfile?.Name ?? '';
  if (profile !== '' && !account.knowsProfile(profile)) {
    const what = `Value (${profile}) for parameter iamInstanceProfile.name is invalid.`;
    return ['InvalidParameterValue', `${what} Invalid IAM Instance Profile name`];
  }
  const over = overQuota(account, pool, market);
  if (over !== undefined) return over;
  const subnet = account.subnets.find((each) => each.SubnetId === pool.override.SubnetId);
  if (subnet !== undefined && (subnet.AvailableIpAddressCount ?? 0) <= 0) {
    const text = `There are not enough free addresses in subnet ${subnet.SubnetId}`;
    return ['InsufficientFreeAddressesInSubnet', text];
  }
  const target =
    pool.template.data.CapacityReservationSpecification?.CapacityReservationTarget
      ?.CapacityReservationId;
  if (target !== undefined) {
    const found = account.reservations.find((each) => each.CapacityReservationId === target);
    if ((found?.AvailableInstanceCount ?? 0) > 0) return undefined;
    return ['ReservationCapacityExceeded', `The capacity of reservation ${target} is used up`];
  }
  if (account.capacityOf(pool.instanceType, pool.zone, market) > 0) return undefined;
  return [
    'InsufficientInstanceCapacity',
    `We currently do not have sufficient ${pool.instanceType} capacity in ${pool.zone}.`,
  ];
}

function consume(account: Account, instance: ModelInstance): void {
  const subnet = account.subnets.find((each) => each.SubnetId === instance.subnetId);
  if (subnet !== undefined) {
    subnet.AvailableIpAddressCount = (subnet.AvailableIpAddressCount ?? 0) - 1;
  }
  const reservation = account.reservations.find(
    (each) => each.CapacityReservationId === instance.reservationId,
  );
  if (reservation !== undefined) {
    reservation.AvailableInstanceCount = (reservation.AvailableInstanceCount ?? 0) - 1;
  }
}

function allocate(account: Account, request: CreateFleetRequest): CreateFleetResult {
  const market = marketOf(request);
  const target = request.TargetCapacitySpecification?.TotalTargetCapacity ?? 0;
  const { SpotOptions, OnDemandOptions } = request;
  const strategy =
    market === 'spot' ? SpotOptions?.AllocationStrategy : OnDemandOptions?.AllocationStrategy;
  let pools = inOrderOf(strategy, poolsOf(account, request, market), target);
  const launched: CreateFleetInstance[] = [];
  const errors = templatesGone(account, request);
  const lifecycle = market === 'spot' ? 'spot' : 'on-demand';
  for (let count = 0; count < target; ) {
    const [pool] = pools;
    if (pool === undefined) break;
    const about = {
      LaunchTemplateAndOverrides: {
        LaunchTemplateSpecification: {
          LaunchTemplateId: pool.template.about.LaunchTemplateId,
          Version: '1',
        },
        Overrides: {
          ...pool.override,
          AvailabilityZone: pool.zone,
          BlockDeviceMappings: undefined,
        },
      },
      Lifecycle: lifecycle,
    } as const;
    const short = shortage(account, pool, market);
    if (short !== undefined) {
      errors.push({ ...about, ErrorCode: short[0], ErrorMessage: short[1] });
      pools = pools.slice(1);
      continue;
    }
    const instance = start(account, pool, market, tagsFor(request, 'instance'));
    consume(account, instance);
    const type = pool.override.InstanceType;
    launched.push({ ...about, InstanceIds: [instance.id], InstanceType: type });
    count += 1;
  }
  return { FleetId: account.newId('fleet'), Instances: launched, Errors: errors };
}

/**
 * Equal tokens with equal parameters answer the same; with others they are refused.
 * https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-idempotency.html
 */
function createFleet(account: Account, request: CreateFleetRequest): CreateFleetResult {
  const token = request.ClientToken ?? account.newId('token');
  const text = JSON.stringify(request);
  const before = account.fleets.get(token);
  if (before === undefined) {
    const result = allocate(account, request);
    account.fleets.set(token, { text, result });
    return result;
  }
  if (before.text === text) return before.result;
  throw new WireFault('IdempotentParameterMismatch', 'The token was used with other parameters');
}

export function fleetHandlers(account: Account): Handlers {
  return {
    CreateFleet: handle<CreateFleetRequest, CreateFleetCommandOutput>((request) =>
      createFleet(account, request),
    ),
  };
}
