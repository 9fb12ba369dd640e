/** What CloudWatch adds to a value: durations, shares, or plain numbers. */
type Unit = 'Count' | 'Seconds' | 'Percent';

/** How values of a minute become one: events are summed, levels have a maximum, durations a p95. */
type Statistic = 'sum' | 'maximum' | 'p95';

interface MetricDefinition {
  /** Karpenter's name where it has the metric; what it has no name for begins with `joiner_`. */
  readonly name: `karpenter_${string}` | `joiner_${string}`;
  readonly unit: Unit;
  readonly statistic: Statistic;
  /** The graph of the dashboard that shows it; null: alarms alone read it. */
  readonly graph: keyof typeof METRIC_GRAPHS | null;
}

/** Graphs of the dashboard by the metrics that they show, with their titles. */
export const METRIC_GRAPHS = {
  pending: 'Pending pods',
  pendingAge: 'Oldest pending pod (s)',
  phases: 'Time to read and to plan, p95 (s)',
  lag: 'Reaction to changes, p95 (s)',
  launches: 'Launches and terminations',
  capacity: 'Insufficient capacity and throttling',
  cost: 'USD an hour',
  nodes: 'Nodes',
  utilization: 'Requested CPU and memory (%)',
  disruption: 'Disruption',
  heldBack: 'Launches held back',
  interruption: 'Interruption messages and unhealthy nodes',
} as const satisfies Readonly<Record<string, string>>;

export type MetricGraph = keyof typeof METRIC_GRAPHS;

/**
 * Every metric, at most 35 series a cluster. A name that is not here does not compile, nor does a
 * metric without a unit, a statistic and a graph. Detail by pool, type or reason is in the log.
 */
export const METRICS = {
  pendingPods: {
    name: 'karpenter_scheduler_unschedulable_pods_count',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'pending',
  },
  /** The maximum is the oldest pod's. */
  pendingAge: {
    name: 'karpenter_pods_provisioning_unbound_time_seconds',
    unit: 'Seconds',
    statistic: 'maximum',
    graph: 'pendingAge',
  },
  observeDuration: {
    name: 'joiner_observe_duration_seconds',
    unit: 'Seconds',
    statistic: 'p95',
    graph: 'phases',
  },
  schedulingDuration: {
    name: 'karpenter_scheduler_scheduling_duration_seconds',
    unit: 'Seconds',
    statistic: 'p95',
    graph: 'phases',
  },
  /** Between a wake-up and its handling. */
  lag: { name: 'joiner_wake_lag_seconds', unit: 'Seconds', statistic: 'p95', graph: 'lag' },
  nodeClaimsCreated: {
    name: 'karpenter_nodeclaims_created_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'launches',
  },
  /** Nodes that have registered. */
  nodesCreated: {
    name: 'karpenter_nodes_created_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'launches',
  },
  nodeClaimsTerminated: {
    name: 'karpenter_nodeclaims_terminated_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'launches',
  },
  nodeClaimsDisrupted: {
    name: 'karpenter_nodeclaims_disrupted_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'launches',
  },
  /** NodeClaims, as often as they were tried. */
  launchAttempts: {
    name: 'joiner_launch_attempts_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'capacity',
  },
  /** Of those, NodeClaims that got no instance; the offerings that were short are in the log. */
  launchFailures: {
    name: 'karpenter_cloudprovider_instance_launch_failures_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'capacity',
  },
  throttled: {
    name: 'joiner_throttled_calls_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'capacity',
  },
  cloudErrors: {
    name: 'karpenter_cloudprovider_errors_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'capacity',
  },
  unavailableOfferings: {
    name: 'joiner_unavailable_offerings',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'capacity',
  },
  /** USD an hour with overlays, all NodePools together. */
  cost: {
    name: 'karpenter_nodepools_cost_total',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'cost',
  },
  nodes: {
    name: 'karpenter_cluster_state_node_count',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'nodes',
  },
  cpuUtilization: {
    name: 'karpenter_cluster_utilization_percent_cpu',
    unit: 'Percent',
    statistic: 'maximum',
    graph: 'utilization',
  },
  memoryUtilization: {
    name: 'karpenter_cluster_utilization_percent_memory',
    unit: 'Percent',
    statistic: 'maximum',
    graph: 'utilization',
  },
  /** Moves, ends of empty nodes and replacements that were decided on. */
  disruptionDecisions: {
    name: 'karpenter_voluntary_disruption_decisions_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'disruption',
  },
  /** Of those, replacements that were given up. */
  disruptionFailures: {
    name: 'karpenter_voluntary_disruption_queue_failures_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'disruption',
  },
  evictions: {
    name: 'karpenter_pods_eviction_requests_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'disruption',
  },
  /** Nodes that have drifted and are still there. */
  driftedNodes: {
    name: 'karpenter_voluntary_disruption_eligible_nodes',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'disruption',
  },
  /** 1 while a pause or an active Karpenter stops launches. */
  heldBack: { name: 'joiner_held_back', unit: 'Count', statistic: 'maximum', graph: 'heldBack' },
  /** Pods in launch back-off: nodes that were launched for them did not run them. */
  backedOffPods: {
    name: 'joiner_pods_backed_off',
    unit: 'Count',
    statistic: 'maximum',
    graph: 'heldBack',
  },
  interruptionMessages: {
    name: 'karpenter_interruption_received_messages_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'interruption',
  },
  interruptionRefused: {
    name: 'joiner_interruption_refused_messages_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'interruption',
  },
  /** Nodes that ended since a condition of theirs showed a fault. */
  unhealthyDisrupted: {
    name: 'karpenter_nodeclaims_unhealthy_disrupted_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'interruption',
  },
  /** Nodes that ended since their instance failed EC2's status checks; these are not in the other. */
  unhealthyInstances: {
    name: 'karpenter_interruption_instance_status_unhealthy_total',
    unit: 'Count',
    statistic: 'sum',
    graph: 'interruption',
  },
  /** Since the prices in use were read. Alarms read it; nobody looks at it. */
  priceAge: {
    name: 'joiner_price_age_seconds',
    unit: 'Seconds',
    statistic: 'maximum',
    graph: null,
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricKey = keyof typeof METRICS;

export const METRIC_KEYS: readonly MetricKey[] = Object.keys(METRICS).filter(
  (key): key is MetricKey => key in METRICS,
);

export type MetricName = (typeof METRICS)[MetricKey]['name'];

/** A metric's name without the prefix `karpenter_` or `joiner_`, as use cases have it. */
export type ShortMetricName<Name extends string = MetricName> =
  Name extends `karpenter_${infer Short}`
    ? Short
    : Name extends `joiner_${infer Short}`
      ? Short
      : never;
