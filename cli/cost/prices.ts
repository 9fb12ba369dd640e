/** List prices in USD, without free tiers and discounts; EC2's come from the embedded catalog. */
export interface Prices {
  /** Lambda on arm64, a GB-second. */
  readonly lambdaGbSecond: number;
  /** A million. */
  readonly lambdaRequests: number;
  /** One custom metric for a month. */
  readonly metric: number;
  /** One metric of a standard alarm for a month. */
  readonly alarmMetric: number;
  /** One for a month. */
  readonly dashboard: number;
  /** Ingestion, a GB. */
  readonly logsGb: number;
  /** A million custom events. */
  readonly events: number;
  /** A million calls. */
  readonly queueCalls: number;
  /** A thousand writes or lists. */
  readonly bucketWrites: number;
  /** A thousand reads. */
  readonly bucketReads: number;
  /** A GB for a month. */
  readonly bucketGb: number;
  /** An hour, beside 1 GB of traffic for about as much. */
  readonly natGatewayHour: number;
  /** An hour in one zone. */
  readonly endpointHour: number;
  /** A virtual processor for an hour. */
  readonly fargateCpuHour: number;
  /** A GB for an hour. */
  readonly fargateGbHour: number;
  /** A GB of gp3 for a month. */
  readonly diskGb: number;
}

/** When the list below was last laid beside {@link PRICE_SOURCES}. */
export const PRICES_DATE = '2026-06';

export const PRICE_SOURCES: readonly string[] = [
  'https://aws.amazon.com/lambda/pricing/',
  'https://aws.amazon.com/cloudwatch/pricing/',
  'https://aws.amazon.com/eventbridge/pricing/',
  'https://aws.amazon.com/sqs/pricing/',
  'https://aws.amazon.com/s3/pricing/',
  'https://aws.amazon.com/vpc/pricing/',
  'https://aws.amazon.com/privatelink/pricing/',
  'https://aws.amazon.com/fargate/pricing/',
  'https://aws.amazon.com/ebs/pricing/',
  'https://aws.amazon.com/eks/pricing/',
];

const US: Prices = {
  lambdaGbSecond: 0.0000133334,
  lambdaRequests: 0.2,
  metric: 0.3,
  alarmMetric: 0.1,
  dashboard: 3,
  logsGb: 0.5,
  events: 1,
  queueCalls: 0.4,
  bucketWrites: 0.005,
  bucketReads: 0.0004,
  bucketGb: 0.023,
  natGatewayHour: 0.045,
  endpointHour: 0.01,
  fargateCpuHour: 0.04048,
  fargateGbHour: 0.004445,
  diskGb: 0.08,
};

/** The regions of the embedded catalog. */
export const PRICES: Readonly<Record<'us-east-1' | 'us-west-2' | 'eu-west-1', Prices>> = {
  'us-east-1': US,
  'us-west-2': US,
  'eu-west-1': {
    ...US,
    logsGb: 0.57,
    natGatewayHour: 0.048,
    endpointHour: 0.011,
    diskGb: 0.088,
  },
};

/** What Auto Mode adds to the on-demand price of its nodes. https://aws.amazon.com/eks/pricing/ */
export const AUTO_MODE_SHARE = 0.12;

/** What an account gets for nothing each month, if nothing else of it does. */
export const FREE_TIER = {
  lambdaGbSeconds: 400_000,
  lambdaRequests: 1_000_000,
  metrics: 10,
  alarmMetrics: 10,
  dashboards: 3,
  logsGb: 5,
  queueCalls: 1_000_000,
} as const;
