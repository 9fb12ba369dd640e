import {
  METRIC_GRAPHS,
  METRIC_KEYS,
  METRICS,
  type MetricKey,
} from '../../../shared/contract/metrics.ts';
import { CLUSTER_DIMENSION, METRICS_NAMESPACE } from '../../../shared/contract.ts';
import { code, heading, pageOf, table } from './text.ts';

const MEANINGS: Readonly<Record<MetricKey, string>> = {
  pendingPods: 'pods that wait for a node',
  pendingAge: 'the age of pods that wait; the maximum is the oldest one’s',
  observeDuration: 'reading the cluster and the cloud',
  schedulingDuration: 'planning',
  lag: 'from a wake-up to its handling',
  nodeClaimsCreated: 'NodeClaims written',
  nodesCreated: 'nodes that have registered',
  nodeClaimsTerminated: 'NodeClaims that are gone with their instances',
  nodeClaimsDisrupted: 'NodeClaims that Joiner deleted, for whatever reason',
  launchAttempts: 'NodeClaims, as often as their launch was tried',
  launchFailures: 'of these, NodeClaims that got no instance',
  throttled: 'calls that AWS throttled',
  cloudErrors: 'calls of AWS that failed',
  unavailableOfferings: 'offerings that are not asked for at present (`joiner bars`)',
  cost: 'USD an hour of all NodePools’ nodes, with NodeOverlays',
  nodes: 'nodes of NodePools',
  cpuUtilization: 'requested CPU, in percent of allocatable',
  memoryUtilization: 'requested memory, in percent of allocatable',
  disruptionDecisions: 'decisions to end or replace a node',
  disruptionFailures: 'of these, replacements that were given up',
  evictions: 'evictions asked for',
  driftedNodes: 'nodes that have drifted and are still there',
  heldBack: '1 while a pause or an active Karpenter stops launches',
  backedOffPods: 'pods for which launches are backed off',
  interruptionMessages: 'interruption messages received',
  interruptionRefused: 'of these, messages that were not acted on',
  unhealthyDisrupted: 'nodes that were repaired',
  unhealthyInstances: 'of these, nodes whose instance failed EC2’s status checks',
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
    `CloudWatch metrics in the namespace ${code(METRICS_NAMESPACE)}, with one dimension, ${code(CLUSTER_DIMENSION)}. A name`,
    'that begins with `karpenter_` means what it means in Karpenter, for the cluster as a whole: detail by NodePool, instance',
    'type and reason is in the log of decisions, which the dashboard queries. Each name is one series, so that a cluster',
    `costs ${rows.length} of them ([cost](../cost.md)).`,
    '',
    ...table(['metric', 'counts', 'unit', 'statistic', 'graph of the dashboard'], rows),
  ]);
}
