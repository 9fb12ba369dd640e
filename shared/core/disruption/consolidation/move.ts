import { isReason, type Reason, reason } from '../../explain/reason.ts';
import { invariant } from '../../invariant.ts';
import type { EvictionOrder } from '../../lifecycle/eviction-order.ts';
import { missing } from '../../missing.ts';
import { SPOT } from '../../model/labels.ts';
import type { Plan, PlannedNodeClaim } from '../../model/plan.ts';
import { podKey } from '../../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { strandingOf } from '../../scheduling/playback/stranded.ts';
import { podIndexOf } from '../../scheduling/problem/pod-index.ts';
import { replanned } from '../../scheduling/replan.ts';
import { isReschedulable } from '../candidates.ts';
import {
  obstacle,
  type Places,
  placesOf,
  startingNodes,
  withLeaving,
  withLeavingCounted,
  withPlaces,
} from '../simulation.ts';
import { guarded, leastSaving, settingsFor } from './consolidation-guard.ts';
import { isDemotion, overLimits } from './limits-for-both.ts';
import { looserNodePrices } from './looser-prices.ts';
import { type Narrowed, narrowed, type TypeCount } from './narrowing.ts';
import { needsOf } from './needs.ts';
import { overloaded } from './overloaded.ts';
import {
  type Balance,
  balanceOf,
  type ConsolidationCandidate,
  type ConsolidationSettings,
  gainOf,
  isBalanced,
  type PoolUse,
} from './payback.ts';
import { returningHosts, wouldReturn } from './returning-hosts.ts';
import { undoneByReturn } from './returning-replacements.ts';
import { surgeFor } from './surge-room.ts';
import type { MeteredUsage } from './usage-guard.ts';

/** Nodes that go together, and what comes in their place. */
export interface Move {
  readonly kind: 'move';
  readonly nodes: readonly ConsolidationCandidate[];
  /** Empty: the pods fit on nodes that are there. */
  readonly replacements: readonly PlannedNodeClaim[];
  /** For each of the nodes, the indexes of the replacements that have to be ready before it goes. */
  readonly needs: readonly ReadonlySet<number>[];
  /** Pods that go to nodes which are there. */
  readonly elsewhere: Places;
  /** The order in which the pods are evicted one after the other; undefined: all at once. */
  readonly evictionOrder: EvictionOrder | undefined;
  readonly balance: Balance;
  /** USD saved at the horizon. */
  readonly gain: number;
}

/** Why nodes stay. */
export interface Refusal {
  readonly kind: 'refusal';
  /** Without all of them the nodes may go, or there is a reason that only shows then; not empty. */
  readonly reasons: readonly Reason[];
}

/** What moves are judged by. */
export interface MoveContext {
  readonly snapshot: ClusterSnapshot;
  /** Pods that had no place before anything was moved. */
  readonly waiting: ReadonlySet<string>;
  readonly pools: ReadonlyMap<string, PoolUse>;
  readonly scheduling: SchedulingSettings;
  readonly settings: ConsolidationSettings;
  /** Absent: nobody has asked, as no NodePool has a guard on it. */
  readonly usage?: MeteredUsage | undefined;
  /** As {@link Consolidation} has them. */
  readonly fallbacks?: ReadonlySet<string> | undefined;
  /** Whether limits of NodePools count the nodes that go. @default they do not */
  readonly countsLeaving?: boolean;
}

/** Where one spot node is replaced by another, as many types have to be open, and no more are. */
const SPOT_TYPES = 15;
const ONE_SPOT_NODE: TypeCount = { min: SPOT_TYPES, max: SPOT_TYPES };
const ANY_NUMBER: TypeCount = { min: 1, max: Number.POSITIVE_INFINITY };

/** The cluster with the move made, as far as it is known: pods on nodes that are there already. */
export function snapshotAfter(
  snapshot: ClusterSnapshot,
  { nodes, elsewhere }: Pick<Move, 'nodes' | 'elsewhere'>,
): ClusterSnapshot {
  const without = nodes.reduce((each, { node }) => withLeaving(each, node.name), snapshot);
  return withPlaces(without, elsewhere);
}

