import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import {
  CLUSTER_DIMENSION,
  METRIC_KINDS,
  METRICS,
  METRICS_NAMESPACE,
  type MetricKey,
} from '../../shared/contract.ts';

/** The statistic of each kind: the latest maximum, the 95th percentile, or the sum. */
const STATISTICS = {
  level: cloudwatch.Stats.MAXIMUM,
  duration: 'p95',
  count: cloudwatch.Stats.SUM,
} as const;

/** A metric of one cluster: levels as maxima, durations as 95th percentiles, counts as sums. */
export function joinerMetric(
  cluster: string,
  key: MetricKey,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName: METRICS[key],
    dimensionsMap: { [CLUSTER_DIMENSION]: cluster },
    statistic: STATISTICS[METRIC_KINDS[key]],
    period: Duration.minutes(1),
    ...options,
  });
}
