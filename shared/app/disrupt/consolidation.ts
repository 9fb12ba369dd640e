import { consolidate, reconsider } from '../../core/disruption/consolidation/consolidate.ts';
import { type Move, snapshotAfter } from '../../core/disruption/consolidation/move.ts';
import type { Consolidated, Consolidation } from '../../core/disruption/consolidation/search.ts';
import { isUnsettled } from '../../core/disruption/consolidation/unsettled.ts';
import type { ReasonCode } from '../../core/explain/reason.ts';
import { consolidationRecording } from '../recording/recording.ts';
import type { ApprovedDisruption } from '../writes/approval.ts';
import { disruptionCandidates } from './candidates.ts';
import {
  consolidationOf,
  dueCandidates,
  meteredConsolidationOf,
  pricedCandidates,
} from './consolidation-input.ts';
import type { DisruptionMethod, Search } from './method.ts';
import { carryOutMoves } from './moves.ts';
import type { DisruptPass } from './pass.ts';

/** What there is to look for, and what is known of it. */
interface MoveSearch {
  readonly input: Consolidation;
  /** Of the cluster that it was asked in. */
  readonly version: number;
}

/**
 * What to look for in this pass; undefined: nothing, or what would be found is known. Only in a
 * pass in which nothing else has been done: what is known of the nodes has to be so still.
 */
async function moveSearch(pass: DisruptPass): Promise<MoveSearch | undefined> {
  const { memory, outcome, changes } = pass;
  const { created, deleted } = outcome;
  if (created.length + deleted.length + changes.taken.size > 0) return undefined;
  if (memory.postpones(isUnsettled(pass.state.objects.pods, pass.nowMs))) return undefined;
  const input = await consolidationOf(pass);
  if (input === undefined) return undefined;
  const why = memory.recall(input);
  if (why === undefined) {
    // Only here: what is known already is not asked for every minute.
    const usage = await pass.usage.of(pass);
    return { input: { ...input, known: memory.known, usage }, version: memory.version };
  }
  noteRefusals(pass, why);
  return undefined;
}

/**
 * Looks for moves of pods of badly used nodes to others, or to cheaper new ones, that pay back. It
 * may take seconds, and nothing is read or written meanwhile.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
function searchMoves(pass: DisruptPass, { input }: MoveSearch): Consolidated {
  const found = consolidate(input);
  pass.memory.keep(found, input.turn);
  noteRefusals(pass, found.refusals);
  return found;
}

/**
 * Makes the moves that were found, as far as they are such still: others may have written since,
 * and then each is looked at again by what is there now.
 */
async function makeMoves(
  pass: DisruptPass,
  { input, version }: MoveSearch,
  found: Consolidated,
): Promise<void> {
  const now = await meteredConsolidationOf(pass);
  if (now === undefined) return;
  pass.memory.recall(now);
  const isSame = pass.memory.version === version;
  const moves = isSame ? found.moves : stillWorth(pass, now, found.moves.map(wantedOf));
  const [claim] = moves.flatMap(({ nodes }) => nodes.map((each) => each.claim.name));
  if (claim === undefined) return;
  const recorded = consolidationRecording(input, found, pass.nowMs);
  pass.ports.recorder.recording?.(`disrupt-${claim}`, pass.nowMs, recorded);
  await carryOutMoves(pass, now.snapshot, moves);
}

/** Makes a move that was approved, where it still is one: nothing else is looked for. */
export async function makeApprovedMove(
  pass: DisruptPass,
  approved: ApprovedDisruption,
): Promise<void> {
  const now = await meteredConsolidationOf(pass);
  if (now !== undefined) await carryOutMoves(pass, now.snapshot, stillWorth(pass, now, [approved]));
}

/** What a move is looked at again for: which nodes were to go, and whether for nothing. */
type Wanted = Pick<ApprovedDisruption, 'claims' | 'isRemoval'>;

function wantedOf({ nodes, replacements }: Move): Wanted {
  return { claims: nodes.map(({ claim }) => claim.uid), isRemoval: replacements.length === 0 };
}

/** Of the moves those whose nodes may go now as they were meant to, by what it takes now. */
function stillWorth(
  pass: DisruptPass,
  now: Omit<Consolidation, 'known'>,
  moves: readonly Wanted[],
): readonly Move[] {
  const left = new Map(now.allowance);
  let most = now.nodesMax;
  let { snapshot } = now;
  const hosts = new Set<string>();
  return moves.flatMap(({ claims, isRemoval }): readonly Move[] => {
    const uids = new Set(claims);
    const nodes = now.candidates.filter(
      ({ claim, node }) => uids.has(claim.uid) && !hosts.has(node.name),
    );
    const byPool = Map.groupBy(nodes, ({ pool }) => pool.name);
    const isAllowed = [...byPool].every(([pool, own]) => own.length <= (left.get(pool) ?? 0));
    if (nodes.length < uids.size || nodes.length > most || !isAllowed) return [];
    const again = reconsider({ ...now, snapshot, known: new Map() }, nodes);
    if (again.kind !== 'move') {
      for (const { claim } of nodes) pass.outcome.kept.set(claim.name, again.reasons);
      return [];
    }
    if (again.replacements.length > 0 && isRemoval) return [];
    most -= nodes.length;
    // The room that its pods will take is nobody else's, and those nodes stay.
    snapshot = snapshotAfter(snapshot, again);
    for (const host of again.elsewhere.values()) hosts.add(host);
    for (const [pool, own] of byPool) left.set(pool, (left.get(pool) ?? 0) - own.length);
    return [again];
  });
}

/** What passes by itself. */
const PASSING: ReadonlySet<ReasonCode> = new Set(['pending-pods-first', 'guard-usage']);

/** Why single nodes stay, of all groups that were looked at. */
function noteRefusals(
  { outcome: { kept, unconsolidatable } }: DisruptPass,
  refusals: Consolidated['refusals'],
): void {
  for (const [claims, reasons] of refusals) {
    if (claims.includes(',')) continue;
    kept.set(claims, reasons);
    // Pods wait for a node for a minute or two, usage rises and falls, and then there is another.
    const isPassing = reasons.some(({ code }) => PASSING.has(code));
    if (!isPassing) unconsolidatable.set(claims, reasons);
  }
}

async function searchLater(pass: DisruptPass): Promise<Search | undefined> {
  const search = await moveSearch(pass);
  if (search === undefined) return undefined;
  return {
    run: () => {
      const found = searchMoves(pass, search);
      const carryOut = (again: DisruptPass): Promise<void> => makeMoves(again, search, found);
      return { isEmpty: found.moves.length === 0, carryOut };
    },
  };
}

/** Moves pods of underutilized nodes where that pays back. */
export const consolidation: DisruptionMethod = {
  reason: 'Underutilized',
  candidates: (pass) => dueCandidates(pass, pricedCandidates(pass, disruptionCandidates(pass))),
  disrupt: searchLater,
};
