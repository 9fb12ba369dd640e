/** What the rendering of the dashboard shows: three hours of a cluster that does not exist. */
import type { Steps } from '../../../cli/page/model/model.ts';

/** Minutes that the sample is long. */
export const SPAN_MINUTES = 180;

/** Values in single minutes, and none between. */
function bursts(...each: readonly (readonly [minute: number, value: number])[]): Steps {
  return [
    [0, 0],
    ...each.flatMap(([minute, value]) => [[minute, value] as const, [minute + 1, 0] as const]),
  ];
}

/** A value that changes each minute by this rule. */
function each(rule: (minute: number) => number): Steps {
  return Array.from({ length: SPAN_MINUTES }, (_, minute) => [minute, rule(minute)] as const);
}

const NONE: Steps = [[0, 0]];

/** A rollout at minute 40, an end of empty nodes at 95, a spot interruption at 110, a move at 150. */
const SERIES: Readonly<Record<string, Steps>> = {
  'pending pods': [...bursts([40, 62], [41, 24], [42, 6]), ...bursts([110, 9]).slice(1)],
  'oldest pending pod': [...bursts([40, 20], [41, 60], [42, 75]), ...bursts([110, 40]).slice(1)],
  'nodes of NodePools': [
    [0, 1.92],
    [41, 3.14],
    [95, 2.71],
    [150, 2.31],
  ],
  nodes: [
    [0, 12],
    [41, 19],
    [95, 16],
    [110, 15],
    [111, 16],
    [150, 14],
  ],
  CPU: [
    [0, 78],
    [41, 84],
    [95, 88],
    [150, 91],
  ],
  memory: [
    [0, 61],
    [41, 66],
    [95, 72],
    [150, 79],
  ],
  'USD an hour': [
    [0, 0.017],
    [60, 0.021],
    [120, 0.018],
  ],
  'NodeClaims created': bursts([40, 5], [41, 2], [110, 1], [145, 1]),
  'nodes registered': bursts([41, 5], [42, 2], [111, 1], [146, 1]),
  'instances terminated': bursts([95, 3], [112, 1], [150, 3]),
  'NodeClaims deleted': bursts([94, 3], [110, 1], [149, 3]),
  'launches held back (1 = yes)': NONE,
  'pods in launch back-off': NONE,
  'launch attempts': bursts([40, 6], [41, 2], [110, 1], [145, 1]),
  'failed launches': bursts([40, 1]),
  'throttled AWS calls': bursts([40, 2]),
  'failed AWS calls': bursts([40, 1]),
  'unavailable offerings': [
    [0, 0],
    [40, 1],
    [46, 0],
  ],
  'launches that failed, %': NONE,
  'decisions to delete or replace a node': bursts([94, 3], [145, 3]),
  'replacements cancelled': NONE,
  evictions: bursts([110, 9], [149, 14]),
  'drifted nodes': NONE,
  'interruption messages': bursts([110, 1]),
  'rejected messages': NONE,
  'nodes repaired': NONE,
  'failed status checks of EC2': NONE,
  'oldest message': bursts([110, 2]),
  'messages that failed': NONE,
  'provision: runs without an error': each((minute) => (minute % 7 === 0 ? 2 : 1)),
  'lifecycle: runs without an error': each((minute) => (minute % 11 === 0 ? 2 : 1)),
  'read the cluster and AWS': each((minute) => 0.4 + (minute % 5) / 20),
  plan: [...bursts([40, 0.6], [41, 0.3]), ...bursts([110, 0.2]).slice(1)],
  'wake-up to handling': each((minute) => 0.5 + (minute % 3) / 10),
};

/** What a line shows; undefined: there is no sample of it. */
export function sampleOf(label: string): Steps | undefined {
  return /: (errors|throttles)$/.test(label) ? NONE : SERIES[label];
}

/** Rows of a table, the first being its head. */
type Rows = readonly (readonly string[])[];

const TABLES: Readonly<Record<string, Rows>> = {
  'Pods that got no node, by reason': [
    ['reason', 'times', 'last'],
    ['limits-reached', '3', 'NodePool limits (0 of 64 cpu left)'],
  ],
  'Launches by NodePool and capacity type': [
    ['nodepool', 'capacity_type', 'times'],
    ['default', 'spot', '7'],
    ['default', 'on-demand', '2'],
  ],
  'Failed launches, by reason': [
    ['reason', 'times', 'last'],
    ['InsufficientInstanceCapacity', '1', 'c7g.xlarge spot in us-east-1a'],
  ],
  'Terminations by NodePool and capacity type': [
    ['nodepool', 'capacity_type', 'times'],
    ['default', 'spot', '6'],
    ['default', 'on-demand', '1'],
  ],
  'What was not done, by reason': [
    ['useCase', 'reason', 'times', 'last'],
    ['disrupt', 'budget-blocks', '2', 'a disruption budget allows no further node'],
  ],
  Decisions: [
    ['time', 'useCase', 'action', 'object', 'text'],
    ['11:29', 'disrupt', 'delete', 'NodeClaim/default-7k2p', 'its pods cost less on other nodes'],
    ['10:50', 'interrupt', 'delete', 'NodeClaim/default-x9d4', 'spot interruption warning'],
    ['10:34', 'disrupt', 'delete', 'NodeClaim/default-m3qz', 'the node is empty'],
    ['09:40', 'provision', 'launch', 'NodeClaim/default-b8wn', 'm7g.xlarge spot for 12 pods'],
  ],
};

/** What a table shows; undefined: there is no sample of it. */
export function sampleRows(title: string): Rows | undefined {
  return TABLES[title];
}
