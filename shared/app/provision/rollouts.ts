import type { Pod } from '../../core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../core/model/snapshot.ts';
import { expectedPods, waitingSets } from '../../core/rollouts/expected-pods.ts';
import { type PartPlan, planWhole } from '../../core/rollouts/part-plan.ts';
import type { Ports } from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';

/** A plan, and the pods that it expected. */
export interface Rollouts {
  readonly plan: PartPlan;
  readonly expected: readonly Pod[];
}

/** Plans for what waits and what ReplicaSets have still to make. */
export async function planRollouts(
  { cluster }: Ports,
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  failures: Failure[],
): Promise<Rollouts> {
  const sets = waitingSets(snapshot);
  let wanted: ReadonlyMap<string, number> = new Map();
  if (sets.length > 0) {
    const read = async (): Promise<void> => {
      wanted = await cluster.wantedPods(sets);
    };
    failures.push(...(await attempt('ReplicaSets', read)));
  }
  const expected = expectedPods(sets, wanted);
  return { plan: planWhole(snapshot, settings, expected), expected };
}
