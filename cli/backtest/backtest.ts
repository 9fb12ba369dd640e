import { consolidationOf, planningOf } from '../../shared/app/recording/replayed.ts';
import {
  type Facts,
  factsOf,
  firstFitFigures,
  type LaunchFacts,
  type LaunchFigures,
  type MoveFigures,
  plannedFigures,
  type SearchFacts,
  searchedFigures,
} from '../ledger/figures.ts';
import type { NamedRecording } from '../ledger/files.ts';
import { estimatedSaving, launchHours, moveEntries, sum } from '../ledger/ledger.ts';
import type { LedgerRecords } from '../ledger/ledger-records.ts';
import { type Changes, changedPlanning, changedSearch, type Variant } from './variant.ts';

/** A recorded moment, and what the variant decides on it. */
export type RecordedDecision =
  | {
      readonly useCase: 'provision';
      readonly facts: LaunchFacts;
      readonly variant: LaunchFigures;
    }
  | {
      readonly useCase: 'disrupt';
      readonly facts: SearchFacts;
      /** Undefined: the variant decides nothing about moves. */
      readonly variant: readonly MoveFigures[] | undefined;
    };

/** What either way comes to over all moments. */
export interface Side {
  /** New nodes of launches, and USD an hour of them. */
  readonly nodes: number;
  readonly usdPerHour: number;
  /** USD of these nodes in the hours that the recorded ones ran. */
  readonly usd: number;
  readonly moves: number;
  readonly nodesRemoved: number;
  readonly evictions: number;
  /** USD that the moves save. */
  readonly movesSavedUsd: number;
}

/** The variant less what was recorded. */
export interface SideChange extends Side {
  /**
   * What the variant costs more in all: its launches more, and its moves save less. Of a side alone
   * there is no such amount: the hours of launches end where recorded moves removed the nodes.
   */
  readonly netUsd: number;
}

/** One recorded launch of a back-test. */
export interface LaunchRow {
  readonly file: string;
  readonly atMs: number;
  readonly hours: number;
  readonly recorded: { readonly nodes: number; readonly usdPerHour: number; readonly usd: number };
  readonly variant: { readonly nodes: number; readonly usdPerHour: number; readonly usd: number };
  /** False: the variant places another number of pods, so that the row is not in the sums. */
  readonly isCompared: boolean;
}

export interface Backtest {
  readonly launches: readonly LaunchRow[];
  /** Searches for moves that were decided again. */
  readonly searches: number;
  /** Recorded searches that the variant does not decide: their moves are in neither side. */
  readonly searchesLeftOut: number;
  readonly recorded: Side;
  readonly variant: Side;
  readonly difference: SideChange;
}

/** Decides a recorded moment with the variant. */
export function recordedDecisionOf(
  named: NamedRecording,
  { nodePools, rules }: Variant,
  changes: readonly Changes[],
): RecordedDecision {
  const { recording } = named;
  const facts: Facts = factsOf(named);
  if (facts.useCase === 'provision' && recording.useCase === 'provision') {
    const planning = changedPlanning(planningOf(recording), changes, nodePools);
    const isFirstFit = rules === 'karpenter';
    const variant = isFirstFit ? firstFitFigures(recording, planning) : plannedFigures(planning);
    return { useCase: 'provision', facts, variant };
  }
  if (facts.useCase !== 'disrupt' || recording.useCase !== 'disrupt') {
    throw new Error('facts are of another recording');
  }
  // Recordings have only searches that moved something: of those Karpenter's rules decide nothing.
  if (rules === 'karpenter') return { useCase: 'disrupt', facts, variant: undefined };
  const search = changedSearch(consolidationOf(recording), changes, nodePools);
  return { useCase: 'disrupt', facts, variant: searchedFigures(search) };
}

