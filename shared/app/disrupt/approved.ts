import type { Reason } from '../../core/explain/reason.ts';
import type { Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import type { ApprovedDisruption } from '../writes/approval.ts';
import type { Failure } from '../writes/attempt.ts';
import { noteCanaries } from './canary.ts';

import { makeApprovedMove } from './consolidation.ts';
import { observedAgain, observePass } from './disrupt.ts';
import { drift } from './drift.ts';
import { emptiness } from './emptiness.ts';
import type { Disruption } from './pass.ts';

/** What came of disruptions that were approved. */
export interface ApprovedReport {
  /** Those that were begun or done; all others did not hold any more. */
  readonly disruptions: readonly Disruption[];
  /** Why nodes were not consolidated, by the claim's name. */
  readonly kept: ReadonlyMap<string, readonly Reason[]>;
  readonly failures: readonly Failure[];
}

const OPTIONS = { saidMax: Number.POSITIVE_INFINITY };

/**
 * What `disrupt` does with these nodes alone, decided by what is there now: whatever holds a node
 * holds it here, too, but for the brake. Replacements that are under way are left to `disrupt`. The
 * caller has the turn to decide.
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
  const { disruptions, kept, failures } = pass;
  if (reasons.length === 0 || (await pass.karpenter.isActive()))
    return { disruptions, kept, failures };
  await noteCanaries(pass);
  for (const method of [emptiness, drift]) await method.disrupt(pass, method.candidates(pass));
  const moves = approved.filter(({ reason }) => reason === 'Underutilized');
  for (const [at, move] of moves.entries()) {
    // The room that pods of the moves before will take is nobody else's.
    const now = at === 0 ? pass : await observedAgain(ports, settings, OPTIONS, pass);
    await makeApprovedMove(now, move);
  }
  return { disruptions, kept, failures };
}