/** Why the plan is not one that may be carried out; undefined: it is. */
function fault(
  plan: Plan,
  { waiting }: MoveContext,
  without: ClusterSnapshot,
  moving: ReadonlySet<string>,
): Reason | undefined {
  const early = obstacle(plan, moving, startingNodes(without));
  if (early !== undefined) return early;
  const lost = [...plan.unplaced.keys()].sort().find((pod) => !waiting.has(pod));
  if (lost !== undefined) return reason('pod-would-wait', { pod: lost, why: '' });
  const buffers = new Set(podIndexOf(without.pods).buffers.map(podKey));
  const isForOthers = ({ pods }: PlannedNodeClaim) =>
    !pods.some((pod) => moving.has(pod) || buffers.has(pod));
  return plan.newNodeClaims.some(isForOthers) ? reason('pending-pods-need-node', {}) : undefined;
}

/** Shares of what may be spent beyond the plan that are tried, so that even the worst pays back. */
const SPARE_SHARES = [1, 0.5, 0.2] as const;
/** Halvings in the search for the share that surely pays back. */
const HALVINGS = 20;

/** The sum of what the claims were chosen to cost an hour. */
function chosenPrice(planned: readonly PlannedNodeClaim[]): number {
  return planned.reduce((sum, { chosen }) => sum + chosen.price, 0);
}

/** Whether the move is one to make if what comes in the nodes' place costs so much an hour. */
function isWorth(
  { settings, pools }: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  after: number,
): boolean {
  const balance = balanceOf(nodes, after, settings);
  return gainOf(balance, settings) > 0 && isBalanced(nodes, balance, pools);
}

/**
 * Whether the claims may leave so dear types open: even the dearest cost less than what goes, by as
 * much as NodePools ask for. EC2 launches the cheapest that it has of what is not spot. Of spot it
 * weighs the price against how much there is: there the middle between what was chosen and the
 * dearest has to pay back.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
 */
function isWorthAtWorst(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  planned: readonly PlannedNodeClaim[],
  { worst, asked }: Record<'worst' | 'asked', number>,
): boolean {
  const { saving } = balanceOf(nodes, worst, context.settings);
  if (saving <= 0 || saving < asked) return false;
  const isSpot = planned.some(({ chosen }) => chosen.capacityType === SPOT);
  return !isSpot || isWorth(context, nodes, (chosenPrice(planned) + worst) / 2);
}

/**
 * Shares of the saving that may be spent beyond the plan, largest first: some of which types may
 * leave enough unspent, and then the largest that leaves a gain, and the least that NodePools ask
 * for, though all of it is spent.
 */
function spareShares(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  { chosen, saving, asked }: Record<'chosen' | 'saving' | 'asked', number>,
): readonly number[] {
  let [pays, least] = [0, 1];
  for (let step = 0; step < HALVINGS; step += 1) {
    const share = (pays + least) / 2;
    const isEnough = (1 - share) * saving >= asked;
    if (isEnough && isWorth(context, nodes, chosen + share * saving)) pays = share;
    else least = share;
  }
  return [...SPARE_SHARES.filter((share) => share > pays), pays];
}

/** The claims with only such types as cost no more than this beyond what was chosen. */
function narrowedAll(
  { snapshot }: MoveContext,
  planned: readonly PlannedNodeClaim[],
  spare: number,
  count: TypeCount,
): readonly Narrowed[] | undefined {
  const all: Narrowed[] = [];
  for (const each of planned) {
    const types = snapshot.instanceTypes.get(each.nodePool) ?? missing(each.nodePool);
    const narrow = narrowed(each, types, each.chosen.price + spare, count);
    if (narrow === undefined) return undefined;
    all.push(narrow);
  }
  return all;
}

/** Whether spot nodes are replaced by spot nodes. */
function isSpotToSpot(
  nodes: readonly ConsolidationCandidate[],
  planned: readonly PlannedNodeClaim[],
): boolean {
  const isSpot = planned.some(({ chosen }) => chosen.capacityType === SPOT);
  return isSpot && nodes.every((each) => each.isSpot);
}

/**
 * The replacements with only such types that the move pays back whatever EC2 chooses of them. What
 * may be spent beyond the plan is shared equally. A reason where that cannot be.
 */
