import type { ReadDecision } from '../../shared/api/decision-record.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import type { Facts, LaunchFacts, MoveFigures, SearchFacts } from './figures.ts';
import { LedgerRecords, type MoveOutcome } from './ledger-records.ts';
import { HOUR_MS, hoursOf, type Life, ranIn, type Span } from './lives.ts';
import { type ReplacementEntry, replacementEntries } from './replacements.ts';

/** How long a move that was not carried out counts old and new nodes together. */
const OVERLAP_MS = 5 * 60_000;

/** A launch beside what Karpenter's documented rules plan for the same pods. */
export interface LaunchEntry {
  readonly file: string;
  /** When the plan was made: before the time where its nodes still ran in it. */
  readonly atMs: number;
  /** NodeClaims of the plan that were created. */
  readonly claims: readonly string[];
  readonly nodes: number;
  readonly usdPerHour: number;
  readonly firstFitNodes: number;
  readonly firstFitUsdPerHour: number;
  /** Mean hours that the nodes ran in this time, weighted by price. */
  readonly hours: number;
  readonly usd: number;
  /** USD of the first-fit nodes in the same hours. */
  readonly firstFitUsd: number;
  /** Undefined: the two cannot be compared, see `notCompared`. */
  readonly savedUsd: number | undefined;
  readonly notCompared: 'other-pods-placed' | 'not-launched' | undefined;
}

/** A move of consolidation, and what came of it. */
export interface MoveEntry extends MoveFigures {
  readonly file: string;
  readonly atMs: number;
  readonly outcome: MoveOutcome;
  /** USD: what the old nodes would have cost until the move's horizon, less the time of both. */
  readonly savedUsd: number;
}

/** Nodes that an interruption ended. */
export interface InterruptionEntry {
  readonly nodePool: string;
  /** The kind of the message. */
  readonly kind: string;
  readonly nodes: number;
  /** Hours that these nodes had run in this time. */
  readonly hours: number;
}

/** Nodes that went for another reason, of each use case and reason. */
export interface EndEntry {
  readonly useCase: string;
  readonly reason: string;
  readonly nodes: number;
}

export interface Ledger {
  readonly currency: Currency;
  readonly span: Span;
  readonly launches: readonly LaunchEntry[];
  readonly moves: readonly MoveEntry[];
  readonly replacements: readonly ReplacementEntry[];
  readonly interruptions: readonly InterruptionEntry[];
  readonly ends: readonly EndEntry[];
  readonly totals: {
    /** NodeClaims whose instance ran at some moment of the time. */
    readonly nodesRan: number;
    /** Of these, those that were launched in it. */
    readonly nodesLaunched: number;
    /** Of those that ran, nodes of launches that were compared. */
    readonly nodesCompared: number;
    /** Of those that ran, nodes that came in place of others by consolidation. */
    readonly nodesReplacing: number;
    /** Of all nodes that ran, without those that a note names. */
    readonly costUsd: number;
    /** Of nodes of launches that were compared. */
    readonly usd: number;
    readonly firstFitUsd: number;
    readonly replacementsUsd: number;
    readonly launchesSavedUsd: number;
    readonly movesSavedUsd: number;
    readonly savedUsd: number;
    readonly evictions: number;
  };
  /** What is missing in the amounts, a sentence each. */
  readonly notes: readonly string[];
}

/** The amounts of all, added up. */
export function sum<Each>(all: readonly Each[], of: (each: Each) => number): number {
  return all.reduce((total, each) => total + of(each), 0);
}

/** Mean hours that the nodes of a recorded plan ran in the span, weighted by price. */
export function launchHours(
  ledgerRecords: LedgerRecords,
  { recorded, atMs }: LaunchFacts,
): { readonly claims: readonly string[]; readonly hours: number } {
  const found = recorded.nodes.map((node) => {
    const claim = ledgerRecords.claimOf(node, atMs);
    const life = claim === undefined ? undefined : ledgerRecords.lives.get(claim);
    return { claim, price: node.usdPerHour, hours: life ? hoursOf(life, ledgerRecords.span) : 0 };
  });
  const price = sum(found, (each) => each.price);
  const usd = sum(found, (each) => each.price * each.hours);
  return {
    claims: found.flatMap(({ claim }) => claim ?? []),
    hours: price === 0 ? 0 : usd / price,
  };
}

