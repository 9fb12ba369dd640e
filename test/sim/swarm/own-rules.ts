import {
  CONSOLIDATION_GUARD,
  DO_NOT_DISRUPT,
  NODE_POOL,
  REPLACED_BY,
  RETURN_TO_FIRST_CHOICE,
} from '../../../shared/core/model/labels.ts';
import { isOver, type Pod } from '../../../shared/core/model/pod.ts';
import type {
  DisruptionBudget,
  NodeClaim,
  NodePool,
} from '../../../shared/core/model/provisioning.ts';

/** Checks use none of the rules that they check. */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A time, both ends included. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Whether a drain moves the pod elsewhere. */
export function isMoved(pod: Pod): boolean {
  return pod.controller?.kind !== 'DaemonSet' && !isOver(pod);
}

export function isProtected({ annotations, startedAtMs }: Pod, nowMs: number): boolean {
  const value = annotations[DO_NOT_DISRUPT];
  if (value === undefined || value === 'true') return value === 'true';
  return startedAtMs === undefined || nowMs < startedAtMs + Number.parseInt(value, 10) * MINUTE;
}

/** Worlds have schedules of one minute in each hour alone. */
function isActive({ schedule, durationMs = 0 }: DisruptionBudget, atMs: number): boolean {
  if (schedule === undefined) return true;
  const minute = Number.parseInt(schedule, 10);
  return (atMs - minute * MINUTE) % HOUR < durationMs;
}

function amountOf(text: string, total: number): number {
  const amount = Number.parseInt(text, 10);
  return text.endsWith('%') ? Math.ceil((amount * total) / 100) : amount;
}

/** An entry such as `age=6m` of a NodePool's annotation; undefined: it is not there. */
function entryOf({ annotations }: NodePool, name: string, key: string): string | undefined {
  const entries = (annotations[name] ?? '').split(',').map((each) => each.split('='));
  return entries.find(([each]) => each === key)?.[1];
}

/** So many nodes that are fallbacks may go at once. */
function returningOf(pool: NodePool): string {
  if (pool.annotations[RETURN_TO_FIRST_CHOICE] === undefined) return '0';
  return entryOf(pool, RETURN_TO_FIRST_CHOICE, 'nodes') ?? '1';
}

/** How old a node has to be to go for the reason. Worlds state minutes alone. */
export function leastAgeMs(pool: NodePool, reason: string): number {
  const age = {
    Underutilized: entryOf(pool, CONSOLIDATION_GUARD, 'age'),
    Fallback: entryOf(pool, RETURN_TO_FIRST_CHOICE, 'after') ?? '30m',
  };
  const text = reason === 'Underutilized' || reason === 'Fallback' ? age[reason] : undefined;
  return Number.parseInt(text ?? '0', 10) * MINUTE;
}

/** USD an hour that moves of the node save at least, of its price. */
export function leastSaving(pool: NodePool, price: number): number {
  const share = Number(entryOf(pool, CONSOLIDATION_GUARD, 'share') ?? 0) * price;
  return Math.max(share, Number(entryOf(pool, CONSOLIDATION_GUARD, 'saving') ?? 0));
}

/** Within which time a move has to pay back; infinite: the NodePool does not say. */
export function horizonHours(pool: NodePool): number {
  const text = entryOf(pool, CONSOLIDATION_GUARD, 'horizon') ?? '';
  const hours = Number.parseInt(text, 10) / (text.endsWith('m') ? 60 : 1);
  return Number.isNaN(hours) ? Number.POSITIVE_INFINITY : hours;
}

/** Whether the NodePool asks more of moves than that they pay. */
export function isGuarded({ annotations }: NodePool): boolean {
  return /saving|share|horizon/u.test(annotations[CONSOLIDATION_GUARD] ?? '');
}

function allowedAt(pool: NodePool, reason: string, total: number, atMs: number): number {
  const limits = pool.disruption.budgets
    .filter(({ reasons }) => reasons === undefined || reasons.some((each) => each === reason))
    .filter((budget) => isActive(budget, atMs))
    .map(({ nodes }) => amountOf(String(nodes), total));
  const returning = reason === 'Fallback' ? [amountOf(returningOf(pool), total)] : [];
  return Math.min(total, ...limits, ...returning);
}

/** How many of the pool's nodes may be disrupted at once: the most at any moment of the time. */
export function allowedBy(pool: NodePool, reason: string, total: number, during: Span): number {
  let most = 0;
  for (let atMs = during.fromMs; atMs < during.untilMs; atMs += MINUTE) {
    most = Math.max(most, allowedAt(pool, reason, total, atMs));
  }
  return Math.max(most, allowedAt(pool, reason, total, during.untilMs));
}

type Pools = {
  readonly nodePools: readonly NodePool[];
  readonly nodeClaims: readonly NodeClaim[];
};

/** The NodeClaims of the claim's pool, and how many of them budgets let go at once; none: no pool. */
function allowanceOf(claim: NodeClaim, reason: string, state: Pools, nowMs: number) {
  const pool = state.nodePools.find(({ name }) => name === claim.labels[NODE_POOL]);
  const own = state.nodeClaims.filter(({ labels }) => labels[NODE_POOL] === pool?.name);
  // A budget with a schedule comes and goes in an hour.
  const during = { fromMs: nowMs - HOUR, untilMs: nowMs };
  return { own, allowed: pool === undefined ? 0 : allowedBy(pool, reason, own.length, during) };
}

/** Whether budgets never let all nodes of the claim's pool go at once. */
export function isBudgetTight(
  claim: NodeClaim,
  reason: string,
  state: Pools,
  nowMs: number,
): boolean {
  const { own, allowed } = allowanceOf(claim, reason, state, nowMs);
  return allowed < own.length;
}

/** Whether it is on its way: its drain waits, or it waits beside what is to come in its place. */
function isGoing({ deletedAtMs, annotations }: NodeClaim): boolean {
  return deletedAtMs !== undefined || annotations[REPLACED_BY] !== undefined;
}

/** Whether other nodes that wait to go use up what the budgets of the claim's pool allow. */
export function isBudgetSpent(
  claim: NodeClaim,
  reason: string,
  state: Pools,
  nowMs: number,
): boolean {
  const { own, allowed } = allowanceOf(claim, reason, state, nowMs);
  return own.filter((each) => each.name !== claim.name && isGoing(each)).length >= allowed;
}
