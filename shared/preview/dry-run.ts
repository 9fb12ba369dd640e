import { disruptApproved } from '../app/disrupt/approved.ts';
import { disrupt } from '../app/disrupt/disrupt.ts';
import type { Disruption } from '../app/disrupt/pass.ts';
import { observe, type ProvisioningInput } from '../app/planning/provisioning-input.ts';
import { decideForPods } from '../app/provision/decision.ts';
import type { PlannedWritten } from '../app/provision/planned-claims.ts';
import { keepStaticCapacity } from '../app/provision/static-capacity.ts';
import type { ApprovedDisruption } from '../app/writes/approval.ts';
import type { Failure } from '../app/writes/attempt.ts';
import type { Reason } from '../core/explain/reason.ts';
import type { PlannedNodeClaim } from '../core/model/plan.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { PartPlan } from '../core/rollouts/part-plan.ts';
import type { ClusterState } from '../ports.ts';
import { type Copied, copied, type Previewed } from './copy.ts';
import { launchStatic } from './launches.ts';

/** What a pass goes by beside its input. */
export interface DryRunOptions {
  /** The claim of a node about which somebody asks why it stays. */
  readonly asked?: string | undefined;
  /** Nothing else is done. */
  readonly approved?: Approved;
  /** Is called as each part begins: the pods are planned for, the nodes are looked at. */
  readonly onPart?: (part: 'pods' | 'nodes', count: number) => void;
}

/** What of all that is decided is carried out. */
export interface Approved {
  /** Static NodePools that get or lose nodes. */
  readonly pools: ReadonlySet<string>;
  readonly isWanted: (planned: PlannedNodeClaim) => boolean;
  readonly disruptions: readonly ApprovedDisruption[];
}

/** What static NodePools were given or lost. */
export interface Fixed {
  /** By which that was decided. */
  readonly provisioning: ProvisioningInput;
  readonly created: readonly NodeClaim[];
  /** Uids of claims. */
  readonly deleted: readonly string[];
}

/** What `provision` has decided on the copy. */
export interface Provisioned {
  readonly fixed: Fixed;
  readonly provisioning: ProvisioningInput;
  /** All of it, whatever was approved. */
  readonly plan: PartPlan;
  readonly written: readonly PlannedWritten[];
}

/** One pass of `provision` and one of `disrupt` on a copy of the cluster. */
export interface DryRun extends Provisioned {
  readonly copy: Copied;
  /** The copy as `disrupt` has found it. */
  readonly between: ClusterState;
  readonly disruptions: readonly Disruption[];
  /** Why nodes with pods are not consolidated, by the claim's name. */
  readonly kept: ReadonlyMap<string, readonly Reason[]>;
  readonly failures: readonly Failure[];
}

/** The input with these static NodePools alone. */
export function withPools(
  provisioning: ProvisioningInput,
  approved: Approved | undefined,
): ProvisioningInput {
  const pools = provisioning.pools.filter(({ name }) => approved?.pools.has(name) ?? true);
  return { ...provisioning, pools };
}

/** The plan with the claims that were approved alone. */
export function withApproved(plan: PartPlan, approved: Approved | undefined): PartPlan {
  if (approved === undefined) return plan;
  return { ...plan, newNodeClaims: plan.newNodeClaims.filter(approved.isWanted) };
}

/** Plans as `provision` does: static nodes first, which the plan for pods then finds on their way. */
async function provisioned(
  { ports, cluster, settings }: Copied,
  failures: Failure[],
  approved: Approved | undefined,
): Promise<Provisioned> {
  const first = await observe(ports, settings, failures);
  let provisioning = first;
  const { minValuesPolicy } = settings.scheduling;
  const keep = () => keepStaticCapacity(ports, withPools(first, approved), minValuesPolicy);
  if (settings.staticCapacity && (await keep()) > 0) {
    const { instanceTypes } = provisioning.snapshot;
    await launchStatic(cluster, instanceTypes, ports.catalog.region, ports.clock.nowMs());
    provisioning = await observe(ports, settings, failures);
  }
  const fixed = { provisioning: first, created: cluster.created, deleted: [...cluster.deleted] };
  const { plan, written } = await decideForPods(ports, settings, provisioning, (each) =>
    withApproved(each, approved),
  );
  return { fixed, provisioning, plan, written };
}

/**
 * Decides on a copy of the cluster as it was read; pauses are ignored. `asked` is the claim of a
 * node about which somebody asks why it stays. Where something was approved, nothing else is done.
 */
export async function dryRun(
  input: Previewed,
  { asked, approved, onPart = () => undefined }: DryRunOptions = {},
): Promise<DryRun> {
  const copy = copied(input);
  const failures: Failure[] = [];
  const { pods, nodes } = input.state.objects;
  onPart('pods', pods.length);
  const made = await provisioned(copy, failures, approved);
  const between = await copy.cluster.read();
  const { ports, settings } = copy;
  onPart('nodes', nodes.length);
  const {
    disruptions,
    kept,
    failures: refused,
  } = await (approved === undefined
    ? disrupt(ports, settings, {
        saidMax: Number.POSITIVE_INFINITY,
        ...(asked === undefined ? {} : { asked }),
      })
    : disruptApproved(ports, settings, approved.disruptions));
  return { ...made, copy, between, disruptions, kept, failures: [...failures, ...refused] };
}
