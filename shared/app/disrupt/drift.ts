import {
  statesOf,
  type Trials,
  triesText,
  type Verdict,
  verdictOf,
} from '../../core/disruption/canary.ts';
import { blockersOf, inTurn, isEmpty, isReschedulable } from '../../core/disruption/candidates.ts';
import {
  type Places,
  simulate,
  withLeaving,
  withPlaces,
  withReserved,
} from '../../core/disruption/simulation.ts';
import { isReason, type Reason, reason } from '../../core/explain/reason.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { groupRooms, mostOf, refusalBy } from '../../core/limit-groups/group-room.ts';
import { NODE_POOL, TRIES } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import type { NewNodeClaim } from '../../ports.ts';
import { staticClaim } from '../planning/new-claims.ts';
import { attempt } from '../writes/attempt.ts';
import { claimNames } from '../writes/claim-names.ts';
import {
  blockedByPool,
  isDisruptionPaused,
  isLaunchPaused,
  LAUNCHES_PAUSED,
  pausedSoon,
} from './blocked.ts';
import { Allowance } from './budgets.ts';
import { allFailedCanaries } from './canary.ts';
import { type DisruptionCandidate, driftedCandidates } from './candidates.ts';
import { beginDisruption, deleteReplaced, untaint } from './commands.ts';
import { type Blocked, blocked } from './events.ts';
import type { DisruptionMethod } from './method.ts';
import { type DisruptPass, mayChoose } from './pass.ts';
import {
  createReplacements,
  perhapsWritten,
  recordWaiting,
  replacementClaims,
} from './replacements.ts';
import { reservedSnapshot } from './snapshot.ts';

/** Plans in one pass: what is left is the next minute's. */
const SIMULATIONS_MAX = 20;

/** What changes as nodes are chosen. */
interface Choosing {
  readonly pass: DisruptPass;
  snapshot: ClusterSnapshot;
  /** Nodes that pods of others will go to. */
  readonly hosts: Set<string>;
  readonly allowance: Allowance;
  readonly trying: Map<string, string>;
  readonly trials: Trials;
  simulations: number;
}

/** What would take a candidate's place; the name of the pool is in the labels. */
interface Choice {
  readonly kind: 'choice';
  readonly candidate: DisruptionCandidate;
  readonly replacements: readonly NewNodeClaim[];
  readonly elsewhere: Places;
  /** States of which its replacement is the canary. */
  readonly states: readonly string[];
}

async function observe(pass: DisruptPass): Promise<Choosing> {
  const { canaries, proven } = pass;
  const { snapshot, hosts } = await reservedSnapshot(pass);
  const trying = new Map(
    canaries
      .filter(({ trial }) => trial.kind === 'starting')
      .flatMap(({ claim, states }) => states.map((each) => [each, claim.name] as const)),
  );
  const trials = { proven, trying, failed: allFailedCanaries(pass) };
  return {
    pass,
    snapshot,
    hosts,
    allowance: new Allowance(pass, 'Drifted'),
    trying,
    trials,
    simulations: 0,
  };
}

/** One for one; the pool's limit has to leave room for a node more. */
function staticReplacement(
  { pass, snapshot }: Choosing,
  { pool }: DisruptionCandidate,
): readonly NewNodeClaim[] | Reason {
  const known = snapshot.nodePools.find(({ name }) => name === pool.name);
  if (known === undefined || !isTrue(known, 'Ready')) {
    return reason('static-launches-halted', { nodePool: pool.name });
  }
  const count = snapshot.nodeClaims.filter((each) => each.labels[NODE_POOL] === pool.name).length;
  if (count >= (pool.limits['nodes'] ?? Number.POSITIVE_INFINITY)) {
    return reason('static-limit-reached', { nodePool: pool.name });
  }
  const most = mostOf(pool, snapshot.instanceTypes.get(pool.name) ?? []);
  const { currency } = pass.settings.scheduling;
  const refusal = refusalBy(groupRooms(snapshot), pool.name, most, currency);
  if (refusal !== undefined) return refusal;
  const { ports, state } = pass;
  return [staticClaim(pool, claimNames(ports, state.objects.nodeClaims)(pool.name))];
}

/**
 * Whether nothing comes in an empty node's place, so that there is nothing to try. Where there are
 * CapacityBuffers, the node may be the room that they ask for.
 */
function isRemoval({ pass, hosts }: Choosing, candidate: DisruptionCandidate): boolean {
  if (hosts.has(candidate.node.name)) return false;
  const { settings, state } = pass;
  if (settings.capacityBuffer && state.capacityBuffers.length > 0) return false;
  return isEmpty(candidate) && candidate.pool.replicas === undefined;
}

