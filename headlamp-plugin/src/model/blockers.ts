import {
  blockersOf,
  type Candidate,
  unevictableBy,
} from '../../../shared/core/disruption/candidates.ts';
import { reasonsNotDue } from '../../../shared/core/disruption/not-due.ts';
import { type Reason, reason } from '../../../shared/core/explain/reason.ts';
import { conditionOf, isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import { NODE_POOL } from '../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import type { Cluster } from './cluster.ts';
import { eventsOf, explainedReason, type JoinerEvent, type Why } from './events.ts';

/** What an obstacle keeps from happening. */
export type Hindered = 'disruption' | 'consolidation' | 'drain' | 'repair';

/** Something that keeps a node. */
export interface Blocker {
  readonly hinders: Hindered;
  readonly why: Why;
  /** When Joiner wrote the Event that says so; undefined: it is so now, by the objects. */
  readonly saidAtMs: number | undefined;
}

/** What events of a reason are about. */
const BY_EVENT: ReadonlyMap<string, Hindered> = new Map([
  ['DisruptionBlocked', 'disruption'],
  ['Unconsolidatable', 'consolidation'],
  ['FailedDraining', 'drain'],
  ['NodeRepairBlocked', 'repair'],
]);

/** Why nothing of the NodePool is disrupted, whichever node it is. */
function ofPool(pool: NodePool | undefined, { pauses }: Cluster, nowMs: number): readonly Reason[] {
  const isPaused = (untilMs: number | undefined): boolean =>
    untilMs !== undefined && untilMs > nowMs;
  const ready = pool === undefined ? undefined : conditionOf(pool, 'Ready');
  const isReady = pool === undefined || ready?.status === 'True';
  return [
    ...(isPaused(pauses.disrupt) ? [reason('disruptions-paused', {})] : []),
    ...(isPaused(pauses.launch) ? [reason('replacements-paused', {})] : []),
    ...(isReady ? [] : [reason('nodepool-cannot-launch', { said: ready?.message ?? 'it is new' })]),
  ];
}

/** What the objects say now, by the rules of the function `disrupt`. */
function blockersNow(candidate: Candidate, cluster: Cluster, nowMs: number): readonly Blocker[] {
  const { claim } = candidate;
  const own = blockersOf(candidate, cluster.budgets, nowMs, 'graceful');
  const said = (hinders: Hindered, reasons: readonly Reason[]): readonly Blocker[] =>
    reasons.map((each) => ({ hinders, why: explainedReason(each), saidAtMs: undefined }));
  if (claim.deletedAtMs !== undefined) return said('drain', own);
  if (!isTrue(claim, 'Initialized')) return [];
  const pool = cluster.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
  const notDue = pool === undefined ? [] : reasonsNotDue({ ...candidate, pool }, nowMs);
  return [
    ...said('disruption', [...own, ...ofPool(pool, cluster, nowMs)]),
    ...said('consolidation', [...notDue, ...unevictableBy(candidate)]),
  ];
}

/** What events say keeps it, each thing once, the newest first. */
export function blockersSaid(events: readonly JoinerEvent[]): readonly Blocker[] {
  const said = new Set<string>();
  return events.flatMap(({ reason: name, why, atMs }) => {
    const hinders = BY_EVENT.get(name);
    const key = `${hinders} ${why.text}`;
    if (hinders === undefined || said.has(key)) return [];
    said.add(key);
    return [{ hinders, why, saidAtMs: atMs }];
  });
}

/** Joiner's events about the node, its claim and its NodePool, the newest first. */
export function eventsAround(
  { claim, node }: Pick<Candidate, 'claim'> & { readonly node: Candidate['node'] | undefined },
  events: readonly JoinerEvent[],
): readonly JoinerEvent[] {
  const own = new Set([
    ...eventsOf(events, 'NodeClaim', claim.name),
    ...eventsOf(events, 'Node', node?.name),
    ...eventsOf(events, 'NodePool', claim.labels[NODE_POOL]),
  ]);
  return events.filter((each) => own.has(each));
}

/**
 * All that keeps a node: what the objects show now, then what Joiner's events of the last hour say,
 * such as figures of consolidation, which only a plan has.
 */
export function blockersAround(
  candidate: Candidate,
  cluster: Cluster,
  events: readonly JoinerEvent[],
  nowMs: number,
): readonly Blocker[] {
  const now = blockersNow(candidate, cluster, nowMs);
  const known = new Set(now.map(({ why }) => why.text));
  // An Event has all reasons in one message.
  const isKnown = ({ why }: Blocker): boolean =>
    why.text.split('; ').every((each) => known.has(each));
  const said = blockersSaid(eventsAround(candidate, events));
  return [...now, ...said.filter((each) => !isKnown(each))];
}
