import { blockersOf, inTurn, isEmpty, unevictableBy } from '../../core/disruption/candidates.ts';
import { preferredOver, returnTermsOf } from '../../core/disruption/first-choice.ts';
import { heldBefore } from '../../core/disruption/not-due.ts';
import {
  keptFromReturn,
  type Return,
  returnOf,
  returnsLater,
} from '../../core/disruption/return.ts';
import { withReserved } from '../../core/disruption/simulation.ts';
import { isReason, type Reason, reason } from '../../core/explain/reason.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { offeringOfClaim } from '../../core/model/claim-offering.ts';
import { money } from '../../core/model/currency.ts';
import { CAPACITY_TYPE } from '../../core/model/labels.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { attempt } from '../writes/attempt.ts';
import {
  blockedByPool,
  isDisruptionPaused,
  isLaunchPaused,
  LAUNCHES_PAUSED,
  pausedSoon,
} from './blocked.ts';
import { Allowance } from './budgets.ts';
import { type DisruptionCandidate, disruptionCandidates } from './candidates.ts';
import { beginDisruption } from './commands.ts';
import type { DisruptionMethod, Search } from './method.ts';
import { movesSnapshot } from './moves-snapshot.ts';
import { type DisruptPass, mayChoose } from './pass.ts';
import { createReplacements, recordWaiting, replacementClaims } from './replacements.ts';

/** Plans in one pass: what is left is the next minute's. */
const PLANS_MAX = 5;

/** Whether there is something that is tried before a node, of a NodePool that asks for it. */
function fallbackTest(pass: DisruptPass): (each: DisruptionCandidate) => boolean {
  const typesOf = (name: string) => pass.resolution.instanceTypes.get(name) ?? [];
  const pools = pass.state.objects.nodePools.filter(({ template }) =>
    isOurs(template.nodeClassRef),
  );
  const known = new Map<string, boolean>();
  return ({ claim, pool }) => {
    if (returnTermsOf(pool) === undefined) return false;
    const key = `${pool.name} ${claim.labels[CAPACITY_TYPE] ?? ''}`;
    const is = known.get(key) ?? preferredOver(claim, pool, pools, typesOf).length > 0;
    known.set(key, is);
    return is;
  };
}

/** Fallbacks with pods, the oldest first. Drift replaces its own by what is tried first. */
function fallbackCandidates(pass: DisruptPass): readonly DisruptionCandidate[] {
  const isFallback = fallbackTest(pass);
  return disruptionCandidates(pass)
    .filter((each) => !isEmpty(each) && each.drift.drifts.length === 0 && isFallback(each))
    .filter(({ claim }) => mayChoose(pass, claim, 'Fallback'))
    .toSorted(
      ({ claim: a }, { claim: b }) => a.createdAtMs - b.createdAtMs || (a.name < b.name ? -1 : 1),
    );
}

/** Why its pool lets no node return now, since the last one failed; empty: it does. */
function backedOff({ memory, nowMs }: DisruptPass, nodePool: string): readonly Reason[] {
  const leftMs = memory.returns.waitsUntilMs(nodePool) - nowMs;
  if (leftMs <= 0) return [];
  return [reason('return-backed-off', { nodePool, minutes: Math.ceil(leftMs / 60_000) })];
}

/** All that holds the node, whatever could be had for its pods. */
function heldBy(
  pass: DisruptPass,
  each: DisruptionCandidate,
  allowance: Allowance,
): readonly Reason[] {
  const { state, nowMs } = pass;
  const { podDisruptionBudgets } = state.objects;
  const { name: nodePool, replicas } = each.pool;
  return [
    ...(replicas === undefined ? [] : [reason('nodepool-static-stays', { nodePool })]),
    ...blockedByPool(pass, each.pool).flatMap(({ reasons }) => reasons),
    ...returnsLater(each.pool, each.claim, nowMs),
    ...pausedSoon(pass, each.pool),
    ...backedOff(pass, nodePool),
    ...heldBefore(each.claim, nowMs),
    ...blockersOf(each, podDisruptionBudgets, nowMs, 'graceful'),
    ...unevictableBy(each),
    ...(allowance.left(each.pool) > 0 ? [] : [reason('budget-blocks', { reason: 'Fallback' })]),
  ];
}

