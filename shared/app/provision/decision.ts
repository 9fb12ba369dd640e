import type { Pod } from '../../core/model/pod.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import type { PartPlan } from '../../core/rollouts/part-plan.ts';
import type { Ports } from '../../ports.ts';
import { withBackedOff } from '../planning/launch-backoffs.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import type { AppSettings } from '../settings.ts';
import { type Relied, relyOnExisting } from './existing-nodes.ts';
import { createClaims, type PlannedWritten } from './planned-claims.ts';
import { planRollouts } from './rollouts.ts';

/** What was decided for pending pods, and written. */
export interface PodDecision {
  /** As the solver made it, with the pods that it expected. */
  readonly planned: PartPlan;
  readonly expected: readonly Pod[];
  /** What it was made on. */
  readonly snapshot: ClusterSnapshot;
  /** Without pods that wait for a launch back-off. */
  readonly plan: PartPlan;
  readonly decidedAtMs: number;
  readonly written: readonly PlannedWritten[];
  readonly relied: Relied;
}

/**
 * Plans for pending pods and writes the NodeClaims: `provision` decides so, and `joiner plan` on a
 * copy of the cluster. `wanted` takes NodeClaims out that are not to be written.
 */
export async function decideForPods(
  ports: Ports,
  { scheduling }: Pick<AppSettings, 'scheduling'>,
  input: ProvisioningInput,
  wanted: (plan: PartPlan) => PartPlan = (plan) => plan,
): Promise<PodDecision> {
  const { backoffs, failures } = input;
  const rollouts = await planRollouts(ports, input, scheduling);
  const { plan: planned, expected, snapshot } = rollouts;
  const plan = withBackedOff(planned, backoffs);
  const decidedAtMs = ports.clock.nowMs();
  const written = await createClaims(ports, input, wanted(plan));
  const relied = await relyOnExisting(ports, input, plan);
  failures.push(...relied.failures);
  return { planned, expected, snapshot, plan, decidedAtMs, written, relied };
}
