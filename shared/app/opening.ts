import type { ClaimDecision, LifecycleAction } from '../core/lifecycle/actions.ts';
import { atOnce } from './at-once.ts';

/**
 * Nodes that open together. kube-scheduler tries every pod that waits when a node opens, so pods of
 * nodes that are nominated by then, and open a moment later, do not take each other's room.
 */
const TOGETHER = 20;

/**
 * A node that joins, closed as it is, makes kube-scheduler try the pods, too, and those that have
 * been nominated to a closed node lose that. The second round makes up for it; what has not
 * changed is not written.
 */
const NOMINATING_ROUNDS = 2;

function isNomination({ kind }: LifecycleAction): boolean {
  return kind === 'nominate';
}

/** Carries out the decisions that open nodes: pods of many nodes are nominated, then all open. */
export async function openTogether(
  opening: readonly ClaimDecision[],
  carryOut: (decision: ClaimDecision) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < opening.length; at += TOGETHER) {
    const group = opening.slice(at, at + TOGETHER);
    for (let round = 0; round < NOMINATING_ROUNDS; round += 1) {
      for (const { claim, actions } of group) {
        await carryOut({ claim, actions: actions.filter(isNomination) });
      }
    }
    await atOnce(TOGETHER, group, ({ claim, actions }) =>
      carryOut({ claim, actions: actions.filter((each) => !isNomination(each)) }),
    );
  }
}
