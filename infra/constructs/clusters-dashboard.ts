import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import { joinerMetric, type MetricKey } from './metrics.ts';

export interface ClustersDashboardProps {
  /** Clusters of this account and region that have Joiner. */
  readonly clusters: readonly string[];
}

/** What is compared, in the order in which people ask. */
const ROWS: readonly (readonly (readonly [title: string, key: MetricKey])[])[] = [
  [
    ['Pending pods', 'pendingPods'],
    ['Oldest pending pod (s)', 'pendingAge'],
    ['Launch failures', 'launchFailures'],
  ],
  [
    ['USD an hour', 'cost'],
    ['Nodes', 'nodes'],
    ['CPU utilisation (%)', 'cpuUtilization'],
  ],
  [
    ['Launches', 'nodeClaimsCreated'],
    ['Disruptions', 'nodeClaimsDisrupted'],
    ['Interruption messages', 'interruptionMessages'],
  ],
];

/** One line for each cluster in every graph: several clusters of an account side by side. */
export class ClustersDashboard extends Construct {
  constructor(scope: Construct, id: string, { clusters }: ClustersDashboardProps) {
    super(scope, id);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: `Joiner-clusters-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      widgets: ROWS.map((row) =>
        row.map(
          ([title, key]) =>
            new cloudwatch.GraphWidget({
              title,
              left: clusters.map((cluster) => joinerMetric(cluster, key, { label: cluster })),
              width: 8,
              height: 6,
            }),
        ),
      ),
    });
  }
}