/** Of the candidates those that nothing holds; why the others stay is noted. */
function freeOf(
  pass: DisruptPass,
  candidates: readonly DisruptionCandidate[],
  allowance: Allowance,
): readonly DisruptionCandidate[] {
  const isPaused = isLaunchPaused(pass);
  return candidates.filter((each) => {
    const held = isPaused ? LAUNCHES_PAUSED.reasons : heldBy(pass, each, allowance);
    if (held.length > 0) pass.outcome.fallbacks.set(each.claim.name, held);
    return held.length === 0;
  });
}

/** Whether nodes of the NodePool return at all. */
function returns(pool: NodePool): boolean {
  const terms = returnTermsOf(pool);
  return terms !== undefined && !isReason(terms) && pool.replicas === undefined;
}

/**
 * Names of the nodes that return to what is tried first as soon as they can, now or once they are
 * old enough; undefined: none does. Nodes that cannot return take pods as others do.
 */
export function fallbackNames(pass: DisruptPass): ReadonlySet<string> | undefined {
  const { state, nowMs } = pass;
  const { nodePools, podDisruptionBudgets } = state.objects;
  const returning = new Set(nodePools.filter(returns).map(({ name }) => name));
  // Most clusters have none, and the test below looks at all NodePools.
  if (returning.size === 0) return undefined;
  const isFallback = fallbackTest(pass);
  const names = disruptionCandidates(pass)
    .filter((each) => {
      const { pool } = each;
      if (!returning.has(pool.name) || !isFallback(each)) return false;
      const held = [
        ...backedOff(pass, pool.name),
        ...blockersOf(each, podDisruptionBudgets, nowMs, 'graceful'),
        ...unevictableBy(each),
      ];
      return held.length === 0;
    })
    .map(({ node }) => node.name);
  return names.length === 0 ? undefined : new Set(names);
}

function reasonOf(pass: DisruptPass, { claim, pool }: DisruptionCandidate, found: Return): Reason {
  const { currency } = pass.settings.scheduling;
  const before = offeringOfClaim(claim, pass.resolution.instanceTypes.get(pool.name) ?? []);
  const nodes = found.replacements.map(
    ({ nodePool, chosen }) => `${chosen.capacityType} in NodePool ${nodePool}`,
  );
  const amount = found.replacements.reduce((sum, { chosen }) => sum + chosen.price, 0);
  return reason('first-choice-available', {
    nodes: [...new Set(nodes)].sort(),
    price: { amount, currency },
    was: before === undefined ? '' : money(before.price, currency),
  });
}

/** The new nodes first: the old one goes when they are ready. None: it was refused. */
async function begin(
  pass: DisruptPass,
  candidate: DisruptionCandidate,
  found: Return,
  snapshot: ClusterSnapshot,
): Promise<readonly NodeClaim[]> {
  const { claim, node } = candidate;
  const planned = found.replacements.flatMap((each) => replacementClaims(pass, snapshot, each));
  if (planned.length < found.replacements.length) return [];
  const why = reasonOf(pass, candidate, found);
  const made = await createReplacements(pass, {
    claims: [claim],
    replacements: planned,
    reason: 'Fallback',
    why,
  });
  if (made.length < planned.length) return [];
  const labels = { decision: 'replace', reason: 'fallback', consolidation_type: '' };
  pass.ports.recorder.count('voluntary_disruption_decisions_total', labels);
  await beginDisruption(pass, claim, node, 'Fallback');
  await recordWaiting(pass, claim, node, made);
  pass.outcome.disruptions.push({
    reason: 'Fallback',
    claims: [claim],
    replacements: made,
    reasons: [why],
  });
  return made;
}

