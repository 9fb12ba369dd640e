import type {
  CapacityReservation,
  CreateFleetResult,
  Image,
  InstanceStatus,
  InstanceTypeInfo,
  LaunchTemplate,
  RequestLaunchTemplateData,
  SecurityGroup,
  StateReason,
  Subnet,
  Tag,
} from '@aws-sdk/client-ec2';

export interface ModelInstance {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly subnetId: string;
  readonly imageId: string;
  readonly market: 'on-demand' | 'spot' | 'capacity-block' | 'interruptible-capacity-reservation';
  /** Undefined where the reservation has been cancelled since. */
  reservationId: string | undefined;
  readonly launchedAtMs: number;
  readonly template: RequestLaunchTemplateData;
  state: 'pending' | 'running' | 'shutting-down' | 'terminated' | 'stopped';
  tags: Tag[];
  /** Of its spot request; undefined: what follows from the state. */
  spotStatus?: string;
  /** When it is gone; undefined: nobody ended it. */
  endsAtMs?: number;
  /** Why it has ended; a pending one has `pending` in its place. */
  stateReason?: StateReason;
  /** As DescribeInstances has them until then. */
  tagsBefore?: { readonly tags: Tag[]; readonly untilMs: number };
}

export interface ModelTemplate {
  readonly about: LaunchTemplate;
  readonly data: RequestLaunchTemplateData;
}

/** `type/zone/spot` or `type/zone/on-demand`. */
export function poolKey(instanceType: string, zone: string, market: string): string {
  return `${instanceType}/${zone}/${market}`;
}

/** What an AWS account holds in one region, as far as the wire server knows. */
export class Account {
  readonly id = '111122223333';
  readonly region: string;
  subnets: Subnet[] = [];
  securityGroups: SecurityGroup[] = [];
  images: Image[] = [];
  reservations: CapacityReservation[] = [];
  instanceTypes: InstanceTypeInfo[] = [];
  statuses: InstanceStatus[] = [];
  /** USD an hour by {@link poolKey}; the absent ones cost 1. */
  readonly prices = new Map<string, number>();
  /** Instances still to be had by {@link poolKey}; the absent ones have no end. */
  readonly capacity = new Map<string, number>();
  readonly templates = new Map<string, ModelTemplate>();
  readonly instances = new Map<string, ModelInstance>();
  readonly fleets = new Map<
    string,
    { readonly text: string; readonly result: CreateFleetResult }
  >();
  readonly parameters = new Map<string, string>();
  /** `InvalidInstanceID.NotFound` until this long after the launch. */
  visibleAfterMs = 0;
  /** Tags that are changed are seen so long after. */
  tagLagMs = 0;
  /** DescribeSpotInstanceRequests knows of a request so long after the launch. */
  spotRequestLagMs = 0;
  /** Whether EC2 knows an instance profile. */
  knowsProfile: (name: string) => boolean = () => true;
  /** vCPUs of standard instances (A, C, D, H, I, M, R, T, Z), by market; absent: no end. */
  readonly standardVcpus = new Map<string, number>();
  /** By instance type; the absent ones have 2. */
  readonly vcpus = new Map<string, number>();
  pageSize = 1000;
  /** From pending to running. */
  bootMs = 5_000;
  /** From shutting down to terminated; without an end until a test says so. */
  shutdownMs = Number.POSITIVE_INFINITY;
  /** Told of every instance that starts. */
  onLaunch: (instance: ModelInstance) => void = () => {};
  private lastId = 0;
  private clock: () => number = () => this.setMs;
  private setMs = Date.UTC(2026, 0, 1);

  constructor(region = 'us-east-1') {
    this.region = region;
  }

  get nowMs(): number {
    return this.clock();
  }

  /** A clock that stands still until it is set again. */
  set nowMs(ms: number) {
    this.setMs = ms;
    this.clock = () => this.setMs;
  }

  /** Goes with another clock, e.g. the machine's for tests in real time. */
  useClock(clock: () => number): void {
    this.clock = clock;
  }

  /** `prefix-` and 17 hexadecimal digits. */
  newId(prefix: string): string {
    this.lastId += 1;
    return `${prefix}-${this.lastId.toString(16).padStart(17, '0')}`;
  }

  /** What EC2 does right before it sends a spot warning. */
  takeBack(instanceId: string): void {
    const instance = this.instances.get(instanceId);
    if (instance?.market === 'spot') instance.spotStatus = 'marked-for-termination';
  }

  priceOf(instanceType: string, zone: string, market: string): number {
    return this.prices.get(poolKey(instanceType, zone, market)) ?? 1;
  }

  capacityOf(instanceType: string, zone: string, market: string): number {
    return this.capacity.get(poolKey(instanceType, zone, market)) ?? Number.POSITIVE_INFINITY;
  }
}
