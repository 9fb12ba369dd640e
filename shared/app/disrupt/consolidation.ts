import { heldBy, isEmpty, unevictableBy } from '../../core/disruption/candidates.ts';
import {
  type Consolidated,
  type Consolidation,
  consolidate,
  plansFor,
  reconsider,
} from '../../core/disruption/consolidation/consolidate.ts';
import {
  consolidationGuardOf,
  tooYoung,
} from '../../core/disruption/consolidation/consolidation-guard.ts';
import { evictionCostOf } from '../../core/disruption/consolidation/eviction-cost.ts';
import { limitsGuardOf } from '../../core/disruption/consolidation/limits-guard.ts';
import { type Move, snapshotAfter } from '../../core/disruption/consolidation/move.ts';
import {
  disruptionOf,
  type PoolUse,
  paybackMs,
  type Usage,
} from '../../core/disruption/consolidation/payback.ts';
import { isConsolidatable } from '../../core/disruption/pod-events.ts';
import { money } from '../../core/model/currency.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  RESERVATION_ID,
  SPOT,
  ZONE,
} from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { consolidationRecording } from '../recording/recording.ts';
import type { ApprovedDisruption } from '../writes/approval.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { Allowance } from './budgets.ts';
import { type Standing, standingNodes } from './candidates.ts';
import { end, hold, letStay, UNDERUTILIZED } from './commands.ts';
import { endingsLeft } from './emptiness.ts';
import { withoutFailedMoves } from './failed-moves.ts';
import type { DisruptPass } from './pass.ts';
import { createReplacements, replacementClaims, sayWaiting } from './replacements.ts';
import { reservedSnapshot } from './snapshot.ts';
import { opened } from './untainted.ts';
import { isBraked, isLaunchPaused, waitsForPool } from './waiting.ts';

/** Where not all nodes can be looked at, each minute begins with others. */
const TURN_MS = 60_000;

/** USD an hour of what the claim's instance was bought as; undefined: nobody knows. */
function priceOf({ resolution }: DisruptPass, { labels }: NodeClaim): number | undefined {
  const types = resolution.instanceTypes.get(labels[NODE_POOL] ?? '');
  const type = types?.find(({ name }) => name === labels[INSTANCE_TYPE]);
  return type?.offerings.find(
    ({ zone, capacityType, reservation }) =>
      zone === labels[ZONE] &&
      capacityType === labels[CAPACITY_TYPE] &&
      reservation?.id === labels[RESERVATION_ID],
  )?.price;
}

/** A node whose price is known. */
type Priced = Usage & Standing;

function pricedNodes(pass: DisruptPass, standing: readonly Standing[]): readonly Priced[] {
  return standing.flatMap((each): readonly Priced[] => {
    const pricePerHour = priceOf(pass, each.claim);
    if (pricePerHour === undefined) return [];
    const isSpot = each.claim.labels[CAPACITY_TYPE] === SPOT;
    const isDrifted = each.judged.drifts.length > 0;
    const evictionCost = evictionCostOf(each.pods);
    return [{ ...each, pricePerHour, isSpot, isDrifted, evictionCost }];
  });
}

function poolUses(nodes: readonly Priced[]): ReadonlyMap<string, PoolUse> {
  const byPool = Map.groupBy(nodes, ({ pool }) => pool.name);
  return new Map(
    [...byPool].map(([name, own]) => [
      name,
      {
        pricePerHour: own.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0),
        disruption: own.reduce((sum, each) => sum + disruptionOf(each), 0),
      },
    ]),
  );
}

/** Why nodes of its pool with pods never go, or not so soon; undefined: they may. */
function reasonNotDue({ nowMs }: DisruptPass, each: Priced): string | undefined {
  const { pool } = each;
  const { consolidationPolicy, consolidateAfter } = pool.disruption;
  if (pool.replicas !== undefined) return `NodePool ${pool.name} is static`;
  if (consolidationPolicy === 'WhenEmpty') return 'consolidationPolicy is WhenEmpty';
  if (consolidateAfter === 'Never') return 'consolidateAfter is Never';
  if (isConsolidatable(each, consolidateAfter, nowMs)) return undefined;
  return 'a pod was bound or deleted within consolidateAfter';
}

