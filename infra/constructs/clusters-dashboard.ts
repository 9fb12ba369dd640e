import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { MetricKey } from '../../shared/contract/metrics.ts';
import { joinerMetric } from './metrics.ts';

export interface ClustersDashboardProps {
  /** Clusters of this account and region that have Joiner. */
  readonly clusters: readonly string[];
}

/** A formula of CloudWatch takes no more metrics. */
export const CLUSTERS_MAX = 100;

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
    ['Requested CPU (%)', 'cpuUtilization'],
  ],
  [
    ['Launches', 'nodeClaimsCreated'],
    ['Disruptions', 'nodeClaimsDisrupted'],
    ['Interruption messages', 'interruptionMessages'],
  ],
];

/** Of all clusters together. */
const TOTALS: readonly (readonly [title: string, key: MetricKey])[] = [
  ['Pending pods, all clusters', 'pendingPods'],
  ['USD an hour, all clusters', 'cost'],
  ['Nodes, all clusters', 'nodes'],
];

/** One line for each cluster in every graph: several clusters of an account side by side. */
export class ClustersDashboard extends Construct {
  constructor(scope: Construct, id: string, { clusters }: ClustersDashboardProps) {
    super(scope, id);
    new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: `Joiner-clusters-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        TOTALS.map(([title, key]) => graph(title, [sum(clusters, key)])),
        ...ROWS.map((row) =>
          row.map(([title, key]) =>
            graph(
              title,
              clusters.map((cluster) => joinerMetric(cluster, key, { label: cluster })),
            ),
          ),
        ),
      ],
    });
  }
}

function graph(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
  const leftYAxis = { min: 0, showUnits: false };
  return new cloudwatch.GraphWidget({ title, left, leftYAxis, width: 8, height: 6 });
}

/** A cluster that says nothing for a while counts as nothing, and takes no other with it. */
function sum(clusters: readonly string[], key: MetricKey): cloudwatch.MathExpression {
  const metrics = clusters.map((cluster, at) => [`m${at}`, joinerMetric(cluster, key)] as const);
  return new cloudwatch.MathExpression({
    expression: metrics.map(([id]) => `FILL(${id}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(metrics),
    label: 'together',
    period: Duration.minutes(1),
  });
}