/** What takes the candidate's place, or why nothing can. */
function replacementsOf(
  choosing: Choosing,
  candidate: DisruptionCandidate,
): Pick<Choice, 'replacements' | 'elsewhere'> | Reason {
  const elsewhere: Places = new Map();
  if (candidate.pool.replicas !== undefined) {
    const replacements = staticReplacement(choosing, candidate);
    return isReason(replacements) ? replacements : { replacements, elsewhere };
  }
  if (isRemoval(choosing, candidate)) return { replacements: [], elsewhere };
  choosing.simulations += 1;
  const { settings } = choosing.pass;
  const outcome = simulate(choosing.snapshot, candidate.node, settings.scheduling);
  if (outcome.kind === 'blocked') return outcome.why;
  const replacements = outcome.replacements.flatMap((each) =>
    replacementClaims(choosing.pass, choosing.snapshot, each),
  );
  return { replacements, elsewhere: outcome.elsewhere };
}

/** Whether the candidate may go as far as canaries are concerned. */
function trialVerdict(choosing: Choosing, candidate: DisruptionCandidate): Verdict {
  if (isRemoval(choosing, candidate)) return { kind: 'free' };
  return verdictOf(candidate.drift.drifts, choosing.trials, choosing.pass.nowMs);
}

/** All that makes the candidate wait whatever would replace it, the first of which an Event says. */
function blocksOf(
  { pass }: Choosing,
  candidate: DisruptionCandidate,
  verdict: Verdict,
): readonly Blocked[] {
  const { podDisruptionBudgets } = pass.state.objects;
  const own = blockersOf(candidate, podDisruptionBudgets, pass.nowMs, 'eventual');
  return [
    ...blockedByPool(pass, candidate.pool),
    ...(own.length === 0 ? [] : [blocked(own)]),
    ...(verdict.kind === 'blocked' ? [blocked([verdict.why], true)] : []),
  ];
}

/** What to do with the candidate, or why nothing is done. */
function chosen(choosing: Choosing, candidate: DisruptionCandidate): Choice | readonly Blocked[] {
  const { pass } = choosing;
  const verdict = trialVerdict(choosing, candidate);
  const blocks = blocksOf(choosing, candidate, verdict);
  if (blocks.length > 0) return blocks;
  const found = replacementsOf(choosing, candidate);
  if (isReason(found)) return [blocked([found])];
  if (found.replacements.length > 0) {
    if (isLaunchPaused(pass)) return [LAUNCHES_PAUSED];
    const soon = pausedSoon(pass, candidate.pool);
    if (soon.length > 0) return [blocked(soon, true)];
  }
  const states = verdict.kind === 'canary' ? verdict.states : [];
  return { kind: 'choice', candidate, ...found, states };
}

/** What takes the candidate's place says what it is the first to have. */
async function create(
  { pass }: Choosing,
  { candidate: { claim, drift }, replacements, states }: Choice,
): Promise<readonly NodeClaim[]> {
  const trying = replacements.map((each) => {
    const own = possibleStates(states, each);
    const tries = own.length === 0 ? {} : { [TRIES]: triesText(own) };
    return { ...each, annotations: { ...each.annotations, ...tries } };
  });
  const why = drift.drifts[0]?.why ?? reason('node-drifted', {});
  return await createReplacements(pass, {
    claims: [claim],
    replacements: trying,
    reason: 'Drifted',
    why,
  });
}

/** From here on the room that the node's pods will go to is nobody else's. */
function take(choosing: Choosing, choice: Choice, made: readonly NodeClaim[]): void {
  const { snapshot, hosts } = choosing;
  const { candidate, elsewhere } = choice;
  for (const host of elsewhere.values()) hosts.add(host);
  choosing.snapshot =
    made.length > 0
      ? withReserved(snapshot, candidate.claim, made, elsewhere)
      : withPlaces(withLeaving(snapshot, candidate.node.name), elsewhere);
}

/**
 * Ends a node that nothing replaces, once it is tainted and has been looked at again: what has been
 * bound to it since was not planned for.
 */
async function deleteUnreplaced(
  pass: DisruptPass,
  { claim, node, pods }: DisruptionCandidate,
): Promise<void> {
  const { node: now, pods: bound } = await pass.ports.cluster.readNode(node.name);
  if (now === undefined) return;
  const known = new Set(pods.map(({ uid }) => uid));
  const isNews = bound.some((pod) => isReschedulable(pod) && !known.has(pod.uid));
  const candidate = { claim, node: now, pods: bound };
  const { podDisruptionBudgets } = pass.state.objects;
  const blockers = blockersOf(candidate, podDisruptionBudgets, pass.nowMs, 'eventual');
  if (isNews || blockers.length > 0) {
    await untaint(pass, claim, now, true);
    return;
  }
  await deleteReplaced(pass, { claim, node: now }, 'Drifted', []);
}

/**
 * The claim names its replacements, these are written, and only then is its node tainted: its pods
 * have a place to go to. Whatever happens in between, the next pass goes on or gives up.
 */