function launchEntry(ledgerRecords: LedgerRecords, facts: LaunchFacts): LaunchEntry {
  const { recorded, firstFit, file, atMs } = facts;
  const { claims, hours } = launchHours(ledgerRecords, facts);
  const notCompared =
    hours === 0
      ? 'not-launched'
      : recorded.podsPlaced === firstFit.podsPlaced
        ? undefined
        : 'other-pods-placed';
  const [usd, firstFitUsd] = [recorded.usdPerHour * hours, firstFit.usdPerHour * hours];
  return {
    file,
    atMs,
    claims,
    nodes: recorded.nodes.length,
    usdPerHour: recorded.usdPerHour,
    firstFitNodes: firstFit.nodes.length,
    firstFitUsdPerHour: firstFit.usdPerHour,
    hours,
    usd,
    firstFitUsd,
    savedUsd: notCompared === undefined ? firstFitUsd - usd : undefined,
    notCompared,
  };
}

/** USD that a move saves until the horizon; both are paid until the old nodes end. */
function savedBy(
  { beforeUsdPerHour, afterUsdPerHour }: MoveFigures,
  times: { readonly atMs: number; readonly endedAtMs: number; readonly untilMs: number },
): number {
  const { atMs, endedAtMs, untilMs } = times;
  const both = (Math.min(endedAtMs, untilMs) - atMs) / HOUR_MS;
  const alone = Math.max(0, untilMs - endedAtMs) / HOUR_MS;
  return (beforeUsdPerHour - afterUsdPerHour) * alone - afterUsdPerHour * both;
}

function untilMs({ span }: LedgerRecords, atMs: number, { horizonHours }: MoveFigures): number {
  return Math.max(atMs, Math.min(atMs + horizonHours * HOUR_MS, span.toMs));
}

/** What a move would have saved that was not carried out. */
export function estimatedSaving(
  ledgerRecords: LedgerRecords,
  facts: SearchFacts,
  move: MoveFigures,
): number {
  const { atMs } = facts;
  return savedBy(move, {
    atMs,
    endedAtMs: atMs + OVERLAP_MS,
    untilMs: untilMs(ledgerRecords, atMs, move),
  });
}

/** The moves of a recorded search with what came of them. */
export function moveEntries(
  ledgerRecords: LedgerRecords,
  facts: SearchFacts,
): readonly MoveEntry[] {
  const { file, atMs, recorded } = facts;
  return recorded.map(({ newNodes: _, ...move }) => {
    const outcome = ledgerRecords.outcomeOf(move.claims, atMs);
    const ends = move.claims.map(
      (name) => ledgerRecords.lives.get(name)?.terminatedAtMs ?? ledgerRecords.span.toMs,
    );
    const endedAtMs = Math.max(...ends);
    const times = { atMs, endedAtMs, untilMs: untilMs(ledgerRecords, atMs, move) };
    return {
      ...move,
      file,
      atMs,
      outcome,
      savedUsd: outcome === 'done' ? savedBy(move, times) : 0,
    };
  });
}

function endsOf(lives: readonly Life[], span: Span): readonly EndEntry[] {
  const ended = lives.flatMap(({ deletion }) => {
    const isIn = deletion !== undefined && isWithin(deletion.atMs, span);
    return isIn && deletion.useCase !== 'interrupt' ? [deletion] : [];
  });
  const groups = Map.groupBy(ended, ({ useCase, reason }) => `${useCase} ${reason}`);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, own]) =>
      own.slice(0, 1).map(({ useCase, reason }) => ({ useCase, reason, nodes: own.length })),
    );
}

function interruptionsOf(lives: readonly Life[], span: Span): readonly InterruptionEntry[] {
  const ended = lives.flatMap((life) => {
    const { deletion, nodePool } = life;
    if (deletion?.useCase !== 'interrupt' || !isWithin(deletion.atMs, span)) return [];
    const end = life.terminatedAtMs ?? deletion.atMs;
    return [
      { nodePool, kind: deletion.reason, hours: hoursOf({ ...life, terminatedAtMs: end }, span) },
    ];
  });
  const groups = Map.groupBy(ended, ({ nodePool, kind }) => `${nodePool} ${kind}`);
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, own]) =>
      own.slice(0, 1).map(({ nodePool, kind }) => {
        return { nodePool, kind, nodes: own.length, hours: sum(own, ({ hours }) => hours) };
      }),
    );
}

