import type { ReadDecision } from '../../shared/api/decision-record.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import type { Facts, LaunchFacts, LaunchFigures, MoveFigures, SearchFacts } from './figures.ts';
import { HOUR_MS, hoursOf, type Life, livesOf, type Span } from './lives.ts';

/** A function ends within this time after it has decided. */
const INVOCATION_MS_MAX = 15 * 60_000;

/** How long a move that was not carried out counts old and new nodes together. */
const OVERLAP_MS = 5 * 60_000;

/** A launch beside what Karpenter's documented rules plan for the same pods. */
export interface LaunchEntry {
  readonly file: string;
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

export const MOVE_OUTCOMES = ['done', 'given-up', 'under-way', 'not-begun'] as const;
export type MoveOutcome = (typeof MOVE_OUTCOMES)[number];

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
  readonly interruptions: readonly InterruptionEntry[];
  readonly ends: readonly EndEntry[];
  readonly totals: {
    /** NodeClaims whose instance was launched. */
    readonly nodesLaunched: number;
    /** Of these, nodes of launches that were compared. */
    readonly nodesCompared: number;
    readonly usd: number;
    readonly firstFitUsd: number;
    readonly launchesSavedUsd: number;
    readonly movesSavedUsd: number;
    readonly savedUsd: number;
    readonly evictions: number;
  };
}

/** What the records say, in the form in which entries need it. */
export class LedgerRecords {
  readonly span: Span;
  readonly lives: ReadonlyMap<string, Life>;
  private readonly created: ReadonlyMap<string, readonly ReadDecision[]>;
  private readonly byClaim: ReadonlyMap<string, readonly ReadDecision[]>;

  /** Records in order of time. */
  constructor(records: readonly ReadDecision[], span: Span) {
    this.span = span;
    this.lives = livesOf(records);
    const creations = records.filter(({ action }) => action === 'create');
    this.created = Map.groupBy(creations, ({ detail }) =>
      keyOf(String(detail['nodePool']), listOf(detail['pods'])),
    );
    this.byClaim = Map.groupBy(records, ({ object }) => object);
  }

  /** The NodeClaim that was created for a planned node. */
  claimOf({ nodePool, pods }: LaunchFigures['nodes'][number], atMs: number): string | undefined {
    const all = this.created.get(keyOf(nodePool, pods)) ?? [];
    return all.find((each) => isSoonAfter(each, atMs))?.object.slice('NodeClaim/'.length);
  }

  outcomeOf(claims: readonly string[], atMs: number): MoveOutcome {
    const outcomes = claims.map((claim) => this.outcomeOfOne(claim, atMs));
    return (
      (['not-begun', 'given-up', 'under-way'] as const).find((each) => outcomes.includes(each)) ??
      'done'
    );
  }

  private outcomeOfOne(claim: string, atMs: number): MoveOutcome {
    const own = this.byClaim.get(`NodeClaim/${claim}`) ?? [];
    const acts = own.filter((each) => each.useCase === 'disrupt' && each.atMs >= atMs);
    const begun = acts.find(
      (each) => ['replace', 'delete'].includes(each.action) && isSoonAfter(each, atMs),
    );
    if (begun === undefined) return 'not-begun';
    const end = acts.find((each) => ['delete', 'none'].includes(each.action));
    if (end?.action === 'none') return 'given-up';
    return this.lives.get(claim)?.terminatedAtMs === undefined ? 'under-way' : 'done';
  }
}

function isSoonAfter({ atMs: at }: ReadDecision, atMs: number): boolean {
  return at >= atMs && at - atMs <= INVOCATION_MS_MAX;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function keyOf(nodePool: string, pods: readonly string[]): string {
  return [nodePool, ...pods.toSorted()].join(' ');
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
  return recorded.map((move) => {
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

/** The ledger of a time. `facts` are those of its recordings, records those of the time. */
export function ledgerOf(
  records: readonly ReadDecision[],
  facts: readonly Facts[],
  span: Span,
): Ledger {
  const ledgerRecords = new LedgerRecords(records, span);
  const lives = [...ledgerRecords.lives.values()];
  const wasLaunched = (name: string): boolean =>
    isWithin(ledgerRecords.lives.get(name)?.launchedAtMs ?? -1, span);
  const within = facts.filter(({ atMs }) => isWithin(atMs, span));
  const launches = within.flatMap((each) =>
    each.useCase === 'provision' ? [launchEntry(ledgerRecords, each)] : [],
  );
  const moves = within.flatMap((each) =>
    each.useCase === 'disrupt' ? moveEntries(ledgerRecords, each) : [],
  );
  const compared = launches.filter(({ savedUsd }) => savedUsd !== undefined);
  const launchesSavedUsd = sum(compared, ({ savedUsd = 0 }) => savedUsd);
  const movesSavedUsd = sum(moves, ({ savedUsd }) => savedUsd);
  const done = moves.filter(({ outcome }) => outcome === 'done');
  return {
    currency: facts[0]?.currency ?? 'USD',
    span,
    launches,
    moves,
    interruptions: interruptionsOf(lives, span),
    ends: endsOf(lives, span),
    totals: {
      nodesLaunched: lives.filter(({ name }) => wasLaunched(name)).length,
      nodesCompared: compared.flatMap(({ claims }) => claims).filter(wasLaunched).length,
      usd: sum(compared, ({ usd }) => usd),
      firstFitUsd: sum(compared, ({ firstFitUsd }) => firstFitUsd),
      launchesSavedUsd,
      movesSavedUsd,
      savedUsd: launchesSavedUsd + movesSavedUsd,
      evictions: sum(done, ({ evictions }) => evictions),
    },
  };
}
