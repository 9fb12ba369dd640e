import type { Failure } from '../../shared/app/writes/attempt.ts';
import { KarpenterLease } from '../../shared/app/writes/karpenter-lease.ts';
import { sentence } from '../../shared/core/explain/reason.ts';
import type { Ports } from '../../shared/ports.ts';
import type { PlanBasis } from '../../shared/preview/basis.ts';
import { dryRun } from '../../shared/preview/dry-run.ts';
import type { Decision } from '../plan/decision.ts';
import { approvedOf } from './approved.ts';
import { carryOut, type Made } from './carry-out.ts';
import { type Verdict, verdictsOf } from './verdict.ts';

/** What an approved plan is carried out by. */
export interface Applying {
  /** To the cluster; the turn to decide is the caller's. */
  readonly ports: Ports;
  /** What decisions go by beside the cluster. */
  readonly basis: PlanBasis;
  readonly decisions: readonly Decision[];
  /** Nothing is written. */
  readonly isDryRun: boolean;
}

/** What came of an approved plan. */
export interface Applied {
  /**
   * `refused`: nothing was written, since not all of it holds; `incomplete`: something was refused
   * on the way, or what holds a node came up meanwhile.
   */
  readonly result: 'applied' | 'incomplete' | 'refused' | 'dry-run';
  /** Why nothing at all could be done; undefined: the decisions say it. */
  readonly refusal: string | undefined;
  readonly decisions: readonly Verdict[];
  /** Names of all NodeClaims that were written. */
  readonly created: readonly string[];
  readonly failures: readonly Failure[];
}

const SHADOWED = 'Karpenter is active in this cluster: Joiner only reads';
const CAME_UP = 'the last check before the deletion failed: the node was opened again';

/** Whether two lists have the same texts, whatever their order. */
function isSameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.toSorted().join(' ') === b.toSorted().join(' ');
}

/** The claims that were written for a decision; undefined: it was not carried out. */
function createdFor(
  { reason, nodePool, pods, nodes, claims }: Decision,
  { written, fixed, disrupted, deleted }: Made,
): readonly string[] | undefined {
  if (reason === 'Provisioned') {
    const keys = pods.map(({ pod }) => pod);
    const found = written.find((each) => isSameSet(each.pods, keys));
    return found && [found.claim.name];
  }
  if (reason === 'Static') {
    const names = fixed.get(nodePool) ?? [];
    const isDone = names.length === claims.length && nodes.every(({ uid }) => deleted.has(uid));
    return isDone ? names : undefined;
  }
  const uids = nodes.map(({ uid }) => uid);
  const found = disrupted.disruptions.find(
    (each) =>
      each.reason === reason &&
      isSameSet(
        uids,
        each.claims.map(({ uid }) => uid),
      ),
  );
  return found?.replacements.map(({ name }) => name);
}

function outcomeOf({ decision }: Verdict, made: Made): Verdict {
  const created = createdFor(decision, made);
  if (created !== undefined) {
    const isBegun = decision.nodes.length > 0 && created.length > 0;
    return { decision, outcome: isBegun ? 'begun' : 'done', reasons: [], created };
  }
  const names = decision.nodes.map(({ nodeClaim }) => nodeClaim);
  const about = new Set([`NodePool/${decision.nodePool}`, 'cluster']);
  for (const name of [...names, names.join(', ')]) about.add(`NodeClaim/${name}`);
  const refused = made.failures.filter(({ object }) => about.has(object));
  const kept = names
    .flatMap((name) => made.disrupted.kept.get(name) ?? [])
    .map((each) => sentence(each));
  const reasons = [...refused.map(({ message }) => message), ...kept];
  return {
    decision,
    outcome: 'failed',
    reasons: reasons.length > 0 ? [...new Set(reasons)] : [CAME_UP],
    created: [],
  };
}

/**
 * Decides again about exactly what was approved, by what is there now, and carries it out where all
 * of it holds: the same pods, nodes and claims, and nothing dearer. Otherwise nothing is done.
 */
export async function applyPlan(applying: Applying): Promise<Applied> {
  const { ports, basis, decisions, isDryRun } = applying;
  const readAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const nothing = { refusal: undefined, created: [], failures: [] };
  if (await new KarpenterLease(ports, state, readAtMs).isActive()) {
    return { ...nothing, result: 'refused', refusal: SHADOWED, decisions: [] };
  }
  const input = { ...basis, live: ports.cluster, state, nowMs: ports.clock.nowMs() };
  const approved = approvedOf(decisions);
  const run = await dryRun(input, { approved });
  const verdicts = verdictsOf(run, input, decisions);
  if (verdicts.some(({ outcome }) => outcome === 'changed')) {
    return { ...nothing, result: 'refused', decisions: verdicts };
  }
  if (isDryRun) return { ...nothing, result: 'dry-run', decisions: verdicts };
  const made = await carryOut(ports, run, approved, state, readAtMs);
  const outcomes = verdicts.map((each) => outcomeOf(each, made));
  const isWhole = outcomes.every(({ outcome }) => outcome !== 'failed');
  return {
    result: isWhole ? 'applied' : 'incomplete',
    refusal: undefined,
    decisions: outcomes,
    created: made.created,
    failures: made.failures,
  };
}