function isWithin(atMs: number, { fromMs, toMs }: Span): boolean {
  return atMs >= fromMs && atMs <= toMs;
}

/** Names in a note; the records have them all. */
const NAMED_MAX = 5;

function namesText(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  return names.slice(0, NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Nodes that ran in the time, whose cost is in no amount because it cannot be known. */
function notesOf(ledgerRecords: LedgerRecords, counted: ReadonlySet<string>) {
  const { span, lives } = ledgerRecords;
  const all = [...lives.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const endsIn = ({ terminatedAtMs, deletion }: Life): boolean =>
    [terminatedAtMs, deletion?.atMs].some((at) => at !== undefined && isWithin(at, span));
  const unlaunched = all.filter(
    (life) =>
      life.launchedAtMs === undefined && !ledgerRecords.isCreatedIn(life.name) && endsIn(life),
  );
  const unpriced = all.filter((life) => ranIn(life, span) && !counted.has(life.name));
  const isReplacement = ({ name }: Life): boolean => ledgerRecords.isReplacement(name);
  const unplanned = unpriced.filter((life) => !isReplacement(life));
  const note = (nodes: readonly Life[], what: string): readonly string[] =>
    nodes.length === 0
      ? []
      : [`${nodes.length} ${what}, not counted: ${namesText(nodes.map(({ name }) => name))}`];
  return [
    ...note(unlaunched, 'of the nodes that ended in this time have no record of their launch'),
    ...note(unplanned, 'of the nodes that ran have no recording of the plan that launched them'),
    ...note(
      unpriced.filter(isReplacement),
      'of the nodes that ran replaced others by a plan that is not recorded, as those for drift',
    ),
  ];
}

/**
 * The ledger of a time. `facts` are those of its recordings and of those that launched nodes which
 * ran in it, records those of the time and of the launches of these nodes.
 */
export function ledgerOf(
  records: readonly ReadDecision[],
  facts: readonly Facts[],
  span: Span,
): Ledger {
  const ledgerRecords = new LedgerRecords(records, span);
  const lives = [...ledgerRecords.lives.values()];
  const entries = facts.flatMap((each) =>
    each.useCase === 'provision' && each.atMs <= span.toMs
      ? [launchEntry(ledgerRecords, each)]
      : [],
  );
  const launches = entries.filter(({ atMs, hours }) => atMs >= span.fromMs || hours > 0);
  const moves = facts.flatMap((each) =>
    each.useCase === 'disrupt' && isWithin(each.atMs, span) ? moveEntries(ledgerRecords, each) : [],
  );
  const replacements = facts.flatMap((each) =>
    each.useCase === 'disrupt' && each.atMs <= span.toMs
      ? replacementEntries(ledgerRecords, each)
      : [],
  );
  const replacementsUsd = sum(replacements, ({ usd }) => usd);
  const planned = launches.flatMap(({ claims }) => claims);
  const compared = launches.filter(({ savedUsd }) => savedUsd !== undefined);
  const launchesSavedUsd = sum(compared, ({ savedUsd = 0 }) => savedUsd);
  const movesSavedUsd = sum(moves, ({ savedUsd }) => savedUsd);
  const done = moves.filter(({ outcome }) => outcome === 'done');
  const comparedClaims = compared.flatMap(({ claims }) => claims);
  return {
    currency: facts[0]?.currency ?? 'USD',
    span,
    launches,
    moves,
    replacements,
    interruptions: interruptionsOf(lives, span),
    ends: endsOf(lives, span),
    totals: {
      nodesRan: lives.filter((each) => ranIn(each, span)).length,
      nodesLaunched: lives.filter(({ launchedAtMs = -1 }) => isWithin(launchedAtMs, span)).length,
      nodesCompared: comparedClaims.filter((name) => ledgerRecords.ran(name)).length,
      nodesReplacing: replacements.length,
      costUsd: sum(launches, ({ usd }) => usd) + replacementsUsd,
      usd: sum(compared, ({ usd }) => usd),
      firstFitUsd: sum(compared, ({ firstFitUsd }) => firstFitUsd),
      replacementsUsd,
      launchesSavedUsd,
      movesSavedUsd,
      savedUsd: launchesSavedUsd + movesSavedUsd,
      evictions: sum(done, ({ evictions }) => evictions),
    },
    notes: notesOf(ledgerRecords, new Set([...planned, ...replacements.map(({ claim }) => claim)])),
  };
}
