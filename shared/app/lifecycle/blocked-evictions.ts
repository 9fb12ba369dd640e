import { budgetsOf } from '../../core/disruption/candidates.ts';
import type { PodDisruptionBudget } from '../../core/model/cluster.ts';
import { INTERRUPTED } from '../../core/model/labels.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';

/** Pods of a pass that are asked for again although nothing says that they may go by now. */
const PROBES_MAX = 2;
/** The event of a pod that stays blocked is written again after this long; events live an hour. */
const SAID_MS = 30 * 60_000;
/** EC2 takes the node in two minutes: whatever that costs, its pods are asked for in each pass. */
const HURRY_MS = 180_000;

interface Refusal {
  /** What the pod's budgets said when it was refused. */
  readonly budgets: string;
  readonly atMs: number;
}

type Budgets = readonly PodDisruptionBudget[];

function signature(budgets: Budgets): string {
  return JSON.stringify(budgets.map(({ name, disruptionsAllowed }) => [name, disruptionsAllowed]));
}

/** EC2 has warned of the node a moment ago. */
export function isHurried(claim: NodeClaim, nowMs: number): boolean {
  const { deletedAtMs = nowMs } = claim;
  return claim.annotations[INTERRUPTED] !== undefined && nowMs - deletedAtMs < HURRY_MS;
}

/**
 * Pods whose eviction was refused. Each is asked for again when its PodDisruptionBudgets say more
 * than they did; else a few of all in each pass, since budgets are not the only ones that refuse.
 */
export class BlockedEvictions {
  private readonly refusals = new Map<string, Refusal>();
  private readonly saidAtMs = new Map<string, number>();
  private probed: ReadonlySet<string> = new Set();

  /** Begins a pass over these pods; those that are gone are forgotten. */
  begin(pods: readonly Pod[]): void {
    if (this.refusals.size > 0 || this.saidAtMs.size > 0) {
      const known = new Set(pods.map(({ uid }) => uid));
      for (const uid of this.refusals.keys()) if (!known.has(uid)) this.refusals.delete(uid);
      for (const uid of this.saidAtMs.keys()) if (!known.has(uid)) this.saidAtMs.delete(uid);
    }
    const oldest = [...this.refusals].toSorted(([, a], [, b]) => a.atMs - b.atMs);
    this.probed = new Set(oldest.slice(0, PROBES_MAX).map(([uid]) => uid));
  }

  /** Those of the pods that are to be asked for now. */
  due(pods: readonly Pod[], budgets: Budgets): readonly Pod[] {
    return pods.filter((pod) => {
      const refusal = this.refusals.get(pod.uid);
      if (refusal === undefined || this.probed.has(pod.uid)) return true;
      const own = budgetsOf(pod, budgets);
      const isAllowed = own.length > 0 && own.every((each) => each.disruptionsAllowed > 0);
      return isAllowed && signature(own) !== refusal.budgets;
    });
  }

  /** Whether the pod's eviction was asked for last in vain. */
  isRefused({ uid }: Pod): boolean {
    return this.refusals.has(uid);
  }

  /** A pod that goes may have been in the way of others: all are asked for again. */
  note(pod: Pod, isGone: boolean, budgets: Budgets, nowMs: number): void {
    if (isGone) this.refusals.clear();
    else this.refusals.set(pod.uid, { budgets: signature(budgetsOf(pod, budgets)), atMs: nowMs });
  }

  /** Whether people are to be told once more that the pod stays; if so, it counts as said. */
  takeSaying(pod: Pod, nowMs: number): boolean {
    const atMs = this.saidAtMs.get(pod.uid);
    if (atMs !== undefined && nowMs - atMs < SAID_MS) return false;
    this.saidAtMs.set(pod.uid, nowMs);
    return true;
  }
}
