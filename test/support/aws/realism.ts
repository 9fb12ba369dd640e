import { Prng } from '../../../shared/sim/prng.ts';
import type { WireCloud } from './cloud.ts';
import { Throttling } from './model/throttling.ts';

/** Least and most milliseconds of an answer. */
type Latency = readonly [number, number];

/**
 * Latencies as clients in the region see them, from calls of an account of medium size. What is
 * not named takes what other calls of its kind do.
 */
const LATENCIES: Readonly<Record<string, Latency>> = {
  CreateFleet: [1_800, 3_000],
  TerminateInstances: [300, 700],
  CreateLaunchTemplate: [200, 400],
  DescribeInstances: [120, 400],
  DescribeImages: [150, 400],
  DescribeInstanceTypes: [200, 500],
  DescribeSpotPriceHistory: [200, 500],
  GetProducts: [200, 600],
  CreateInstanceProfile: [200, 400],
  AddRoleToInstanceProfile: [200, 400],
  GetInstanceProfile: [60, 150],
  GetParameter: [30, 90],
  DescribeCluster: [80, 200],
  GetObject: [15, 60],
  PutObject: [25, 90],
  ListObjectsV2: [20, 80],
  PutEvents: [15, 50],
  ReceiveMessage: [10, 30],
  DeleteMessageBatch: [10, 30],
};
const READ: Latency = [80, 250];
const WRITE: Latency = [150, 400];

/** How late AWS tells of what it has been told. */
export interface Lags {
  /** EC2 of an instance profile that IAM has made. */
  readonly profileMs: number;
  /** IAM itself. */
  readonly iamMs: number;
  readonly instancesMs: number;
  readonly tagsMs: number;
  readonly spotRequestsMs: number;
}

export const LAGS: Lags = {
  profileMs: 10_000,
  iamMs: 3_000,
  instancesMs: 1_500,
  tagsMs: 1_000,
  spotRequestsMs: 2_000,
};

/** New accounts have no more, of on-demand and of spot. */
export const STANDARD_VCPUS = { 'on-demand': 1_152, spot: 640 } as const;

export interface Realism {
  readonly seed?: number;
  readonly lags?: Partial<Lags>;
}

/**
 * The cloud as AWS is: it takes its time, tells late, has quotas of vCPUs, throttles, and refuses
 * the lines of a fleet one by one. The same seed draws the same latencies for each operation.
 */
export function makeRealistic(cloud: WireCloud, { seed = 1, lags: own = {} }: Realism = {}): void {
  const { account, profiles, server } = cloud;
  const lags = { ...LAGS, ...own };
  const streams = new Map<string, Prng>();
  server.latencyMs = (operation) => {
    const stream = streams.get(operation) ?? new Prng(seed, operation);
    streams.set(operation, stream);
    const isRead = /^(Describe|Get|List|Receive|Head)/.test(operation);
    const [least, most] = LATENCIES[operation] ?? (isRead ? READ : WRITE);
    return stream.between(least, most);
  };
  const throttling = new Throttling(() => account.nowMs);
  server.admit = (service, operation, input) =>
    service === 'ec2' ? throttling.refusal(operation, input) : undefined;
  profiles.nowMs = () => account.nowMs;
  profiles.lagMs = lags.iamMs;
  account.visibleAfterMs = lags.instancesMs;
  account.tagLagMs = lags.tagsMs;
  account.spotRequestLagMs = lags.spotRequestsMs;
  account.knowsProfile = (name) => {
    const madeAtMs = profiles.profiles.get(name)?.madeAtMs ?? Number.NEGATIVE_INFINITY;
    return account.nowMs >= madeAtMs + lags.profileMs;
  };
  for (const market of ['on-demand', 'spot'] as const) {
    account.standardVcpus.set(market, STANDARD_VCPUS[market]);
  }
}

/** AWS as it is, but with `JOINER_AWS=instant`: then it answers at once. */
export function awsByDefault(): Realism | undefined {
  return process.env['JOINER_AWS'] === 'instant' ? undefined : {};
}
