import { DEPLOYMENT, SERIES } from '../../../cli/cost/deployment.ts';
import {
  METRIC_GRAPHS,
  METRIC_KEYS,
  METRICS,
  type MetricKey,
} from '../../../shared/contract/metrics.ts';
import { CLUSTER_DIMENSION, METRICS_NAMESPACE } from '../../../shared/contract.ts';
import { code, heading, pageOf, table } from './text.ts';

const MEANINGS: Readonly<Record<MetricKey, string>> = {
  pendingPods: 'pending pods',
  pendingAge: 'the age of pending pods; the maximum is the age of the oldest one',
  observeDuration: 'the time to read the cluster and AWS',
  schedulingDuration: 'the time to make a plan',
  lag: 'the time from a wake-up to its handling',
  nodeClaimsCreated: 'NodeClaims written',
  nodesCreated: 'nodes that have registered',
  nodeClaimsTerminated: 'NodeClaims deleted after their instances were terminated',
  nodeClaimsDisrupted: 'NodeClaims that Joiner deleted, for any reason',
  launchAttempts: 'launch attempts: one for each NodeClaim and attempt',
  launchFailures: 'of these, attempts that launched no instance',
  throttled: 'calls that AWS throttled',
  cloudErrors: 'AWS calls that failed',
  unavailableOfferings: 'unavailable offerings (`joiner bars`)',
  cost: 'USD an hour of all NodePools’ nodes, with NodeOverlays',
  nodes: 'nodes of the cluster',
  cpuUtilization: 'requested CPU, in percent of allocatable',
  memoryUtilization: 'requested memory, in percent of allocatable',
  disruptionDecisions: 'decisions to delete or replace a node',
  disruptionFailures: 'of these, replacements that Joiner cancelled',
  evictions: 'eviction requests',
  driftedNodes: 'existing nodes that have drifted',
  heldBack: '1 while a pause or an active Karpenter stops launches',
  backedOffPods: 'pods in launch back-off',
  interruptionMessages:
    'valid interruption messages received, also those about other clusters’ instances',
  interruptionRefused:
    'messages that Joiner rejected: malformed, too large, out of date, of another account or region, contradicted or not confirmed by EC2',
  unhealthyDisrupted: 'nodes that were repaired because of a condition of the Node',
  unhealthyInstances: 'nodes that were repaired because their instance failed EC2’s status checks',
  priceAge: 'the age of the prices in use, in seconds',
};

/** docs/reference/metrics.md. */
export function metricsPage(): string {
  const rows = METRIC_KEYS.map((key) => {
    const { name, unit, statistic, graph } = METRICS[key];
    const shown = graph === null ? 'none: alarms read it' : METRIC_GRAPHS[graph];
    return [code(name), MEANINGS[key], unit, statistic, shown];
  });
  return pageOf([
    ...heading('Metrics', 'shared/contract/metrics.ts'),
    `CloudWatch metrics in the namespace ${code(METRICS_NAMESPACE)}, with one dimension, ${code(CLUSTER_DIMENSION)}. A metric whose`,
    'name begins with `karpenter_` has the same meaning as in Karpenter, but for the whole cluster. There is one exception:',
    `${code(METRICS.driftedNodes.name)} counts only drifted nodes. Details by NodePool, instance type and`,
    'reason are in the decision records in the log, which the dashboard queries.',
    '',
    `Each of the ${rows.length} metrics in the table is one series. ${DEPLOYMENT.metricFilters} further series measure the memory that functions use:`,
    `${code('joiner_FUNCTION_memory_used_megabytes_CLUSTER')}, from the functions’ logs. Together a cluster has ${SERIES} series ([cost](../cost.md)).`,
    '',
    ...table(['metric', 'counts', 'unit', 'statistic', 'graph of the dashboard'], rows),
  ]);
}
