import { blockersOf, type Candidate, isEmpty } from '../../core/disruption/candidates.ts';
import { isIdle, notNeeded } from '../../core/disruption/emptiness.ts';
import { reasonsNotDue } from '../../core/disruption/not-due.ts';
import { isConsolidatable, quietSinceMs } from '../../core/disruption/pod-events.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { INTERRUPTED, NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import { DISRUPTED } from '../../core/model/taint.ts';
import type { ClusterState } from '../../ports.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt } from '../writes/attempt.ts';
import { blockedByPool, isDisruptionPaused, isLaunchPaused, LAUNCHES_PAUSED } from './blocked.ts';
import { Allowance } from './budgets.ts';
import {
  type DisruptionCandidate,
  disruptionCandidates,
  driftedCandidates,
  type PoolCandidate,
} from './candidates.ts';
import { beginDisruption, deleteNodeClaim, untaint } from './commands.ts';
import { type Blocked, blocked } from './events.ts';
import type { DisruptionMethod } from './method.ts';
import { type DisruptPass, mayChoose } from './pass.ts';
import { planningSnapshot } from './snapshot.ts';
import { withoutDisruptedTaint } from './without-disrupted-taint.ts';

/** A node that nothing runs on, of a NodePool that is not static. */
type EmptyCandidate = PoolCandidate;

function byName(a: Candidate, b: Candidate): number {
  return a.claim.name < b.claim.name ? -1 : 1;
}

/** Those of the claims whose nodes are idle in this state, by name. */
function emptyCandidates(
  { objects }: ClusterState,
  uids: ReadonlySet<string>,
  nowMs: number,
): readonly EmptyCandidate[] {
  const { nodeClaims, nodes, nodePools, pods } = objects;
  const pools = new Map(nodePools.map((pool) => [pool.name, pool]));
  return nodeClaims
    .flatMap((claim): readonly EmptyCandidate[] => {
      const pool = pools.get(claim.labels[NODE_POOL] ?? '');
      const node = nodeOfClaim(nodes, claim);
      if (!uids.has(claim.uid) || claim.deletedAtMs !== undefined) return [];
      if (pool?.replicas !== undefined || pool === undefined || node === undefined) return [];
      const candidate = { claim, node, pool, pods: podsOnNode(pods, node.name) };
      return node.deletedAtMs === undefined && isIdle(candidate, nowMs) ? [candidate] : [];
    })
    .sort(byName);
}

/** Those that no pod has left for as long as their pool wants. */
function dueNodes(
  { nowMs }: DisruptPass,
  idle: readonly EmptyCandidate[],
): readonly EmptyCandidate[] {
  return idle.filter((each) =>
    isConsolidatable(each, each.pool.disruption.consolidateAfter, nowMs),
  );
}

function uidsOf(candidates: readonly Candidate[]): Set<string> {
  return new Set(candidates.map(({ claim }) => claim.uid));
}

/** Drifted nodes that could go have gone by then, or something else holds them. */
const SPARE_MS = 15 * 60_000;

/** Whether the node has been idle for so long beyond `consolidateAfter` that no drift waits for it. */
function isUnused(each: EmptyCandidate, nowMs: number): boolean {
  const { consolidateAfter } = each.pool.disruption;
  if (consolidateAfter === 'Never') return false;
  return nowMs >= quietSinceMs(each, nowMs) + consolidateAfter + SPARE_MS;
}

/**
 * Leaves as many current nodes of each pool alone as there are drifted ones with pods that may go
 * now: these find room there, where else nodes of the same kind would be launched.
 */
function withoutSpare(
  pass: DisruptPass,
  idle: readonly EmptyCandidate[],
): readonly EmptyCandidate[] {
  const { state, nowMs, outcome } = pass;
  const { podDisruptionBudgets } = state.objects;
  const drifted = driftedCandidates(pass);
  const allowance = new Allowance(pass, 'Drifted');
  const leaving = drifted.filter(
    (each) =>
      !isEmpty(each) &&
      allowance.left(each.pool) > 0 &&
      blockersOf(each, podDisruptionBudgets, nowMs, 'eventual').length === 0,
  );
  const isDrifted = uidsOf(drifted);
  const spare = Map.groupBy(leaving, ({ pool }) => pool.name);
  const kept = new Map([...spare].map(([pool, nodes]) => [pool, nodes.length]));
  return idle.filter((each) => {
    const { claim, pool } = each;
    const wanted = kept.get(pool.name) ?? 0;
    if (wanted === 0 || isDrifted.has(claim.uid) || isUnused(each, nowMs)) return true;
    kept.set(pool.name, wanted - 1);
    outcome.events.reasons.set(claim.name, [reason('empty-node-needed', {})]);
    return false;
  });
}