function rowOf(
  ledgerRecords: LedgerRecords,
  facts: LaunchFacts,
  variant: LaunchFigures,
): LaunchRow {
  const { hours } = launchHours(ledgerRecords, facts);
  const figures = ({ nodes, usdPerHour }: LaunchFigures) => {
    return { nodes: nodes.length, usdPerHour, usd: usdPerHour * hours };
  };
  return {
    file: facts.file,
    atMs: facts.atMs,
    hours,
    recorded: figures(facts.recorded),
    variant: figures(variant),
    isCompared: hours > 0 && facts.recorded.podsPlaced === variant.podsPlaced,
  };
}

interface Moved extends MoveFigures {
  readonly savedUsd: number;
}

function isSame(a: MoveFigures, b: MoveFigures): boolean {
  return (
    a.claims.join() === b.claims.join() &&
    a.replacements === b.replacements &&
    a.afterUsdPerHour === b.afterUsdPerHour
  );
}

/** Recorded moves with what they saved; the same ones of the variant save the same. */
function movesOf(
  ledgerRecords: LedgerRecords,
  facts: SearchFacts,
  variant: readonly MoveFigures[],
) {
  const entries = moveEntries(ledgerRecords, facts);
  const recorded: readonly Moved[] = entries.filter(({ outcome }) => outcome === 'done');
  const others = variant.flatMap((move): readonly Moved[] => {
    const same = entries.find((each) => isSame(each, move));
    if (same !== undefined) return same.outcome === 'done' ? [same] : [];
    return [{ ...move, savedUsd: estimatedSaving(ledgerRecords, facts, move) }];
  });
  return { recorded, variant: others };
}

type RowSide = LaunchRow['recorded'];

function sideOf(rows: readonly RowSide[], moves: readonly Moved[]): Side {
  return {
    nodes: sum(rows, (each) => each.nodes),
    usdPerHour: sum(rows, (each) => each.usdPerHour),
    usd: sum(rows, (each) => each.usd),
    moves: moves.length,
    nodesRemoved: sum(moves, ({ claims }) => claims.length),
    evictions: sum(moves, ({ evictions }) => evictions),
    movesSavedUsd: sum(moves, (each) => each.savedUsd),
  };
}

function less(a: Side, b: Side): SideChange {
  const usd = a.usd - b.usd;
  const movesSavedUsd = a.movesSavedUsd - b.movesSavedUsd;
  return {
    nodes: a.nodes - b.nodes,
    usdPerHour: a.usdPerHour - b.usdPerHour,
    usd,
    moves: a.moves - b.moves,
    nodesRemoved: a.nodesRemoved - b.nodesRemoved,
    evictions: a.evictions - b.evictions,
    movesSavedUsd,
    netUsd: usd - movesSavedUsd,
  };
}

/** All moments together; what the ledgerRecords says of them is the same for both sides. */
export function backtested(
  ledgerRecords: LedgerRecords,
  moments: readonly RecordedDecision[],
): Backtest {
  const launches: LaunchRow[] = [];
  const moves: { readonly recorded: Moved[]; readonly variant: Moved[] } = {
    recorded: [],
    variant: [],
  };
  let [searches, searchesLeftOut] = [0, 0];
  for (const moment of moments) {
    if (moment.useCase === 'provision') {
      launches.push(rowOf(ledgerRecords, moment.facts, moment.variant));
      continue;
    }
    if (moment.variant === undefined) {
      searchesLeftOut += 1;
      continue;
    }
    searches += 1;
    const found = movesOf(ledgerRecords, moment.facts, moment.variant);
    moves.recorded.push(...found.recorded);
    moves.variant.push(...found.variant);
  }
  const compared = launches.filter(({ isCompared }) => isCompared);
  const recorded = sideOf(
    compared.map((each) => each.recorded),
    moves.recorded,
  );
  const variant = sideOf(
    compared.map((each) => each.variant),
    moves.variant,
  );
  const difference = less(variant, recorded);
  return { launches, searches, searchesLeftOut, recorded, variant, difference };
}
