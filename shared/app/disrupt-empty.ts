import { heldBy } from '../core/disruption/candidates.ts';
import { dueAtMs, EMPTY, isIdle, isWaitedFor, notNeeded } from '../core/disruption/emptiness.ts';
import { conditionOf, sameConditions, withConditions } from '../core/lifecycle/conditions.ts';
import type { Condition } from '../core/model/cluster.ts';
import type { ClusterState, ConditionChange } from '../ports.ts';
import { atOnce, WRITES_AT_ONCE } from './at-once.ts';
import { attempt } from './attempt.ts';
import { Allowance } from './disrupt-budgets.ts';
import { type Standing, standingNodes } from './disrupt-candidates.ts';
import { end, hold, letStay } from './disrupt-commands.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { planningSnapshot } from './disrupt-snapshot.ts';
import { isBraked, WaitingEvents, waiting, waitsForPool } from './disrupt-waiting.ts';
import { claimRef } from './references.ts';

/** As a metric's label, Karpenter writes it in lower case. */
const REASON = 'Empty';

/** The list with the condition Empty where the pool wants to know since when a node is. */
function withEmpty(
  conditions: readonly Condition[],
  isNoted: boolean,
  nowMs: number,
): readonly Condition[] {
  if (!isNoted) return conditions.filter(({ type }) => type !== EMPTY);
  const message = 'No pods run on its node but those of DaemonSets';
  const empty = { type: EMPTY, status: 'True', reason: EMPTY, message } as const;
  return withConditions(conditions, [empty], nowMs);
}

/** Where `consolidateAfter` is a time, claims say since when their nodes are empty. */
async function markEmpty(pass: DisruptPass, standing: readonly Standing[]): Promise<void> {
  const { ports, shadow, failures, nowMs } = pass;
  await atOnce(WRITES_AT_ONCE, standing, async (candidate) => {
    const { claim, pool } = candidate;
    const isNoted =
      pool.replicas === undefined &&
      isWaitedFor(pool.disruption.consolidateAfter) &&
      isIdle(candidate, nowMs);
    const conditions: ConditionChange = (now) => withEmpty(now, isNoted, nowMs);
    if (sameConditions(claim.conditions, conditions(claim.conditions))) return;
    if (await shadow.isCast()) return;
    const write = async (): Promise<void> => {
      await ports.cluster.patchNodeClaimStatus(claimRef(claim), { conditions });
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, write)));
  });
}

/** Nodes that have been idle for as long as their pool wants, by name of their claims. */
function dueNodes({ nowMs }: DisruptPass, standing: readonly Standing[]): readonly Standing[] {
  return standing
    .filter((candidate) => {
      const { claim, pool } = candidate;
      if (pool.replicas !== undefined || !isIdle(candidate, nowMs)) return false;
      const dueMs = dueAtMs(claim, pool.disruption.consolidateAfter);
      return dueMs !== undefined && nowMs >= dueMs;
    })
    .toSorted((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
}

/** Those that nothing holds, as many as the budgets of their pools let go. */
async function chosenNodes(
  pass: DisruptPass,
  due: readonly Standing[],
): Promise<readonly Standing[]> {
  const { state, settings, nowMs } = pass;
  const events = new WaitingEvents(pass);
  const free: Standing[] = [];
  for (const candidate of due) {
    const message = heldBy(candidate, state.objects.podDisruptionBudgets, nowMs);
    const reason =
      waitsForPool(candidate.pool) ?? (message === undefined ? undefined : waiting(message));
    if (reason === undefined) free.push(candidate);
    else await events.say(candidate, candidate.pool, reason);
  }
  if (free.length === 0) return [];
  const allowance = new Allowance(pass, REASON);
  const chosen: Standing[] = [];
  for (const candidate of notNeeded(await planningSnapshot(pass), free, settings.scheduling)) {
    if (!(await allowance.allows(candidate.pool))) continue;
    allowance.take(candidate.pool);
    chosen.push(candidate);
  }
  return chosen;
}

/** Keeps new pods off the nodes; those that could be tainted as they were read. */
async function held(pass: DisruptPass, chosen: readonly Standing[]): Promise<readonly Standing[]> {
  const { shadow, failures } = pass;
  const done: Standing[] = [];
  await atOnce(WRITES_AT_ONCE, chosen, async (candidate) => {
    const { claim, node } = candidate;
    if (await shadow.isCast()) return;
    const step = async (): Promise<void> => {
      if ((await hold(pass, claim, node, REASON)) === 'done') done.push(candidate);
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, step)));
  });
  return done.toSorted((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
}

/** Since when, for people. */
function sentence({ claim, pool }: Standing): string {
  const { consolidateAfter } = pool.disruption;
  if (!isWaitedFor(consolidateAfter)) return 'Nothing runs on its node';
  const sinceMs = conditionOf(claim, EMPTY)?.lastTransitionAtMs ?? 0;
  const seconds = Math.round(Number(consolidateAfter) / 1000);
  return `Nothing runs on its node since ${new Date(sinceMs).toISOString()}; consolidateAfter is ${seconds} s`;
}

/** The node as it is once it is tainted: a pod may have come while it was decided about. */
async function finish(
  pass: DisruptPass,
  candidate: Standing,
  { objects }: ClusterState,
): Promise<void> {
  const { claim, node } = candidate;
  const now = objects.nodes.find(({ uid }) => uid === node.uid);
  const here = objects.nodeClaims.find(({ uid }) => uid === claim.uid);
  // Whoever has deleted it meanwhile wants it gone, too.
  if (here === undefined || here.deletedAtMs !== undefined || now === undefined) return;
  const pods = objects.pods.filter(({ nodeName }) => nodeName === node.name);
  const isHeld = heldBy({ claim: here, node: now, pods }, objects.podDisruptionBudgets, pass.nowMs);
  if (!isIdle({ pods }, pass.nowMs) || isHeld !== undefined) {
    await letStay(pass, here, now);
    return;
  }
  const labels = { decision: 'delete', reason: REASON.toLowerCase(), consolidation_type: 'empty' };
  pass.ports.recorder.count('voluntary_disruption_decisions_total', labels);
  pass.removed.add(claim.uid);
  await end(pass, here, now, { reason: REASON, message: sentence(candidate) });
}

/**
 * Removes nodes that nothing runs on but DaemonSets, once they have been so for `consolidateAfter`,
 * and that no pod waits for. Each is tainted first and looked at again: whatever kube-scheduler has
 * bound meanwhile stays, and so does its node. Where a run is cut short in between, the next opens
 * the node again.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export async function removeEmpty(pass: DisruptPass): Promise<void> {
  const { ports, shadow, failures } = pass;
  const standing = standingNodes(pass);
  await markEmpty(pass, standing);
  const due = dueNodes(pass, standing);
  if (due.length === 0 || (await isBraked(pass))) return;
  const tainted = await held(pass, await chosenNodes(pass, due));
  if (tainted.length === 0) return;
  const after = await ports.cluster.read();
  await atOnce(WRITES_AT_ONCE, tainted, async (candidate) => {
    if (await shadow.isCast()) return;
    const step = () => finish(pass, candidate, after);
    failures.push(...(await attempt(`NodeClaim/${candidate.claim.name}`, step)));
  });
}
