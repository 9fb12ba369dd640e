import type { MetricGraph, MetricKey } from '../../shared/contract/metrics.ts';
import { pageUrl } from '../../shared/contract/pages.ts';

/** What the lines of graphs are called. */
export const METRIC_LABELS: Readonly<Record<MetricKey, string>> = {
  pendingPods: 'pending pods',
  pendingAge: 'oldest pending pod',
  observeDuration: 'read the cluster and AWS',
  schedulingDuration: 'plan',
  lag: 'wake-up to handling',
  nodeClaimsCreated: 'NodeClaims created',
  nodesCreated: 'nodes registered',
  nodeClaimsTerminated: 'instances terminated',
  nodeClaimsDisrupted: 'NodeClaims deleted',
  launchAttempts: 'launch attempts',
  launchFailures: 'failed launches',
  throttled: 'throttled AWS calls',
  cloudErrors: 'failed AWS calls',
  unavailableOfferings: 'unavailable offerings',
  cost: 'nodes of NodePools',
  nodes: 'nodes',
  cpuUtilization: 'CPU',
  memoryUtilization: 'memory',
  disruptionDecisions: 'decisions to delete or replace a node',
  disruptionFailures: 'replacements cancelled',
  evictions: 'evictions',
  driftedNodes: 'drifted nodes',
  heldBack: 'launches held back (1 = yes)',
  backedOffPods: 'pods in launch back-off',
  interruptionMessages: 'interruption messages',
  interruptionRefused: 'rejected messages',
  unhealthyDisrupted: 'nodes repaired',
  unhealthyInstances: 'failed status checks of EC2',
  priceAge: 'age of prices',
};

/** What the vertical axis of a graph counts. */
export const AXES: Readonly<Record<MetricGraph, string>> = {
  pending: 'pods',
  pendingAge: 'seconds',
  phases: 'seconds',
  lag: 'seconds',
  launches: 'nodes a minute',
  capacity: 'a minute',
  cost: 'USD an hour',
  nodes: 'nodes',
  utilization: 'percent',
  disruption: 'a minute',
  heldBack: 'pods',
  interruption: 'a minute',
};

/** A row's question, and where the answer to a bad one is. */
export interface Heading {
  readonly question: string;
  /** Markdown. */
  readonly help: string;
}

/** Where a name of the page of runbooks leads: to that of the alarm. */
function runbook(alarm: string, section = alarm.toLowerCase()): string {
  return `[${alarm}](${pageUrl(`operate/alarms.md#${section}`)})`;
}

const PAGE = `[Runbooks](${pageUrl('operate/alarms.md')})`;

/** Rows in the order of the questions that people ask. */
export const HEADINGS = {
  alarms: {
    question: 'Is anything wrong?',
    help: `Each alarm’s description says what to do. \`joiner doctor\` checks the stack. ${PAGE}.`,
  },
  pods: {
    question: 'Do pods get nodes?',
    help: `\`joiner explain pod NAME\` says why a pod is pending. Runbook: ${runbook('OldestPending')}.`,
  },
  money: {
    question: 'What does it cost?',
    help: '`joiner top` lists nodes with their cost, `joiner advise` what would make the cluster cheaper.',
  },
  launches: {
    question: 'Does EC2 launch what is asked for?',
    help: `\`joiner bars\` lists unavailable offerings. Runbook: ${runbook('LaunchFailures')}.`,
  },
  disruption: {
    question: 'Which nodes are replaced or removed?',
    help: '`joiner explain node NAME` says why a node is kept. `joiner pause disrupt --for 1h` stops disruptions.',
  },
  interruption: {
    question: 'Are interruptions handled?',
    help: `Runbooks: ${runbook('OldestMessage', 'oldestmessage-and-failedinvocations')}, ${runbook('DeadLetters')}. \`joiner dead-letters\` lists messages that failed.`,
  },
  shadow: {
    question: 'What would Joiner do?',
    help: '`joiner shadow report --cluster NAME` shows the plans beside what Karpenter did.',
  },
  functions: {
    question: 'Do the functions run?',
    help: `\`joiner doctor\` checks the stack. Runbooks: ${runbook('NoTick', 'notick-of-provision-lifecycle-or-watch')}, ${runbook('Errors')}.`,
  },
  decisions: {
    question: 'What was decided, and why?',
    help: `\`joiner decisions\` selects by pod, node and NodePool. [Reasons](${pageUrl('reasons.md')}) explains each.`,
  },
} as const satisfies Readonly<Record<string, Heading>>;
