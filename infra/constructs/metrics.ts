import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS, type MetricKey } from '../../shared/contract/metrics.ts';
import { CLUSTER_DIMENSION, METRICS_NAMESPACE } from '../../shared/contract.ts';

/** CloudWatch's names of the statistics. */
const STATISTICS = {
  maximum: cloudwatch.Stats.MAXIMUM,
  p95: 'p95',
  sum: cloudwatch.Stats.SUM,
} as const;

/** A metric of one cluster: levels as maxima, durations as 95th percentiles, counts as sums. */
export function joinerMetric(
  cluster: string,
  key: MetricKey,
  options: cloudwatch.MetricOptions = {},
): cloudwatch.Metric {
  return new cloudwatch.Metric({
    namespace: METRICS_NAMESPACE,
    metricName: METRICS[key].name,
    dimensionsMap: { [CLUSTER_DIMENSION]: cluster },
    statistic: STATISTICS[METRICS[key].statistic],
    period: Duration.minutes(1),
    ...options,
  });
}
