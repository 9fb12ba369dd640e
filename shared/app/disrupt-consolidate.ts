import { heldBy, isEmpty, unevictableBy } from '../core/disruption/candidates.ts';
import {
  type Consolidation,
  consolidate,
  reconsider,
} from '../core/disruption/consolidation/consolidate.ts';
import { evictionCostOf } from '../core/disruption/consolidation/eviction-cost.ts';
import { limitsGuardOf } from '../core/disruption/consolidation/limits-guard.ts';
import type { Move } from '../core/disruption/consolidation/move.ts';
import {
  disruptionOf,
  type PoolUse,
  paybackMs,
  type Usage,
} from '../core/disruption/consolidation/payback.ts';
import { isConsolidatable } from '../core/disruption/pod-events.ts';
import { money } from '../core/model/currency.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  RESERVATION_ID,
  SPOT,
  ZONE,
} from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';
import { atOnce, WRITES_AT_ONCE } from './at-once.ts';
import { attempt } from './attempt.ts';
import { Allowance } from './disrupt-budgets.ts';
import { type Standing, standingNodes } from './disrupt-candidates.ts';
import { end, hold, letStay, UNDERUTILIZED } from './disrupt-commands.ts';
import { endingsLeft } from './disrupt-empty.ts';
import { opened } from './disrupt-opened.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { createReplacements, replacementClaims, sayWaiting } from './disrupt-replacements.ts';
import { reservedSnapshot } from './disrupt-snapshot.ts';
import { isBraked, isLaunchPaused, waitsForPool } from './disrupt-waiting.ts';
import { consolidationRecording } from './recording/recording.ts';

/** Plans in one pass: what is left is the next minute's. */
const PLANS_MAX = 20;
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
  if (consolidationPolicy === 'WhenEmpty') return 'consolidationPolicy WhenEmpty keeps it';
  if (consolidateAfter === 'Never') return 'consolidateAfter is Never';
  if (isConsolidatable(each, consolidateAfter, nowMs)) return undefined;
  return 'pods have come or begun to go within consolidateAfter';
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
    const guard = limitsGuardOf(pool);
    if (typeof guard === 'string') await events.ofPool(pool, guard);
    const isSpent = allowance.left(pool) <= 0;
    const ofPool = (typeof guard === 'string' ? guard : undefined) ?? waitsForPool(pool)?.message;
    const own = heldBy(each, state.objects.podDisruptionBudgets, nowMs) ?? unevictableBy(each);
    const spent = isSpent ? `Budgets of NodePool ${pool.name} let no node go now` : undefined;
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
  const { snapshot, hosts } = await reservedSnapshot(pass);
  // What is empty goes for nothing: to move pods there saves no more.
  const restless = nodes.filter((each) => {
    const { consolidateAfter } = each.pool.disruption;
    if (consolidateAfter === 'Never') return false;
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
    plansMax: PLANS_MAX,
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
  const saving = `${money(balance.saving, settings.scheduling.currency)} an hour less${others}`;
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
    reason: UNDERUTILIZED,
    message: sentence(pass, move),
  });
  if (made.length < planned.length) return;
  countDecision(pass, move);
  for (const { claim, node } of move.nodes) {
    await hold(pass, claim, node, UNDERUTILIZED);
    await sayWaiting(pass, claim, node, made);
  }
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
}

/**
 * Moves pods of badly used nodes to others, or to cheaper new ones, where that pays back. Only in a
 * pass in which nothing else has been done: what is known of the nodes has to be so still.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export async function consolidateNodes(pass: DisruptPass): Promise<void> {
  const { created, deleted, taken } = pass;
  if (created.length + deleted.length + taken.size > 0) return;
  const input = await consolidationOf(pass);
  if (input === undefined) return;
  const { memory } = pass;
  const why = memory.recall(input);
  if (why !== undefined) {
    noteRefusals(pass, why);
    return;
  }
  const known = memory.known;
  const found = consolidate({ ...input, known });
  memory.keep(found);
  const [claim] = found.moves.flatMap(({ nodes }) => nodes.map((each) => each.claim.name));
  if (claim !== undefined) {
    const text = consolidationRecording({ ...input, known }, found, pass.nowMs);
    pass.ports.recorder.recording?.(`disrupt-${claim}`, pass.nowMs, text);
  }
  noteRefusals(pass, found.refusals);
  await makeMoves(pass, found.moves, input.snapshot);
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

async function makeMoves(
  pass: DisruptPass,
  moves: readonly Move[],
  snapshot: ClusterSnapshot,
): Promise<void> {
  for (const move of moves) {
    if (await pass.shadow.isCast()) return;
    const isRemoval = move.replacements.length === 0;
    const step = () => (isRemoval ? remove(pass, move) : replace(pass, move, snapshot));
    const name = move.nodes.map(({ claim }) => claim.name).join(', ');
    pass.failures.push(...(await attempt(`NodeClaim/${name}`, step)));
  }
}
