/** What the Grafana dashboard for Prometheus asks: the rows of the stack's own dashboard, by label. */

/** One PromQL expression and what its lines are called, with labels in double braces. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** One of Grafana's units: `s`, `percent`, `currencyUSD`, or `short` for a count. */
  readonly unit: 's' | 'percent' | 'currencyUSD' | 'short';
  readonly queries: readonly Query[];
  /** Whether areas are put on one another: their sum means something. */
  readonly isStacked?: boolean;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Series of Joiner in the chosen clusters; Karpenter, where it runs too, has another instance. */
const OURS = 'instance="joiner",cluster=~"$cluster"';

const series = (metric: string, more = ''): string =>
  `${metric}{${OURS}${more === '' ? '' : `,${more}`}}`;

const sum = (by: string, metric: string): string => `sum by (cluster, ${by}) (${series(metric)})`;

/** How often within the time that one point of the graph stands for. */
const increase = (by: string, metric: string): string =>
  `sum by (cluster, ${by}) (increase(${series(metric)}[$__rate_interval]))`;

const quantile = (share: number, by: string, metric: string): string =>
  `histogram_quantile(${share}, sum by (cluster, ${by}, le) (rate(${series(`${metric}_bucket`)}[$__rate_interval])))`;

const one = (expr: string, legend: string): readonly Query[] => [{ expr, legend }];

export const ROWS: readonly Row[] = [
  {
    title: 'Do pods get nodes?',
    panels: [
      {
        title: 'Pods by phase',
        unit: 'short',
        queries: one(sum('phase', 'karpenter_pods_state'), '{{phase}}'),
        isStacked: true,
      },
      {
        title: 'Pods that no node can take',
        unit: 'short',
        queries: one(series('karpenter_scheduler_unschedulable_pods_count'), '{{cluster}}'),
      },
      {
        title: 'The longest wait of a pod for a node',
        unit: 's',
        queries: one(
          `max by (cluster) (${series('karpenter_pods_provisioning_unbound_time_seconds')})`,
          '{{cluster}}',
        ),
      },
      {
        title: 'From a pod’s creation to Ready',
        unit: 's',
        queries: one(
          series('karpenter_pods_startup_duration_seconds', 'quantile=~"0.5|0.9|0.99"'),
          'quantile {{quantile}}',
        ),
      },
    ],
  },
  {
    title: 'What does it cost?',
    panels: [
      {
        title: 'Price an hour by NodePool',
        unit: 'currencyUSD',
        queries: one(sum('nodepool', 'karpenter_nodepools_cost_total'), '{{nodepool}}'),
        isStacked: true,
      },
      {
        title: 'Nodes by NodePool and capacity type',
        unit: 'short',
        queries: one(
          `count by (cluster, nodepool, capacity_type) (${series('karpenter_nodes_current_lifetime_seconds')})`,
          '{{nodepool}} {{capacity_type}}',
        ),
        isStacked: true,
      },
      {
        title: 'Requested share of all nodes',
        unit: 'percent',
        queries: one(series('karpenter_cluster_utilization_percent'), '{{resource_type}}'),
      },
      {
        title: 'Used share of the limits of NodePools',
        unit: 'percent',
        queries: one(
          `100 * ${series('karpenter_nodepools_usage')} / ${series('karpenter_nodepools_limit')}`,
          '{{nodepool}} {{resource_type}}',
        ),
      },
    ],
  },
  {
    title: 'Does EC2 launch what is asked for?',
    panels: [
      {
        title: 'NodeClaims created',
        unit: 'short',
        queries: one(increase('nodepool', 'karpenter_nodeclaims_created_total'), '{{nodepool}}'),
      },
      {
        title: 'Launches that failed, by reason',
        unit: 'short',
        queries: one(
          increase('nodepool, reason', 'karpenter_cloudprovider_instance_launch_failures_total'),
          '{{nodepool}} {{reason}}',
        ),
      },
      {
        title: 'Offerings that EC2 could not fill',
        unit: 'short',
        queries: one(series('joiner_unavailable_offerings'), '{{cluster}}'),
      },
      {
        title: 'Throttled calls, and launches held back',
        unit: 'short',
        queries: [
          {
            expr: `sum by (cluster) (increase(${series('joiner_throttled_calls_total')}[$__rate_interval]))`,
            legend: 'throttled calls',
          },
          { expr: series('joiner_held_back'), legend: 'held back' },
          { expr: series('joiner_pods_backed_off'), legend: 'pods backed off' },
        ],
      },
    ],
  },
  {
    title: 'Which nodes are replaced or removed?',
    panels: [
      {
        title: 'Nodes disrupted, by reason',
        unit: 'short',
        queries: one(
          increase('nodepool, reason', 'karpenter_nodeclaims_disrupted_total'),
          '{{nodepool}} {{reason}}',
        ),
      },
      {
        title: 'Nodes terminated',
        unit: 'short',
        queries: one(increase('nodepool', 'karpenter_nodes_terminated_total'), '{{nodepool}}'),
      },
      {
        title: 'Nodes that budgets allow to disrupt now',
        unit: 'short',
        queries: one(series('karpenter_nodepools_allowed_disruptions'), '{{nodepool}} {{reason}}'),
      },
      {
        title: 'From the deletion of a node to its end',
        unit: 's',
        queries: one(
          series('karpenter_nodes_termination_duration_seconds', 'quantile=~"0.5|0.9|0.99"'),
          '{{nodepool}} quantile {{quantile}}',
        ),
      },
      {
        title: 'Evictions',
        unit: 'short',
        queries: one(
          `sum by (cluster) (increase(${series('karpenter_pods_eviction_requests_total')}[$__rate_interval]))`,
          '{{cluster}}',
        ),
      },
      {
        title: 'Interruption messages',
        unit: 'short',
        queries: one(
          increase('message_type', 'karpenter_interruption_received_messages_total'),
          '{{message_type}}',
        ),
      },
    ],
  },
  {
    title: 'Do the functions run?',
    panels: [
      {
        title: 'Runs that failed',
        unit: 'short',
        queries: one(
          increase('controller', 'controller_runtime_reconcile_errors_total'),
          '{{controller}}',
        ),
      },
      {
        title: 'Duration of a run (p95)',
        unit: 's',
        queries: one(
          quantile(0.95, 'controller', 'controller_runtime_reconcile_time_seconds'),
          '{{controller}}',
        ),
      },
      {
        title: 'Time to plan and to read the cluster (p95)',
        unit: 's',
        queries: [
          {
            expr: quantile(0.95, 'controller', 'karpenter_scheduler_scheduling_duration_seconds'),
            legend: 'plan {{controller}}',
          },
          {
            expr: quantile(0.95, 'controller', 'joiner_observe_duration_seconds'),
            legend: 'read {{controller}}',
          },
        ],
      },
      {
        title: 'Age of the prices, and samples that were not written',
        unit: 'short',
        queries: [
          { expr: `${series('joiner_price_age_seconds')} / 3600`, legend: 'hours' },
          {
            expr: `sum by (cluster) (increase(${series('joiner_remote_write_failed_samples_total')}[$__rate_interval]))`,
            legend: 'samples not written',
          },
        ],
      },
    ],
  },
];
