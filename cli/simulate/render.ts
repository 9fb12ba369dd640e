import type { ClaimReport, FinalState } from '../../shared/sim/report.ts';
import { age, dollars, table } from './table.ts';

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

/** Entries that say the same of several objects at one moment are one line. */
function folded(timeline: readonly Entry[]): readonly (readonly [Entry, number])[] {
  const byText = Map.groupBy(timeline, ({ at, kind, object, message }) =>
    kind === 'FailedScheduling' || kind === 'evicted'
      ? JSON.stringify([at, kind, message])
      : JSON.stringify([at, kind, message, object]),
  );
  return [...byText.values()].flatMap((list) => {
    const [first] = list;
    return first === undefined ? [] : [[first, list.length - 1] as const];
  });
}

function timelineText(state: FinalState): string {
  const rows = folded(state.timeline).map(([entry, more]) => [
    age(Math.floor(entry.at)),
    entry.kind,
    more === 0 ? entry.object : `${entry.object} and ${more} more`,
    entry.message,
    `$${entry.pricePerHour.toFixed(2)}/h`,
  ]);
  return table(['AT', 'EVENT', 'OBJECT', 'WHAT', 'COST'], rows, '  ');
}

function podText({ pods }: FinalState): string {
  const { running, succeeded, pending } = pods;
  const total = `  ${running} running, ${succeeded} succeeded, ${pending.length} pending`;
  const byReason = Map.groupBy(pods.pending, (pod) => pod.reason);
  const rows = [...byReason].map(([reason, list]) => {
    const [first] = list;
    const more = list.length > 1 ? ` and ${list.length - 1} more` : '';
    return `  pending: ${first?.name ?? ''}${more}\n    ${reason}`;
  });
  return [total, ...rows].join('\n');
}

function whyText(state: FinalState): string {
  const created = state.decisions.filter((each) => each.action === 'create');
  return created.map(({ object, message }) => `  ${object}: ${message}`).join('\n');
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

function costText({ nodeClaims, totals }: FinalState): string {
  const rows = nodeClaims.map((claim) => [
    claim.name,
    claim.instanceType ?? '-',
    dollars(claim.pricePerHour),
    dollars(claim.adjustedPricePerHour),
    claim.overlays.join(', '),
    podCount(claim),
  ]);
  const header = ['NODECLAIM', 'TYPE', 'PRICE/H', 'ADJUSTED', 'OVERLAYS', 'PODS'];
  const lines = rows.length === 0 ? [] : [table(header, rows, '  ')];
  const counts = `${totals.launched} launched, ${totals.terminated} terminated`;
  return [
    ...lines,
    `  now $${totals.pricePerHour.toFixed(4)}/h; whole run $${totals.cost.toFixed(4)}` +
      ` (${counts}, ${totals.evictions} evictions)`,
  ].join('\n');
}

/** The final state for people. */
export function renderFinalState(state: FinalState, source: string): string {
  const rejected = Object.entries(state.rejected).map(
    ([step, reasons]) => `  ${step}: ${reasons.join('; ')}`,
  );
  return [
    `Simulated ${state.start} to ${state.end} in ${state.region}, seed ${state.seed}`,
    `${source.split(' (')[0] ?? source}\n`,
    section('Timeline', timelineText(state)),
    section(
      'NodeClaims',
      state.nodeClaims.length === 0 ? '  none' : nodeClaimTable(state.nodeClaims, '  '),
    ),
    section('NodePools', poolText(state)),
    section('NodeOverlays', overlayText(state)),
    section('Pods', podText(state)),
    section('Why', whyText(state)),
    section('Not done', rejected.join('\n')),
    section('Cost', costText(state)),
  ]
    .filter((each) => each !== '')
    .join('\n');
}
