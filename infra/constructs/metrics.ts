import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { CLUSTER_DIMENSION, METRICS, METRICS_NAMESPACE } from '../../shared/contract.ts';

/** Names of Joiner's metrics as they are in {@link METRICS}. */
export type MetricKey = keyof typeof METRICS;

/** Those that are levels at a moment; of the others sums are of interest. */
const LEVELS: ReadonlySet<MetricKey> = new Set([
  'pendingPods',
  'pendingAge',
  'nodes',
  'driftedNodes',
  'cpuUtilization',
  'memoryUtilization',
  'cost',
  'unavailableOfferings',
  'priceAge',
  'heldBack',
  'backedOffPods',
]);

const DURATIONS: ReadonlySet<MetricKey> = new Set(['schedulingDuration', 'observeDuration', 'lag']);

/** A metric of one cluster: levels as maxima, durations as 95th percentiles, counts as sums. */
export function joinerMetric(
  cluster: string,
  key: MetricKey,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric {
  const counted = DURATIONS.has(key) ? 'p95' : 'Sum';
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName: METRICS[key],
    dimensionsMap: { [CLUSTER_DIMENSION]: cluster },
    statistic: LEVELS.has(key) ? cloudwatch.Stats.MAXIMUM : counted,
    period: Duration.minutes(1),
    ...options,
  });
}