function affordable(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  planned: readonly PlannedNodeClaim[],
): readonly PlannedNodeClaim[] | Reason {
  const chosen = chosenPrice(planned);
  const { saving } = balanceOf(nodes, chosen, context.settings);
  const least = leastSaving(nodes);
  // A move that does not bring it as planned is ruled out anyway.
  const asked = saving < least ? 0 : least;
  const isSingle = isSpotToSpot(nodes, planned) && nodes.length === 1;
  const count = isSingle ? ONE_SPOT_NODE : ANY_NUMBER;
  for (const share of spareShares(context, nodes, { chosen, saving, asked })) {
    const spare = (share * saving) / Math.max(1, planned.length);
    const all = narrowedAll(context, planned, spare, count);
    if (all === undefined) continue;
    const worst = all.reduce((sum, { priceMax }) => sum + priceMax, 0);
    if (!isWorthAtWorst(context, nodes, planned, { worst, asked })) continue;
    const isFew = all.some(({ claim }) => claim.instanceTypes.length < SPOT_TYPES);
    if (isSingle && isFew) return reason('spot-types-too-few', { least: SPOT_TYPES });
    return all.map(({ claim }) => claim);
  }
  return reason('cheaper-types-too-few', {});
}

/** What came of a look at nodes. */
export interface Look {
  readonly found: Move | Refusal;
  /** Plans made: one, and where it is too tight looser ones. */
  readonly plans: number;
  /** More plans might have found a move: there were no more to make. */
  readonly isCutShort: boolean;
}

/** What {@link lookAt} comes to, whether limits count the nodes that go or not. */
function lookAtLimited(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  plansMax: number,
): Look {
  const { found, isTight } = moveBy(context, nodes);
  if (!isTight) return { found, plans: 1, isCutShort: false };
  const { scheduling } = context;
  const all = looserNodePrices(scheduling.nodePrice, Number.POSITIVE_INFINITY);
  const prices = looserNodePrices(scheduling.nodePrice, plansMax - 1);
  for (const [at, nodePrice] of prices.entries()) {
    const looser = moveBy({ ...context, scheduling: { ...scheduling, nodePrice } }, nodes);
    if (!looser.isTight && looser.found.kind === 'move') {
      return { found: looser.found, plans: at + 2, isCutShort: false };
    }
  }
  return { found, plans: prices.length + 1, isCutShort: prices.length < all.length };
}

/**
 * What {@link lookAt} comes to where pods may go to any node, fallbacks that return included. Where
 * a NodePool's limits have no room for old and new nodes together, others may launch the new ones.
 */
function lookAtAll(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  plansMax: number,
): Look {
  const look = lookAtLimited(context, nodes, plansMax);
  const { found } = look;
  const isLimited =
    found.kind === 'refusal' && found.reasons.some(({ code }) => code === 'limits-for-both');
  if (!isLimited) return look;
  const left = plansMax - look.plans;
  if (left <= 0) return { ...look, isCutShort: true };
  const other = lookAtLimited({ ...context, countsLeaving: true }, nodes, left);
  const isBetter = other.found.kind === 'move' && !isDemotion(context.snapshot, other.found);
  const plans = look.plans + other.plans;
  return { ...(isBetter ? other : look), plans, isCutShort: other.isCutShort };
}

/** What it would take and bring to do without the nodes, by about so many plans at most. */
export function lookAt(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  plansMax: number,
): Look {
  const look = lookAtAll(context, nodes, plansMax);
  const { fallbacks, scheduling } = context;
  if (look.found.kind !== 'move' || fallbacks === undefined) return look;
  const { closedNodes = [], ...open } = context.snapshot;
  const after = snapshotAfter(open, look.found);
  const hosts = returningHosts(after, look.found.elsewhere, fallbacks, scheduling);
  if (hosts.length === 0) return look;
  const snapshot = { ...open, closedNodes: new Set([...closedNodes, ...hosts]) };
  const again = lookAt({ ...context, snapshot }, nodes, plansMax - look.plans);
  const plans = look.plans + again.plans;
  if (again.found.kind === 'move') return { ...again, plans };
  const reasons = hosts.map((name) => wouldReturn(open, name));
  return { ...again, found: { kind: 'refusal', reasons }, plans };
}

/** What it would take and bring to do without the nodes. */
export function moveOf(
  context: MoveContext,
  nodes: readonly ConsolidationCandidate[],
): Move | Refusal {
  return lookAt(context, nodes, Number.POSITIVE_INFINITY).found;
}