const BUDGET_BLOCKS = reason('budget-blocks', { reason: 'Empty' });

/** All that keeps an idle node whose time has come, the first of which an Event says. */
function blocksOf(
  pass: DisruptPass,
  candidate: EmptyCandidate,
  pool: NodePool,
): readonly Blocked[] {
  const { podDisruptionBudgets } = pass.state.objects;
  const own = blockersOf(candidate, podDisruptionBudgets, pass.nowMs, 'graceful');
  return [
    ...(isLaunchPaused(pass) ? [LAUNCHES_PAUSED] : []),
    ...blockedByPool(pass, pool),
    ...(own.length === 0 ? [] : [blocked(own)]),
  ];
}

/** What `lifecycle` counts: the instances that it ends in a minute. */
const MINUTE_MS = 60_000;

/**
 * Whether `lifecycle` may end its instance any moment: its drain has just begun, or is over. A drain
 * that waits for a pod may do so for hours, and nothing else has to wait with it.
 */
function isEnding(claim: NodeClaim, nowMs: number): boolean {
  const { annotations, deletedAtMs, nodeClassRef } = claim;
  if (deletedAtMs === undefined || !isOurs(nodeClassRef)) return false;
  // EC2 takes it anyway: `lifecycle` does not count it either.
  if (annotations[INTERRUPTED] !== undefined) return false;
  return nowMs - deletedAtMs < MINUTE_MS || isTrue(claim, 'Drained');
}

/** How many claims may be deleted: `lifecycle` ends no more instances a minute, and others wait. */
export function endingsLeft({
  state,
  settings,
  nowMs,
}: Pick<DisruptPass, 'state' | 'settings' | 'nowMs'>): number {
  const ending = state.objects.nodeClaims.filter((claim) => isEnding(claim, nowMs));
  return Math.max(0, settings.terminationsPerMinuteMax - ending.length);
}

/** Those that have been idle for long enough, that nothing keeps, and that budgets let go. */
async function chosenNodes(
  pass: DisruptPass,
  idle: readonly EmptyCandidate[],
): Promise<readonly EmptyCandidate[]> {
  const { settings } = pass;
  const { events } = pass.outcome;
  const due = dueNodes(pass, idle);
  if (due.length === 0) return [];
  const snapshot = await planningSnapshot(pass);
  const allowance = new Allowance(pass, 'Empty');
  const free: EmptyCandidate[] = [];
  for (const candidate of due) {
    // Launches of a pool may be halted, which only the snapshot says.
    const pool = snapshot.nodePools.find(({ name }) => name === candidate.pool.name);
    const held = blocksOf(pass, candidate, pool ?? candidate.pool);
    const isAllowed = await allowance.allows(candidate.pool);
    const reasons = [
      ...held.flatMap((each) => each.reasons),
      ...(isAllowed ? [] : [BUDGET_BLOCKS]),
    ];
    events.reasons.set(candidate.claim.name, reasons);
    const [first] = held;
    if (first !== undefined) await events.record(candidate, candidate.pool, first);
    else if (isAllowed) free.push(candidate);
  }
  const chosen: EmptyCandidate[] = [];
  const most = endingsLeft(pass);
  for (const { claim } of free) events.reasons.set(claim.name, [reason('empty-node-needed', {})]);
  for (const candidate of notNeeded(snapshot, free, settings.scheduling)) {
    const { claim, pool } = candidate;
    const stays = [
      ...((await allowance.allows(pool)) ? [] : [BUDGET_BLOCKS]),
      ...(chosen.length < most ? [] : [reason('terminations-capped', {})]),
    ];
    events.reasons.set(claim.name, stays);
    if (stays.length > 0) continue;
    allowance.take(pool);
    chosen.push(candidate);
  }
  return chosen;
}

/** Keeps new pods off the nodes; the uids of the claims of those that could be tainted. */
async function taint(pass: DisruptPass, chosen: readonly EmptyCandidate[]): Promise<Set<string>> {
  const { failures } = pass.outcome;
  const held = new Set<string>();
  for (const { claim } of chosen) pass.changes.taken.add(claim.uid);
  await atOnce(WRITES_AT_ONCE, chosen, async ({ claim, node }) => {
    const name = `NodeClaim/${claim.name}`;
    const step = async (): Promise<void> => {
      if ((await beginDisruption(pass, claim, node, 'Empty')) === 'done') held.add(claim.uid);
    };
    failures.push(...(await attempt(name, step)));
    if (held.has(claim.uid)) return;
    const closed = { ...node, taints: [...node.taints, DISRUPTED] };
    failures.push(...(await attempt(name, () => untaint(pass, claim, closed, true))));
  });
  return held;
}

