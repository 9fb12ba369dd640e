import type { FinalState } from '../../shared/sim/report.ts';
import { priceText } from '../price-text.ts';
import { counted } from '../words.ts';
import type { PodCount, PodCounts } from './pod-counts.ts';

/** Kinds of nodes told in one line. */
const KINDS_MAX = 6;
/** Reasons of pending pods told before the details. */
const REASONS_MAX = 3;

/** `5: 3 m7i.large spot, 2 c6a.xlarge on-demand`, the most frequent first. */
function tally(names: readonly string[]): string {
  if (names.length === 0) return '0';
  const groups = [...Map.groupBy(names, (name) => name)]
    .map(([name, list]) => ({ name, count: list.length }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const rest = groups.slice(KINDS_MAX).reduce((sum, { count }) => sum + count, 0);
  const told = groups.slice(0, KINDS_MAX).map(({ name, count }) => `${count} ${name}`);
  return `${names.length}: ${[...told, ...(rest > 0 ? [`${rest} others`] : [])].join(', ')}`;
}

const LAUNCHED_ELSEWHERE = / in \S+$/;

function launchedText({ timeline, totals }: FinalState): string {
  const kinds = timeline
    .filter(({ kind }) => kind === 'launched')
    .map(({ message }) => message.replace(LAUNCHED_ELSEWHERE, ''));
  const more = totals.launched - kinds.length;
  const unnoticed = more > 0 ? `; ${more} more whose NodeClaim went before it said so` : '';
  const never = timeline.filter(
    ({ kind, message }) => kind === 'deleted' && message === 'not launched',
  ).length;
  const failed = never > 0 ? `; ${never} more ${claims(never)} never had an instance` : '';
  return `${tally(kinds)}${unnoticed}${failed}`;
}

function claims(count: number): string {
  return count === 1 ? 'NodeClaim' : 'NodeClaims';
}

const NO_INSTANCE = 'without an instance';

/** Nodes of the files have their instances somewhere else. */
function costText({ nodeClaims, totals: { pricePerHour, cost } }: FinalState): string {
  const free = nodeClaims.filter(
    ({ nodeName, instanceType }) => nodeName !== null && instanceType === null,
  ).length;
  const left = free === 0 ? '' : `; not in it: ${counted(free, 'node')} ${NO_INSTANCE} here`;
  return `${priceText(pricePerHour)}/h now, ${priceText(cost)} for the whole run${left}`;
}

function nodesText({ nodeClaims, nodes }: FinalState): string {
  const ours = nodeClaims.filter((claim) => claim.nodeName !== null);
  const kinds = ours.map(({ instanceType, capacityType }) =>
    instanceType === null ? NO_INSTANCE : `${instanceType} ${capacityType}`,
  );
  const others = nodes.length - ours.length;
  const starting = nodeClaims.length - ours.length;
  return [
    tally(kinds),
    ...(others > 0 ? [`${others} that Joiner did not launch`] : []),
    ...(starting > 0 ? [`${starting} on the way`] : []),
  ].join('; ');
}

/** Events that say why a node goes, in the field's words. */
const CAUSES: ReadonlyMap<string, string> = new Map([
  ['expired', 'Expired'],
  ['SpotInterrupted', 'interrupted by EC2'],
  ['InstanceUnhealthy', 'unhealthy'],
  ['InstanceStopping', 'stopped'],
  ['InstanceTerminating', 'terminated by others'],
]);

/** Why each NodeClaim went, of those that had an instance. */
function goneText({ timeline, totals }: FinalState): string {
  const causes = new Map<string, string>();
  const ready = new Set<string>();
  const gone: string[] = [];
  for (const { kind, object, message } of timeline) {
    const cause =
      kind === 'DisruptionTerminating'
        ? message.replace('Disrupting Node: ', '')
        : CAUSES.get(kind);
    if (cause !== undefined && !causes.has(object)) causes.set(object, cause);
    if (kind === 'ready') ready.add(object);
    if (kind === 'removed' && message === 'the instance is gone') {
      gone.push(causes.get(object) ?? (ready.has(object) ? 'deleted' : 'never ready'));
    }
  }
  const evictions = totals.evictions === 1 ? '1 eviction' : `${totals.evictions} evictions`;
  return `${tally(gone)}; ${evictions}`;
}

function countText({ running, succeeded, pending }: PodCount): string {
  const done = succeeded > 0 ? [`${succeeded} succeeded`] : [];
  return [`${running} running`, ...done, `${pending} pending`].join(', ');
}

/** Pending pods by the reason why they wait: one line of text for each reason. */
export function pendingReasons({ pods }: FinalState): readonly string[] {
  const byReason = Map.groupBy(pods.pending, (pod) => pod.reason);
  return [...byReason].map(([reason, list]) => {
    const more = list.length > 1 ? ` and ${list.length - 1} more` : '';
    return `pending: ${list[0]?.name ?? ''}${more}\n    ${reason}`;
  });
}

/** Whether the summary names every reason why pods wait. */
export function namesAllReasons(state: FinalState): boolean {
  return pendingReasons(state).length <= REASONS_MAX;
}

/** The reasons that the summary has room for. */
function reasonLines(state: FinalState, { pendingSystem }: PodCounts): readonly string[] {
  // What the nodes were wanted for comes first.
  const own = state.pods.pending.filter(({ name }) => !pendingSystem.has(name));
  const system = state.pods.pending.filter(({ name }) => pendingSystem.has(name));
  const pods = { ...state.pods, pending: [...own, ...system] };
  const all = pendingReasons({ ...state, pods });
  const more = all.length - REASONS_MAX;
  const told = all.slice(0, REASONS_MAX);
  return more > 0 ? [...told, `… ${more} more ${more === 1 ? 'reason' : 'reasons'} below`] : told;
}

/** What a run comes to, in a few lines. */
export function summaryText(state: FinalState, pods: PodCounts): string {
  const hasSystem = Object.values(pods.system).some((count) => count > 0);
  return [
    `launched  ${launchedText(state)}`,
    `nodes     ${nodesText(state)}`,
    `gone      ${goneText(state)}`,
    `cost      ${costText(state)}`,
    `pods      ${countText(pods.own)}`,
    ...(hasSystem ? [`          and of DaemonSets and kube-system ${countText(pods.system)}`] : []),
    ...reasonLines(state, pods),
  ]
    .map((line) => `  ${line}`)
    .join('\n');
}
