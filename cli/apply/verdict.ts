import type { Previewed } from '../../shared/preview/copy.ts';
import type { DryRun } from '../../shared/preview/dry-run.ts';
import { type Decision, decisionKey } from '../plan/decision.ts';
import { asItIsNow, decisionsOf } from '../plan/decisions.ts';
import { decisionChanges } from './differences.ts';
import { changedGrounds, whyNotAgain } from './reasons.ts';

/** What becomes of one approved decision. */
export interface Verdict {
  readonly decision: Decision;
  /**
   * `holds`: it would be carried out; `changed`: it is not decided any more as it was approved;
   * `begun`: its nodes go once what replaces them is ready; `failed`: it was refused on the way.
   */
  readonly outcome: 'holds' | 'changed' | 'done' | 'begun' | 'failed';
  readonly reasons: readonly string[];
  /** Names of the NodeClaims that were written. */
  readonly created: readonly string[];
}

/** Each approved decision beside what is decided now. */
export function verdictsOf(
  run: DryRun,
  input: Previewed,
  approved: readonly Decision[],
): readonly Verdict[] {
  const now = new Map(decisionsOf(run, input).map((each) => [decisionKey(each), each]));
  return approved.map((decision) => {
    const again = now.get(decisionKey(decision));
    const { nodes, reliesOn } = asItIsNow(run, input, decision);
    const changes =
      again === undefined ? whyNotAgain(run, decision, nodes) : decisionChanges(decision, again);
    if (changes.length === 0) return { decision, outcome: 'holds', reasons: [], created: [] };
    const reasons = [...changes, ...changedGrounds(decision, reliesOn)];
    return { decision, outcome: 'changed', reasons, created: [] };
  });
}