/** What came of one plan. */
interface Attempt {
  readonly found: Move | Refusal;
  /** kube-scheduler may leave pods over: the move is one where it pays back even so. */
  readonly isTight: boolean;
}

function stays(reasons: readonly Reason[]): Attempt {
  return { found: { kind: 'refusal', reasons }, isTight: false };
}

/** Why a move that would pay back within the horizon is not one to make, whatever it launches. */
function ruledOut(
  { settings, scheduling }: MoveContext,
  nodes: readonly ConsolidationCandidate[],
  planned: readonly PlannedNodeClaim[],
  balance: Balance,
): readonly Reason[] {
  const isLaunch = planned.length > 0;
  return [
    ...guarded(nodes, balance, scheduling.currency),
    ...(isLaunch && nodes.some(({ isDrifted }) => isDrifted)
      ? [reason('drift-comes-first', {})]
      : []),
    ...(isSpotToSpot(nodes, planned) && !settings.spotToSpot
      ? [reason('spot-to-spot-off', {})]
      : []),
  ];
}

/** What a move saves is not enough, if it is. */
function unpaid(
  { snapshot, settings, scheduling: { currency } }: MoveContext,
  { saving, cost }: Balance,
): Reason {
  const closed = snapshot.closedNodes?.size ?? 0;
  if (saving <= 0) return reason('pods-not-cheaper', { closed });
  const amounts = { saving: { amount: saving, currency }, cost: { amount: cost, currency } };
  return reason('move-does-not-pay', { ...amounts, hours: settings.horizonMs / 3_600_000 });
}

/** The same by one plan, whose nodes may turn out too tight. */
function moveBy(given: MoveContext, nodes: readonly ConsolidationCandidate[]): Attempt {
  const context = { ...given, settings: settingsFor(nodes, given.settings, given.pools) };
  const { snapshot, scheduling, settings, pools, countsLeaving = false } = context;
  const leave = countsLeaving ? withLeavingCounted : withLeaving;
  const without = nodes.reduce((each, { node }) => leave(each, node.name), snapshot);
  const { plan, state: world } = replanned(without, scheduling);
  const moving = new Set(nodes.flatMap(({ pods }) => pods.filter(isReschedulable)).map(podKey));
  const wrong = fault(plan, context, without, moving);
  if (wrong !== undefined) return stays([wrong]);
  const planned = plan.newNodeClaims;
  const launched = chosenPrice(planned);
  const balance = balanceOf(nodes, launched, settings);
  const gain = gainOf(balance, settings);
  if (gain <= 0) return stays([unpaid(context, balance)]);
  const ruled = ruledOut(context, nodes, planned, balance);
  // With types that pay back by its measure the rest is looked at.
  if (!isBalanced(nodes, balance, pools)) return stays([...ruled, reason('policy-balanced', {})]);
  const replacements = affordable(context, nodes, planned);
  if (isReason(replacements)) return stays([...ruled, replacements]);
  const elsewhere = placesOf(plan, moving, new Set());
  const surge = surgeFor({ without, nodes, elsewhere, planned }, scheduling);
  // Counted as if its nodes stayed: every move makes the cluster cheaper, and moves come to an end.
  const isSurgePaid = surge === undefined || isWorth(context, nodes, launched + surge.price);
  const undone = undoneByReturn(snapshot, nodes, planned, elsewhere, scheduling);
  const obstacles = [
    ...ruled,
    ...(undone === undefined ? [] : [undone]),
    ...(isSurgePaid ? [] : [surge.reason]),
    ...overLimits(snapshot, replacements),
    ...overloaded({ snapshot: without, usage: context.usage }, elsewhere, replacements),
  ];
  if (obstacles.length > 0) return stays(obstacles);
  const { price: stranded, order } = strandingOf(world);
  if (!isWorth(context, nodes, launched + stranded)) {
    return { ...stays([reason('pods-left-over', {})]), isTight: true };
  }
  const needs = needsOf(world, nodes);
  invariant(
    needs.every((each) => [...each].every((index) => index < replacements.length)),
    'a node waits only for replacements of its own move',
  );
  const places = { replacements, needs, elsewhere, evictionOrder: order };
  const found: Move = { kind: 'move', nodes, ...places, balance, gain };
  return { found, isTight: stranded > 0 };
}
