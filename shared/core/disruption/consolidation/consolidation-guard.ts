import { parseDurationMs } from '../../duration.ts';
import { isReason, type Reason, type ReasonOf, reason } from '../../explain/reason.ts';
import type { Currency } from '../../model/currency.ts';
import { CONSOLIDATION_GUARD } from '../../model/labels.ts';
import type { NodeClaim, NodePool } from '../../model/provisioning.ts';
import { readEntries } from '../annotation-entries.ts';
import type { Balance, ConsolidationCandidate, ConsolidationSettings, PoolUse } from './payback.ts';

/** What a NodePool asks of moves of its nodes, beside what the settings say. */
export interface ConsolidationGuard {
  /** A move saves at least so many USD an hour. @default nothing */
  readonly saving?: number;
  /** A move saves at least this share of what its nodes cost, from 0 to 1. @default nothing */
  readonly share?: number;
  /** Nodes are at least so old. @default any */
  readonly ageMs?: number;
  /** Within this time a move has to have saved what it costs. @default the setting */
  readonly horizonMs?: number;
}

type Entry = { -readonly [Key in keyof ConsolidationGuard]: ConsolidationGuard[Key] };

const AMOUNT = /^\d+(?:\.\d+)?$/;

function readEntry(guard: Entry, key: string, value: string): boolean {
  const amount = AMOUNT.test(value) ? Number(value) : undefined;
  const durationMs = parseDurationMs(value);
  if (key === 'saving' && amount !== undefined) guard.saving = amount;
  else if (key === 'share' && amount !== undefined && amount <= 1) guard.share = amount;
  else if (key === 'age' && durationMs !== undefined) guard.ageMs = durationMs;
  else if (key === 'horizon' && durationMs !== undefined) guard.horizonMs = durationMs;
  else return false;
  return true;
}

/**
 * What a NodePool's annotation says, such as `saving=0.05,share=0.1,age=1h,horizon=12h`; empty where
 * there is none. A reason where it cannot be read.
 */
export function consolidationGuardOf({
  annotations,
}: Pick<NodePool, 'annotations'>): ConsolidationGuard | ReasonOf<'guard-unreadable'> {
  const text = annotations[CONSOLIDATION_GUARD];
  const guard: Entry = {};
  if (text === undefined) return guard;
  const annotation = CONSOLIDATION_GUARD;
  const like = 'saving=0.05,share=0.1,age=1h,horizon=12h';
  const take = (key: string, value: string) => readEntry(guard, key, value);
  return readEntries(text, { annotation, like }, take) ?? guard;
}

function guardsOf(
  nodes: readonly Pick<ConsolidationCandidate, 'pool'>[],
): ReadonlyMap<string, ConsolidationGuard> {
  const pools = new Map(nodes.map(({ pool }) => [pool.name, pool]));
  return new Map(
    [...pools].flatMap(([name, pool]) => {
      const guard = consolidationGuardOf(pool);
      return isReason(guard) ? [] : [[name, guard] as const];
    }),
  );
}

/**
 * The settings for a move of the nodes: of horizons that differ the shortest. Where a pool states
 * none, it is no longer than what is saved there lasts.
 */
export function settingsFor(
  nodes: readonly Pick<ConsolidationCandidate, 'pool'>[],
  settings: ConsolidationSettings,
  pools: ReadonlyMap<string, PoolUse>,
): ConsolidationSettings {
  const horizons = [...guardsOf(nodes)].map(([name, { horizonMs }]) => {
    const lastMs = pools.get(name)?.savingsLastMs ?? Number.POSITIVE_INFINITY;
    return horizonMs ?? Math.min(settings.horizonMs, lastMs);
  });
  const horizonMs = horizons.length === 0 ? settings.horizonMs : Math.min(...horizons);
  return horizonMs === settings.horizonMs ? settings : { ...settings, horizonMs };
}

/** USD an hour: sums of prices are exact to this. */
const ROUNDING = 1e-9;

/** USD an hour that a move of the nodes saves at least, for all of their NodePools to take it. */
export function leastSaving(nodes: readonly ConsolidationCandidate[]): number {
  const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  const asked = [...guardsOf(nodes).values()].map(({ saving = 0, share = 0 }) => {
    return Math.max(saving, share * before) - ROUNDING;
  });
  return Math.max(0, ...asked);
}

/** What NodePools ask for and the move does not bring; empty: all take it. */
export function guarded(
  nodes: readonly ConsolidationCandidate[],
  { saving }: Balance,
  currency: Currency,
): readonly Reason[] {
  const before = nodes.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  return [...guardsOf(nodes)].flatMap(([nodePool, { saving: least = 0, share = 0 }]) => {
    const saved = { amount: saving, currency };
    const asked = { amount: least, currency };
    const percents = {
      percent: Math.round((saving / before) * 100),
      asked: Math.round(share * 100),
    };
    return [
      ...(saving < least - ROUNDING
        ? [reason('guard-saving', { nodePool, saving: saved, asked })]
        : []),
      ...(saving < share * before - ROUNDING
        ? [reason('guard-share', { nodePool, ...percents })]
        : []),
    ];
  });
}

/** Why the node is too young to be moved, or its pool's guard cannot be read; undefined: it is not. */
export function tooYoung(
  pool: NodePool,
  { createdAtMs }: Pick<NodeClaim, 'createdAtMs'>,
  nowMs: number,
): Reason | undefined {
  const guard = consolidationGuardOf(pool);
  if (isReason(guard)) return guard;
  if (guard.ageMs === undefined || nowMs - createdAtMs >= guard.ageMs) return undefined;
  const minutes = Math.ceil((createdAtMs + guard.ageMs - nowMs) / 60_000);
  return reason('guard-age', { nodePool: pool.name, minutes });
}