/** Since when it has been empty. */
function reasonOf(idle: EmptyCandidate, nowMs: number): Reason {
  const { consolidateAfter } = idle.pool.disruption;
  if (consolidateAfter === 'Never' || consolidateAfter === 0) return reason('node-empty', {});
  const since = new Date(quietSinceMs(idle, nowMs)).toISOString();
  return reason('node-empty-since', { since, seconds: consolidateAfter / 1000 });
}

async function remove(pass: DisruptPass, idle: EmptyCandidate): Promise<void> {
  const labels = { decision: 'delete', reason: 'Empty'.toLowerCase(), consolidation_type: 'empty' };
  pass.ports.recorder.count('voluntary_disruption_decisions_total', labels);
  const { claim, node } = idle;
  const reasons = [reasonOf(idle, pass.nowMs)];
  await deleteNodeClaim(pass, claim, node, { reason: 'Empty', reasons });
  pass.outcome.disruptions.push({ reason: 'Empty', claims: [claim], replacements: [], reasons });
}

/** Of the tainted nodes those go that would be chosen again; the others are opened. */
async function finish(pass: DisruptPass, held: ReadonlySet<string>): Promise<void> {
  const { ports, nowMs } = pass;
  const { failures } = pass.outcome;
  const after = await ports.cluster.read();
  const again: DisruptPass = {
    ...pass,
    state: withoutDisruptedTaint(after, held),
    changes: { ...pass.changes, taken: new Set(), chosen: new Set() },
  };
  const idle = emptyCandidates(again.state, held, nowMs);
  const chosen = (await isDisruptionPaused(again)) ? [] : await chosenNodes(again, idle);
  const going = new Map(chosen.map((each) => [each.claim.uid, each]));
  const here = after.objects.nodeClaims.filter(
    ({ uid, deletedAtMs }) => held.has(uid) && deletedAtMs === undefined,
  );
  await atOnce(WRITES_AT_ONCE, here, async (claim) => {
    const name = `NodeClaim/${claim.name}`;
    const found = going.get(claim.uid);
    const failed = found && (await attempt(name, () => remove(pass, found)));
    failures.push(...(failed ?? []));
    if (failed?.length === 0) return;
    const node = nodeOfClaim(after.objects.nodes, claim);
    failures.push(...(await attempt(name, () => untaint(pass, claim, node))));
  });
}

/** Notes why its pool lets the idle node not go; of one about which somebody asks, all else too. */
function noteNotDue(pass: DisruptPass, idle: DisruptionCandidate): void {
  const { name } = idle.claim;
  const reasons = reasonsNotDue(idle, pass.nowMs);
  if (reasons.length === 0) return;
  const isSpent = name === pass.asked && new Allowance(pass, 'Empty').left(idle.pool) <= 0;
  const blocks = name === pass.asked ? blocksOf(pass, idle, idle.pool) : [];
  const others = blocks.flatMap((each) => each.reasons);
  pass.outcome.events.reasons.set(name, [
    ...reasons,
    ...others,
    ...(isSpent ? [BUDGET_BLOCKS] : []),
  ]);
}

function candidates(pass: DisruptPass): readonly DisruptionCandidate[] {
  const idle = disruptionCandidates(pass).filter((each) => isIdle(each, pass.nowMs));
  for (const each of idle) noteNotDue(pass, each);
  return idle.filter(({ pool }) => pool.replicas === undefined).toSorted(byName);
}

async function removeEmpty(
  pass: DisruptPass,
  empty: readonly DisruptionCandidate[],
): Promise<undefined> {
  // In most passes: then drift need not be looked at here.
  if (dueNodes(pass, empty).length === 0) return;
  const idle = withoutSpare(pass, empty).filter(({ claim }) => mayChoose(pass, claim, 'Empty'));
  if (dueNodes(pass, idle).length === 0 || (await isDisruptionPaused(pass))) return;
  const held = await taint(pass, await chosenNodes(pass, idle));
  if (held.size > 0) await finish(pass, held);
}

/**
 * Removes nodes that nothing runs on but DaemonSets, once they have been so for `consolidateAfter`,
 * and that nothing needs. Each is tainted first and then decided about again, by what is there
 * then: whatever kube-scheduler has bound meanwhile stays, and so does its node. Where a run is cut
 * short in between, the next removes the taint.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export const emptiness: DisruptionMethod = {
  reason: 'Empty',
  candidates,
  disrupt: removeEmpty,
};