/** Begins to return one node, if that may be by what is there now and what was begun before it. */
async function returnNode(
  pass: DisruptPass,
  each: DisruptionCandidate,
  input: { snapshot: ClusterSnapshot; readonly hosts: Set<string> },
): Promise<void> {
  const { claim, node } = each;
  const { snapshot, hosts } = input;
  if (hosts.has(node.name)) return;
  const planned = returnOf(snapshot, each, pass.settings.scheduling);
  if (isReason(planned)) {
    pass.outcome.fallbacks.set(claim.name, [planned]);
    return;
  }
  const made = await begin(pass, each, planned, snapshot);
  if (made.length === 0) return;
  // From here on the room that its pods will go to is nobody else's.
  input.snapshot = withReserved(snapshot, claim, made, planned.elsewhere);
  for (const host of planned.elsewhere.values()) hosts.add(host);
}

/** Begins to return the nodes that were found, as far as they may still go by what is there now. */
async function returnNodes(pass: DisruptPass, uids: ReadonlySet<string>): Promise<void> {
  const found = fallbackCandidates(pass).filter(({ claim }) => uids.has(claim.uid));
  const allowance = new Allowance(pass, 'Fallback');
  const input = await movesSnapshot(pass);
  for (const each of freeOf(pass, found, allowance)) {
    if (!(await allowance.allows(each.pool))) {
      pass.outcome.fallbacks.set(each.claim.name, [
        reason('budget-blocks', { reason: 'Fallback' }),
      ]);
      continue;
    }
    const begun = pass.outcome.disruptions.length;
    const step = () => returnNode(pass, each, input);
    const failures = await attempt(`NodeClaim/${each.claim.name}`, step);
    pass.outcome.failures.push(...failures);
    if (pass.outcome.disruptions.length > begun) allowance.take(each.pool);
    // What was written and what not is seen in the next pass: until then nothing is planned on it.
    if (failures.length > 0) return;
  }
}

/** Why the node does not return: of one about which somebody asks all that is known. */
function reasonsToStay(
  { asked, settings }: DisruptPass,
  why: Reason,
  snapshot: ClusterSnapshot,
  each: DisruptionCandidate,
): readonly Reason[] {
  if (each.claim.name !== asked) return [why];
  return keptFromReturn(why, snapshot, each, settings.scheduling);
}

async function searchLater(
  pass: DisruptPass,
  candidates: readonly DisruptionCandidate[],
): Promise<Search | undefined> {
  if (candidates.length === 0 || (await isDisruptionPaused(pass))) return undefined;
  for (const { pool } of candidates) {
    const terms = returnTermsOf(pool);
    if (terms !== undefined && isReason(terms)) await pass.outcome.events.ofPool(pool, [terms]);
  }
  const free = freeOf(pass, candidates, new Allowance(pass, 'Fallback'));
  if (free.length === 0) return undefined;
  const { snapshot, hosts } = await movesSnapshot(pass);
  const known = pass.memory.returns.recall(snapshot);
  for (const { claim } of free) {
    const why = known.get(claim.name);
    if (why !== undefined) pass.outcome.fallbacks.set(claim.name, [why]);
  }
  const unknown = free.filter(({ claim }) => !known.has(claim.name));
  const due = inTurn(unknown, PLANS_MAX, pass.nowMs).slice(0, PLANS_MAX);
  return {
    run: () => {
      const found = due.filter((each) => {
        if (hosts.has(each.node.name)) return false;
        const planned = returnOf(snapshot, each, pass.settings.scheduling);
        if (!isReason(planned)) return true;
        known.set(each.claim.name, planned);
        pass.outcome.fallbacks.set(each.claim.name, reasonsToStay(pass, planned, snapshot, each));
        return false;
      });
      const uids = new Set(found.map(({ claim }) => claim.uid));
      const carryOut = (again: DisruptPass): Promise<void> => returnNodes(again, uids);
      return { isEmpty: found.length === 0, carryOut };
    },
  };
}

/**
 * Returns nodes that are fallbacks to what is tried first, where their NodePool asks for it in the
 * annotation `joiner.dev/return-to-first-choice`.
 */
export const fallback: DisruptionMethod = {
  reason: 'Fallback',
  candidates: fallbackCandidates,
  disrupt: searchLater,
};