async function start(choosing: Choosing, choice: Choice): Promise<void> {
  const { pass, allowance, trying } = choosing;
  const { candidate, replacements, states } = choice;
  const { claim, node, pool } = candidate;
  allowance.take(pool);
  for (const state of states) trying.set(state, replacements[0]?.name ?? claim.name);
  const made = await create(choosing, choice);
  if (made.length < replacements.length) return;
  // What a static claim will be stands in no plan: until it is there, its room cannot be counted on.
  const isStatic = pool.replicas !== undefined;
  const held = isStatic ? 'done' : await beginDisruption(pass, claim, node, 'Drifted');
  const decision = replacements.length === 0 ? 'delete' : 'replace';
  const labels = { decision, reason: 'Drifted'.toLowerCase(), consolidation_type: '' };
  pass.ports.recorder.count('voluntary_disruption_decisions_total', labels);
  take(choosing, choice, made);
  if (made.length > 0) await recordWaiting(pass, claim, node, made);
  else if (held === 'done') await deleteUnreplaced(pass, candidate);
  if (made.length === 0 && !pass.outcome.deleted.includes(claim.name)) return;
  const reasons = candidate.drift.drifts.slice(0, 1).map(({ why }) => why);
  pass.outcome.disruptions.push({
    reason: 'Drifted',
    claims: [claim],
    replacements: made,
    reasons,
  });
}

/** Of the states those that a node of the claim's NodePool and EC2NodeClass can have. */
function possibleStates(states: readonly string[], claim: NewNodeClaim): readonly string[] {
  return statesOf(states, claim.labels[NODE_POOL] ?? '', claim.nodeClassRef.name);
}

/** Whether the plan for a canary launches nothing that would try what is new. */
function triesNothing({ states, replacements }: Choice): boolean {
  return states.length > 0 && !replacements.some((each) => possibleStates(states, each).length > 0);
}

/** An Event says the first where the budgets are not what the candidate waits for. */
async function noteBlocks(
  { outcome: { events } }: DisruptPass,
  candidate: DisruptionCandidate,
  blocks: readonly Blocked[],
  isAllowed: boolean,
): Promise<void> {
  const budget = isAllowed ? [] : [reason('budget-blocks', { reason: 'Drifted' })];
  const reasons = blocks.flatMap((each) => each.reasons);
  events.reasons.set(candidate.claim.name, [...budget, ...reasons]);
  const [first] = blocks;
  if (isAllowed && first !== undefined) await events.record(candidate, candidate.pool, first);
}

async function choose(
  choosing: Choosing,
  candidates: readonly DisruptionCandidate[],
): Promise<void> {
  const { pass, trying, allowance } = choosing;
  const spare: Choice[] = [];
  const begin = async (choice: Choice): Promise<void> => {
    const step = () => start(choosing, choice);
    const { name } = choice.candidate.claim;
    const { snapshot } = choosing;
    const failures = await attempt(`NodeClaim/${name}`, step);
    pass.outcome.failures.push(...failures);
    const isUnsure = failures.length > 0 && choosing.snapshot === snapshot;
    if (isUnsure) take(choosing, choice, perhapsWritten(pass, choice.replacements));
  };
  for (const candidate of candidates) {
    if (choosing.simulations >= SIMULATIONS_MAX) break;
    const isAllowed = await allowance.allows(candidate.pool);
    const choice = isAllowed
      ? chosen(choosing, candidate)
      : blocksOf(choosing, candidate, trialVerdict(choosing, candidate));
    if (!('kind' in choice)) await noteBlocks(pass, candidate, choice, isAllowed);
    else if (triesNothing(choice)) spare.push(choice);
    else await begin(choice);
  }
  // Where all pods find a place without it, nothing new would ever be tried: then one node goes so.
  const [first] = spare.filter(({ states }) => !states.some((each) => trying.has(each)));
  if (first === undefined || !(await allowance.allows(first.candidate.pool))) return;
  // What has begun since may have taken the room that its pods would go to.
  const again = chosen(choosing, first.candidate);
  if ('kind' in again) await begin(again);
}

async function replaceDrifted(
  pass: DisruptPass,
  drifted: readonly DisruptionCandidate[],
): Promise<undefined> {
  const candidates = inTurn(drifted, SIMULATIONS_MAX, pass.nowMs);
  if (candidates.length === 0 || (await isDisruptionPaused(pass))) return;
  await choose(await observe(pass), candidates);
}

/** Replaces drifted nodes, as far as budgets, canaries and pauses allow. */
export const drift: DisruptionMethod = {
  reason: 'Drifted',
  candidates: (pass) =>
    driftedCandidates(pass).filter(({ claim }) => mayChoose(pass, claim, 'Drifted')),
  disrupt: replaceDrifted,
};