/** Those of the nodes with pods that their pools let go now; what is known of the others is noted. */
function dueNodes(pass: DisruptPass, nodes: readonly Priced[]): readonly Priced[] {
  return nodes.filter((each) => {
    if (isEmpty(each)) return false;
    const reason = reasonNotDue(pass, each);
    if (reason !== undefined) pass.kept.set(each.claim.name, reason);
    return reason === undefined;
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/**
 * Of these nodes the ones that nothing holds. What does is not said with events: whether a move
 * would pay back nobody knows then.
 */
async function freeNodes(
  { state, nowMs, events, kept, unconsolidatable }: DisruptPass,
  nodes: readonly Priced[],
  allowance: Allowance,
): Promise<readonly Priced[]> {
  const free: Priced[] = [];
  for (const each of nodes) {
    const { claim, pool } = each;
    const unread = [limitsGuardOf(pool), consolidationGuardOf(pool)].find(isText);
    if (unread !== undefined) await events.ofPool(pool, unread);
    const isSpent = allowance.left(pool) <= 0;
    const ofPool = unread ?? waitsForPool(pool)?.message ?? tooYoung(pool, claim, nowMs);
    const own = heldBy(each, state.objects.podDisruptionBudgets, nowMs) ?? unevictableBy(each);
    const spent = isSpent ? `Budgets of NodePool ${pool.name} allow no disruption now` : undefined;
    const reason = ofPool ?? own ?? spent;
    if (reason === undefined) free.push(each);
    else kept.set(claim.name, reason);
    if (reason !== undefined && reason === own) unconsolidatable.add(claim.name);
  }
  return free;
}

/** What the search goes by; undefined: there is nothing to look for. */
async function consolidationOf(
  pass: DisruptPass,
): Promise<Omit<Consolidation, 'known'> | undefined> {
  const { settings, nowMs } = pass;
  const nodes = pricedNodes(pass, standingNodes(pass));
  const due = dueNodes(pass, nodes);
  if (due.length === 0 || isLaunchPaused(pass) || (await isBraked(pass))) return undefined;
  const allowance = new Allowance(pass, UNDERUTILIZED);
  const candidates = await freeNodes(pass, due, allowance);
  if (candidates.length === 0) return undefined;
  const { snapshot: reserved, hosts } = await reservedSnapshot(pass);
  const snapshot = withoutFailedMoves(pass, reserved);
  // What is empty goes for nothing: to move pods there saves no more.
  const restless = nodes.filter((each) => {
    const { consolidateAfter } = each.pool.disruption;
    if (consolidateAfter === 'Never' || each.pool.replicas !== undefined) return false;
    return isEmpty(each) || !isConsolidatable(each, consolidateAfter, nowMs);
  });
  return {
    snapshot,
    candidates: candidates.filter(({ node }) => !hosts.has(node.name)),
    allowance: new Map(candidates.map(({ pool }) => [pool.name, allowance.left(pool)])),
    nodesMax: endingsLeft(pass),
    pools: poolUses(nodes),
    quiet: new Set(restless.map(({ node }) => node.name)),
    scheduling: settings.scheduling,
    settings: settings.consolidation,
    plansMax: plansFor(nodes.length),
    turn: Math.floor(nowMs / TURN_MS),
    asked: pass.asked,
  };
}

function sentence({ settings }: DisruptPass, move: Move): string {
  const { nodes, elsewhere, balance } = move;
  const hosts = [...new Set(elsewhere.values())].sort();
  const where = hosts.length === 0 ? '' : `, its pods go to ${hosts.join(', ')}`;
  const others = nodes.length === 1 ? '' : ` with ${nodes.length - 1} others`;
  const minutes = Math.ceil(paybackMs(balance) / 60_000);
  const saving = `saves ${money(balance.saving, settings.scheduling.currency)} an hour${others}`;
  return `Underutilized: ${saving}${where}; pays back in ${minutes} min`;
}

function countDecision({ ports }: DisruptPass, { nodes, replacements }: Move): void {
  ports.recorder.count('voluntary_disruption_decisions_total', {
    decision: replacements.length === 0 ? 'delete' : 'replace',
    reason: UNDERUTILIZED.toLowerCase(),
    consolidation_type: nodes.length === 1 ? 'single' : 'multi',
  });
}

/** New nodes first: the old ones go when these are ready. */
async function replace(pass: DisruptPass, move: Move, snapshot: ClusterSnapshot): Promise<void> {
  const planned = move.replacements.flatMap((each) => replacementClaims(pass, snapshot, each));
  if (planned.length < move.replacements.length) return;
  const made = await createReplacements(pass, {
    claims: move.nodes.map(({ claim }) => claim),
    replacements: planned,
    needs: move.needs,
    reason: UNDERUTILIZED,
    message: sentence(pass, move),
  });
  if (made.length < planned.length) return;
  countDecision(pass, move);
  for (const [at, { claim, node }] of move.nodes.entries()) {
    await hold(pass, claim, node, UNDERUTILIZED);
    const own = made.filter((_, each) => move.needs[at]?.has(each));
    await sayWaiting(pass, claim, node, own);
  }
  noteMove(pass, move, made);
}

function noteMove(pass: DisruptPass, move: Move, replacements: readonly NodeClaim[]): void {
  const claims = move.nodes.map(({ claim }) => claim);
  const message = sentence(pass, move);
  pass.disruptions.push({ reason: UNDERUTILIZED, claims, replacements, message });
}

/** Whether the tainted nodes may still go, by what is there now and nothing in their place. */
async function mayStillGo(pass: DisruptPass, move: Move): Promise<boolean> {
  const uids = new Set(move.nodes.map(({ claim }) => claim.uid));
  const state = opened(await pass.ports.cluster.read(), uids);
  const again: DisruptPass = { ...pass, state };
  const input = await consolidationOf(again);
  const nodes = input?.candidates.filter(({ claim }) => uids.has(claim.uid)) ?? [];
  if (input === undefined || nodes.length < move.nodes.length) return false;
  const found = reconsider({ ...input, known: new Map() }, nodes);
  return found.kind === 'move' && found.replacements.length === 0;
}

/** Nodes whose pods fit elsewhere are closed, looked at once more, and then deleted. */
async function remove(pass: DisruptPass, move: Move): Promise<void> {
  let held = 0;
  for (const { claim, node } of move.nodes) {
    if ((await hold(pass, claim, node, UNDERUTILIZED)) === 'done') held += 1;
  }
  const goes = held === move.nodes.length && (await mayStillGo(pass, move));
  if (goes) countDecision(pass, move);
  const message = sentence(pass, move);
  await atOnce(WRITES_AT_ONCE, move.nodes, async ({ claim, node }) => {
    const step = async (): Promise<void> => {
      if (goes) {
        await end(pass, claim, node, { reason: UNDERUTILIZED, message });
        return;
      }
      const { node: now } = await pass.ports.cluster.readNode(node.name);
      await letStay(pass, claim, now, true);
    };
    pass.failures.push(...(await attempt(`NodeClaim/${claim.name}`, step)));
  });
  if (move.nodes.every(({ claim }) => pass.deleted.includes(claim.name))) noteMove(pass, move, []);
}

/** What there is to look for, and what is known of it. */
export interface MoveSearch {
  readonly input: Consolidation;
  /** Of the cluster that it was asked in. */
  readonly version: number;
}

/**
 * What to look for in this pass; undefined: nothing, or what would be found is known. Only in a
 * pass in which nothing else has been done: what is known of the nodes has to be so still.
 */
export async function moveSearch(pass: DisruptPass): Promise<MoveSearch | undefined> {
  const { created, deleted, taken, memory } = pass;
  if (created.length + deleted.length + taken.size > 0) return undefined;
  const input = await consolidationOf(pass);
  if (input === undefined) return undefined;
  const why = memory.recall(input);
  if (why === undefined)
    return { input: { ...input, known: memory.known }, version: memory.version };
  noteRefusals(pass, why);
  return undefined;
}

/**
 * Looks for moves of pods of badly used nodes to others, or to cheaper new ones, that pay back. It
 * may take seconds, and nothing is read or written meanwhile.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export function searchMoves(pass: DisruptPass, { input }: MoveSearch): Consolidated {
  const found = consolidate(input);
  pass.memory.keep(found);
  noteRefusals(pass, found.refusals);
  return found;
}

/**
 * Makes the moves that were found, as far as they are such still: others may have written since,
 * and then each is looked at again by what is there now.
 */
export async function makeMoves(
  pass: DisruptPass,
  { input, version }: MoveSearch,
  found: Consolidated,
): Promise<void> {
  const now = await consolidationOf(pass);
  if (now === undefined) return;
  pass.memory.recall(now);
  const isSame = pass.memory.version === version;
  const moves = isSame ? found.moves : stillWorth(pass, now, found.moves.map(wantedOf));
  const [claim] = moves.flatMap(({ nodes }) => nodes.map((each) => each.claim.name));
  if (claim === undefined) return;
  const recorded = consolidationRecording(input, found, pass.nowMs);
  pass.ports.recorder.recording?.(`disrupt-${claim}`, pass.nowMs, recorded);
  await carryOut(pass, now.snapshot, moves);
}

/** Makes a move that was approved, where it still is one: nothing else is looked for. */
export async function makeApprovedMove(
  pass: DisruptPass,
  approved: ApprovedDisruption,
): Promise<void> {
  const now = await consolidationOf(pass);
  if (now !== undefined) await carryOut(pass, now.snapshot, stillWorth(pass, now, [approved]));
}

async function carryOut(
  pass: DisruptPass,
  snapshot: ClusterSnapshot,
  moves: readonly Move[],
): Promise<void> {
  for (const move of moves) {
    if (await pass.karpenter.isActive()) return;
    const isRemoval = move.replacements.length === 0;
    const step = () => (isRemoval ? remove(pass, move) : replace(pass, move, snapshot));
    const name = move.nodes.map((each) => each.claim.name).join(', ');
    pass.failures.push(...(await attempt(`NodeClaim/${name}`, step)));
  }
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
      for (const { claim } of nodes) pass.kept.set(claim.name, again.message);
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

/** Why single nodes stay, of all groups that were looked at. */
function noteRefusals(
  { kept, unconsolidatable }: DisruptPass,
  refusals: ReadonlyMap<string, string>,
): void {
  for (const [claims, message] of refusals) {
    if (claims.includes(',')) continue;
    kept.set(claims, message);
    unconsolidatable.add(claims);
  }
}
