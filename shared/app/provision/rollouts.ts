import { planForLeftWaiting } from '../../core/disruption/left-waiting.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../core/model/snapshot.ts';
import { expectedPods, waitingSets } from '../../core/rollouts/expected-pods.ts';
import { type PartPlan, planWhole } from '../../core/rollouts/part-plan.ts';
import type { Ports } from '../../ports.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import { attempt } from '../writes/attempt.ts';

/** A plan, and the pods that it expected. */
export interface Rollouts {
  readonly plan: PartPlan;
  readonly expected: readonly Pod[];
  /** What the plan was made on. */
  readonly snapshot: ClusterSnapshot;
}

/** Plans for what waits and what ReplicaSets have still to make. */
export async function planRollouts(
  { cluster, clock }: Ports,
  { snapshot, present, failures }: Pick<ProvisioningInput, 'snapshot' | 'present' | 'failures'>,
  settings: SchedulingSettings,
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
  const make = (each: ClusterSnapshot): PartPlan => planWhole(each, settings, expected);
  const first = { snapshot, plan: make(snapshot) };
  return { ...planForLeftWaiting(first, present, make, clock.nowMs()), expected };
}
