/**
 * What Prometheus is written beside CloudWatch's metrics: Karpenter's names, each with the labels
 * that Karpenter has. Nothing here is a series of CloudWatch, so it costs nothing there.
 */

/** How values become series: they are summed, the last one stays, or they are distributed. */
export type SeriesKind = 'counter' | 'gauge' | 'histogram' | 'summary';

/** Measured by use cases with labels, for Prometheus alone. */
export const DETAILS = {
  karpenter_nodes_terminated_total: 'counter',
  karpenter_nodes_termination_duration_seconds: 'summary',
  karpenter_nodes_lifetime_duration_seconds: 'histogram',
  karpenter_nodeclaims_termination_duration_seconds: 'histogram',
  /** USD an hour of one NodePool, with overlays. */
  karpenter_nodepools_cost_total: 'gauge',
} as const satisfies Readonly<Record<`karpenter_${string}`, SeriesKind>>;

export type DetailMetric = keyof typeof DETAILS;

/** A detail without its prefix, as use cases have it. */
export type DetailName = DetailMetric extends `karpenter_${infer Short}` ? Short : never;

/** Of the metrics that CloudWatch has, those whose values are distributed. */
const DURATIONS: Readonly<Record<string, SeriesKind>> = {
  karpenter_scheduler_scheduling_duration_seconds: 'histogram',
  joiner_observe_duration_seconds: 'histogram',
  joiner_wake_lag_seconds: 'histogram',
};

/** From Lambda's report of each run; the names are those of Karpenter's controllers. */
export const RUNS = {
  total: 'controller_runtime_reconcile_total',
  errors: 'controller_runtime_reconcile_errors_total',
  duration: 'controller_runtime_reconcile_time_seconds',
} as const;

/**
 * As client-go's queues of objects call it; `name` is the function that takes from the queue. Joiner
 * has one queue: that of interruptions.
 */
export const QUEUE_DEPTH = 'workqueue_depth';

const OTHERS: Readonly<Record<string, SeriesKind>> = {
  [RUNS.total]: 'counter',
  [RUNS.errors]: 'counter',
  [RUNS.duration]: 'histogram',
  karpenter_pods_startup_duration_seconds: 'summary',
  karpenter_pods_bound_duration_seconds: 'histogram',
  joiner_remote_write_failed_samples_total: 'counter',
};

const KINDS: ReadonlyMap<string, SeriesKind> = new Map(
  Object.entries({ ...DURATIONS, ...OTHERS, ...DETAILS }),
);

/** Undefined: nothing is called so. Names of counters end in `_total`, but for a price. */
export function seriesKind(name: string): SeriesKind | undefined {
  const own = KINDS.get(name);
  if (own !== undefined) return own;
  if (!/^(karpenter|joiner)_[a-z0-9_]+$/.test(name)) return undefined;
  return name.endsWith('_total') ? 'counter' : 'gauge';
}

/**
 * Measured for CloudWatch as one value of the whole cluster. For Prometheus the cluster itself is
 * looked at, by node, pod or resource.
 */
const WHOLE: ReadonlySet<string> = new Set([
  'karpenter_cluster_state_node_count',
  'karpenter_cluster_utilization_percent_cpu',
  'karpenter_cluster_utilization_percent_memory',
  'karpenter_pods_provisioning_unbound_time_seconds',
]);

/** Karpenter's label of what Joiner measures for one reason alone. */
const DRIFTED = 'karpenter_voluntary_disruption_eligible_nodes';
const COST = 'karpenter_nodepools_cost_total';

/** A measurement as Prometheus has it; undefined: it has it from elsewhere, with more labels. */
export function forPrometheus(measurement: Measurement): Measurement | undefined {
  const [name, labels, value] = measurement;
  if (WHOLE.has(name)) return undefined;
  // Of all NodePools together: their costs come one by one as well.
  if (name === COST && labels['nodepool'] === undefined) return undefined;
  return name === DRIFTED ? [name, { reason: 'drifted', ...labels }, value] : measurement;
}

/** A name, its labels, and a value: a line of the log holds those of one invocation. */
export type Measurement = readonly [
  name: string,
  labels: Readonly<Record<string, string>>,
  value: number,
];

/** The value of `kind` in such a line, by which the subscription of the log knows it. */
export const MEASUREMENTS_LINE = 'joiner-measurements';

/** Lines that the function `metrics` is given: measurements, and Lambda's reports of runs. */
export const MEASUREMENTS_FILTER = `{ ($.kind = "${MEASUREMENTS_LINE}") || ($.type = "platform.report") }`;
