import type { Reason } from '../../core/explain/reason.ts';
import { nodeOfClaim } from '../../core/model/joins.ts';
import { recordEvent } from '../writes/claim-events.ts';
import { sayingAll } from '../writes/decisions.ts';
import type { DisruptPass } from './pass.ts';

/** Nodes of which one pass says so: the others follow in the next ones. */
const SAID_MAX = 10;

/** Prices, shares and how many nodes take no pods now change all the time: that is no news. */
function newsOf(reasons: readonly Reason[]): string {
  return reasons.map(({ code }) => code).join(' ');
}

/** Whether there is something of a node that was not said of it last. */
export function hasNews({ driftResults, outcome, memory }: DisruptPass): boolean {
  return [...driftResults.values()].some(({ claim }) => {
    const reasons = outcome.unconsolidatable.get(claim.name);
    return reasons !== undefined && memory.isOther(claim.uid, newsOf(reasons));
  });
}

/**
 * Says of nodes with pods why they stay, where that does not pass by itself, under the name that
 * Karpenter has for it. The same is said once in the life of a process.
 * https://karpenter.sh/docs/concepts/disruption/#consolidation
 */
export async function recordUnconsolidatable(pass: DisruptPass): Promise<void> {
  const { state, driftResults, outcome, memory } = pass;
  memory.forgetOthers(new Set(driftResults.keys()));
  const all = [...driftResults.values()].sort((a, b) => (a.claim.name < b.claim.name ? -1 : 1));
  let left = SAID_MAX;
  for (const { claim } of all) {
    const reasons = outcome.unconsolidatable.get(claim.name);
    if (reasons === undefined) continue;
    if (left === 0) return;
    if (!memory.isNews(claim.uid, newsOf(reasons))) continue;
    left -= 1;
    const said = sayingAll(reasons);
    const event = { type: 'Normal', reason: 'Unconsolidatable', ...said } as const;
    await recordEvent(pass, claim, nodeOfClaim(state.objects.nodes, claim), event);
  }
}
