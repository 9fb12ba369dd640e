import type { Reason } from '../../core/explain/reason.ts';
import type { Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import type { ApprovedDisruption } from '../writes/approval.ts';
import type { Failure } from '../writes/attempt.ts';
import { untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { noteCanaries } from './canary.ts';
import { consolidation, makeApprovedMove } from './consolidation.ts';
import { observedAgain, observePass } from './disrupt.ts';
import { METHODS } from './methods.ts';
import type { Disruption, DisruptPass } from './pass.ts';
import { reasonsFound } from './stays.ts';

/** What came of disruptions that were approved. */
export interface ApprovedReport {
  /** Those that were begun or done; all others did not hold any more. */
  readonly disruptions: readonly Disruption[];
  /** Why nodes were not consolidated, by the claim's name. */
  readonly kept: ReadonlyMap<string, readonly Reason[]>;
  readonly failures: readonly Failure[];
}

const OPTIONS = { saidMax: Number.POSITIVE_INFINITY };

async function disruptEach(
  pass: DisruptPass,
  moves: readonly ApprovedDisruption[],
  observeAgain: () => Promise<DisruptPass>,
): Promise<void> {
  await noteCanaries(pass);
  // The room that pods of the decisions before will take is nobody else's.
  const current = async () => (pass.outcome.disruptions.length === 0 ? pass : await observeAgain());
  for (const method of METHODS) {
    // Its search would look for other moves than those that were approved.
    if (method === consolidation) continue;
    const now = await current();
    const search = await method.disrupt(now, method.candidates(now));
    await search?.run().carryOut(now);
  }
  for (const move of moves) await makeApprovedMove(await current(), move);
}

/**
 * Disrupts these nodes alone, if what is in the cluster now still allows it. Whatever blocks a node
 * blocks it here, too, except a pause. Replacements that are under way are left to `disrupt`. The
 * caller holds the Lease `decide`.
 */
export async function disruptApproved(
  ports: Ports,
  settings: AppSettings,
  approved: readonly ApprovedDisruption[],
): Promise<ApprovedReport> {
  const observed = await observePass(ports, settings, OPTIONS);
  const reasons = approved.flatMap(({ claims, reason }) =>
    claims.map((uid) => [uid, reason] as const),
  );
  const pass = { ...observed, approved: new Map(reasons) };
  if (reasons.length > 0 && !(await pass.karpenter.isActive())) {
    const moves = approved.filter(({ reason }) => reason === 'Underutilized');
    const observeAgain = () => observedAgain(ports, settings, OPTIONS, pass);
    await untilKarpenterIsActive(() => disruptEach(pass, moves, observeAgain));
  }
  const { disruptions, failures } = pass.outcome;
  return { disruptions, kept: reasonsFound(pass), failures };
}
