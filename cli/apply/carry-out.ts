import { type ApprovedReport, disruptApproved } from '../../shared/app/disrupt/approved.ts';
import { createClaims, type PlannedWritten } from '../../shared/app/provision/planned-claims.ts';
import { keepStaticCapacity } from '../../shared/app/provision/static-capacity.ts';
import { isPaused } from '../../shared/app/settings.ts';
import { approvedAnnotation } from '../../shared/app/writes/approval.ts';
import type { Failure } from '../../shared/app/writes/attempt.ts';
import { KarpenterActive, KarpenterLease } from '../../shared/app/writes/karpenter-lease.ts';
import { LeaseLost } from '../../shared/app/writes/write-leases.ts';
import { type ClusterState, PortError, type Ports } from '../../shared/ports.ts';
import {
  type Approved,
  type DryRun,
  withApproved,
  withPools,
} from '../../shared/preview/dry-run.ts';

/** What was written, as far as it came. */
export interface Made {
  readonly written: readonly PlannedWritten[];
  /** Names of claims of static NodePools, by NodePool. */
  readonly fixed: ReadonlyMap<string, readonly string[]>;
  readonly disrupted: ApprovedReport;
  /** Names of all claims that were written. */
  readonly created: readonly string[];
  /** Uids of all claims that were deleted. */
  readonly deleted: ReadonlySet<string>;
  readonly failures: readonly Failure[];
}

/** The port with some calls of one's own. */
function withCalls<Port extends object>(port: Port, own: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, key) {
      const mine: unknown = Reflect.get(own, key);
      const member: unknown = mine ?? Reflect.get(target, key);
      return typeof member === 'function' && mine === undefined ? member.bind(target) : member;
    },
  });
}

/** Notes what is written; where launches are paused, new claims say that they were approved. */
function noting(
  { cluster }: Ports,
  isLaunchHeld: boolean,
  created: string[],
  deleted: Set<string>,
): Ports['cluster'] {
  const approval = isLaunchHeld ? approvedAnnotation('launch') : {};
  return withCalls(cluster, {
    createNodeClaim: async (claim) => {
      const annotations = { ...claim.annotations, ...approval };
      const made = await cluster.createNodeClaim({ ...claim, annotations });
      created.push(claim.name);
      return made;
    },
    delete: async (ref) => {
      const result = await cluster.delete(ref);
      if (result === 'done' && ref.uid !== undefined) deleted.add(ref.uid);
      return result;
    },
  });
}

/** What is decided first is decided on the very state that was compared; later looks are new. */
function beginningWith(cluster: Ports['cluster'], state: ClusterState): Ports['cluster'] {
  let first: ClusterState | undefined = state;
  const read = async (): Promise<ClusterState> => {
    const known = first ?? (await cluster.read());
    first = undefined;
    return known;
  };
  return withCalls(cluster, { read });
}

/** A step of its own: where it is cut short, what was done before it is still told. */
async function stepped<Result>(
  failures: Failure[],
  otherwise: Result,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    const isRefusal = error instanceof LeaseLost || error instanceof KarpenterActive;
    if (!isRefusal && !(error instanceof PortError)) throw error;
    failures.push({ object: 'cluster', message: error.message });
    return otherwise;
  }
}

const NOTHING: ApprovedReport = { disruptions: [], kept: new Map(), failures: [] };

/**
 * Writes what the dry run has decided and somebody has approved, by the code with which `provision`
 * and `disrupt` write it. `readAtMs`: when reading the state began. Nothing of a shared limit group
 * is launched: who approves may not be allowed to reserve its room in the bucket.
 */
export async function carryOut(
  { groupUsages: _, ...ports }: Ports,
  run: DryRun,
  approved: Approved,
  state: ClusterState,
  readAtMs: number,
): Promise<Made> {
  const { pausedUntilMs, karpenterRenewedAtMs } = state;
  const { settings } = run.copy;
  const { minValuesPolicy } = settings.scheduling;
  const failures: Failure[] = [];
  const created: string[] = [];
  const deleted = new Set<string>();
  const isLaunchHeld = isPaused(pausedUntilMs.launch, ports.clock.nowMs());
  const cluster = noting(ports, isLaunchHeld, created, deleted);
  const noted = { ...ports, cluster };
  const karpenter = new KarpenterLease(noted, state, readAtMs);
  const writing = karpenter.guarded(noted);
  const fixed = new Map<string, readonly string[]>();
  for (const pool of approved.pools) {
    const before = created.length;
    const own = withPools(run.fixed.provisioning, { ...approved, pools: new Set([pool]) });
    const keep = () => keepStaticCapacity(writing, { ...own, failures }, minValuesPolicy);
    await stepped(failures, 0, keep);
    fixed.set(pool, created.slice(before));
  }
  const provisioning = { ...run.provisioning, failures };
  const plan = withApproved(run.plan, approved);
  const written = await stepped(failures, [], () => createClaims(writing, provisioning, plan));
  const first = { ...run.between, pausedUntilMs, karpenterRenewedAtMs };
  const disrupting = { ...noted, cluster: beginningWith(cluster, first) };
  const disrupted = await stepped(failures, NOTHING, () =>
    disruptApproved(disrupting, settings, approved.disruptions),
  );
  failures.push(...disrupted.failures);
  return { written, fixed, disrupted, created, deleted, failures };
}
