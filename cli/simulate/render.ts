import { age } from '../../shared/core/duration.ts';
import type { ClaimReport, FinalState } from '../../shared/sim/report.ts';
import { priceText } from '../price-text.ts';
import type { PodCounts } from './pod-counts.ts';
import { namesAllReasons, pendingReasons, summaryText } from './summary.ts';
import { table } from './table.ts';

/** What is shown of a final state, and how much of it. */
export interface View {
  /** Where prices come from. */
  readonly source: string;
  readonly pods: PodCounts;
  /** Every line, also of long lists. */
  readonly verbose: boolean;
}

/** Lines shown of a list in one section. */
const LINES_MAX = 60;

/** The first lines of a list that is too long to read, and how many are left out. */
function cut(text: string, { verbose }: View, header = 1): string {
  const lines = text.split('\n');
  const more = lines.length - header - LINES_MAX;
  if (verbose || more <= 0) return text;
  const shown = lines.slice(0, header + LINES_MAX);
  return [...shown, `  … ${more.toLocaleString('en')} more, -v shows them`].join('\n');
}

function readyOf(claim: ClaimReport): string {
  return claim.conditions.find((each) => each.type === 'Ready')?.status ?? 'Unknown';
}

/** The columns of `kubectl get nodeclaims`. */
export function nodeClaimTable(claims: readonly ClaimReport[], indent = ''): string {
  const rows = claims.map((claim) => [
    claim.name,
    claim.instanceType ?? '',
    claim.capacityType ?? '',
    claim.zone ?? '',
    claim.nodeName ?? '',
    readyOf(claim),
    age(claim.ageSeconds),
  ]);
  const header = ['NAME', 'TYPE', 'CAPACITY', 'ZONE', 'NODE', 'READY', 'AGE'];
  return table(header, rows, indent);
}

function section(title: string, body: string): string {
  return body === '' ? '' : `${title}\n${body}\n`;
}

type Entry = FinalState['timeline'][number];

function isOfPod({ kind, object }: Entry): boolean {
  return ['FailedScheduling', 'evicted', 'deleted'].includes(kind) && object.startsWith('Pod/');
}

/** Entries that say the same of several pods at one moment are one line. */
function folded(timeline: readonly Entry[]): readonly (readonly [Entry, number])[] {
  const byText = Map.groupBy(timeline, (entry) => {
    const { at, kind, object, message } = entry;
    return isOfPod(entry)
      ? JSON.stringify([at, kind, message])
      : JSON.stringify([at, kind, message, object]);
  });
  return [...byText.values()].flatMap((list) => {
    const [first] = list;
    return first === undefined ? [] : [[first, list.length - 1] as const];
  });
}

/** Letters of a message that a line of the timeline has room for. */
const MESSAGE_MAX = 140;

function shortened(text: string, { verbose }: View): string {
  return verbose || text.length <= MESSAGE_MAX ? text : `${text.slice(0, MESSAGE_MAX - 1)}…`;
}

function timelineText(state: FinalState, view: View): string {
  const rows = folded(state.timeline).map(([entry, more]) => [
    age(Math.floor(entry.at)),
    entry.kind,
    more === 0 ? entry.object : `${entry.object} and ${more} more`,
    `${priceText(entry.pricePerHour, 2)}/h`,
    shortened(entry.message, view),
  ]);
  return table(['AT', 'EVENT', 'OBJECT', 'COST', 'WHAT'], rows, '  ');
}

/** Every reason why pods wait, where the summary has no room for all. */
function podText(state: FinalState): string {
  if (namesAllReasons(state)) return '';
  return pendingReasons(state)
    .map((reason) => `  ${reason}`)
    .join('\n');
}

function whyText(state: FinalState): string {
  const created = state.decisions.filter((each) => each.action === 'create');
  if (created.length === 0) return '';
  const lines = created.map(({ object, message }) => `  ${object}: ${message}`);
  return [
    ...lines,
    '  These are plans. kube-scheduler binds the pods, on any node that has room: PODS above says where they are.',
  ].join('\n');
}

function overlayText({ nodeOverlays }: FinalState): string {
  if (nodeOverlays.length === 0) return '';
  const rows = nodeOverlays.map(({ name, ready, reason, message, remark }) => [
    name,
    ready ? 'True' : 'False',
    ready ? remark : `${reason}: ${message}`,
  ]);
  return table(['NAME', 'READY', 'WHY'], rows, '  ');
}

function poolText({ nodePools }: FinalState): string {
  const rows = nodePools.map(({ name, nodes, ready, resources }) => [
    name,
    String(nodes),
    ready ? 'True' : 'False',
    resources['cpu'] ?? '0',
    resources['memory'] ?? '0',
  ]);
  return table(['NAME', 'NODES', 'READY', 'CPU', 'MEMORY'], rows, '  ');
}

/** Pods that the node was bought for, and those that come with every node. */
function podCount({ pods, daemonSetPods }: ClaimReport): string {
  const own = String(pods.length - daemonSetPods);
  return daemonSetPods === 0 ? own : `${own} (and ${daemonSetPods} of DaemonSets)`;
}

function costText({ nodeClaims }: FinalState): string {
  const rows = nodeClaims.map((claim) => [
    claim.name,
    claim.instanceType ?? '-',
    priceText(claim.pricePerHour),
    priceText(claim.adjustedPricePerHour),
    claim.overlays.join(', '),
    podCount(claim),
  ]);
  const header = ['NODECLAIM', 'TYPE', 'PRICE/H', 'ADJUSTED', 'OVERLAYS', 'PODS'];
  return rows.length === 0 ? '' : table(header, rows, '  ');
}

/** The final state for people: what it comes to first, then how that came about. */
export function renderFinalState(state: FinalState, view: View): string {
  const rejected = Object.entries(state.rejected).map(
    ([step, reasons]) => `  ${step}: ${reasons.join('; ')}`,
  );
  const { nodeClaims } = state;
  return [
    `Simulated ${state.start} to ${state.end} in ${state.region}, seed ${state.seed}`,
    `${view.source.split(' (')[0] ?? view.source}\n`,
    section('Summary', summaryText(state, view.pods)),
    section('Not done', rejected.join('\n')),
    section(
      'NodeClaims',
      nodeClaims.length === 0 ? '  none' : cut(nodeClaimTable(nodeClaims, '  '), view),
    ),
    section('Cost', cut(costText(state), view)),
    section('NodePools', poolText(state)),
    section('NodeOverlays', overlayText(state)),
    section('Pods', cut(podText(state), view, 0)),
    section('Why', cut(whyText(state), view, 0)),
    section('Timeline', cut(timelineText(state, view), view)),
  ]
    .filter((each) => each !== '')
    .join('\n');
}
