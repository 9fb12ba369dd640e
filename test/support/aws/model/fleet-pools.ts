import type { FleetLaunchTemplateOverridesRequest } from '@aws-sdk/client-ec2';
import type { Account, ModelTemplate } from './account.ts';

/** One pool that a fleet may take instances from. */
export interface Pool {
  readonly override: FleetLaunchTemplateOverridesRequest;
  readonly template: ModelTemplate;
  readonly instanceType: string;
  readonly zone: string;
  readonly price: number;
  readonly capacity: number;
  readonly priority: number;
}

function compareNames(a: Pool, b: Pool): number {
  return `${a.instanceType}/${a.zone}` < `${b.instanceType}/${b.zone}` ? -1 : 1;
}

/** Pools that hold the whole target come before those that do not; then the deeper ones. */
function byCapacity(target: number): (a: Pool, b: Pool) => number {
  const shortOf = ({ capacity }: Pool): number => Math.max(0, target - capacity);
  return (a, b) => shortOf(a) - shortOf(b);
}

/**
 * The order in which a strategy tries pools.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
 */
export function inOrderOf(
  strategy: string | undefined,
  pools: readonly Pool[],
  target: number,
): readonly Pool[] {
  const capacity = byCapacity(target);
  const order: Readonly<Record<string, (a: Pool, b: Pool) => number>> = {
    'lowest-price': (a, b) => a.price - b.price,
    prioritized: (a, b) => a.priority - b.priority,
    'price-capacity-optimized': (a, b) => capacity(a, b) || a.price - b.price,
    'capacity-optimized-prioritized': (a, b) => capacity(a, b) || a.priority - b.priority,
  };
  const compare = order[strategy ?? 'lowest-price'];
  if (compare === undefined) throw new Error(`strategy "${strategy}" is unknown to the model`);
  return [...pools].sort((a, b) => compare(a, b) || compareNames(a, b));
}

export function poolOf(
  account: Account,
  template: ModelTemplate,
  override: FleetLaunchTemplateOverridesRequest,
  market: string,
): Pool {
  const { InstanceType: instanceType = '', AvailabilityZone, SubnetId, Priority } = override;
  const subnet = account.subnets.find((each) => each.SubnetId === SubnetId);
  const zone = subnet?.AvailabilityZone ?? AvailabilityZone ?? '';
  return {
    override,
    template,
    instanceType,
    zone,
    price: account.priceOf(instanceType, zone, market),
    capacity: account.capacityOf(instanceType, zone, market),
    priority: Priority ?? Number.POSITIVE_INFINITY,
  };
}
