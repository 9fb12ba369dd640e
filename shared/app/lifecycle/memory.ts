import type { SeenTaint } from '../../core/lifecycle/actions.ts';
import { seenTaint } from '../../core/lifecycle/termination.ts';
import type { Node } from '../../core/model/cluster.ts';
import { BlockedEvictions } from './blocked-evictions.ts';
import { KeptInstances } from './kept-instances.ts';
import { KnownRollouts } from './known-rollouts.ts';
import { KeptNominations } from './nomination/kept-nominations.ts';

const MINUTE_MS = 60_000;

/**
 * What lifecycle keeps from one pass to the next in its process. A new process knows of the
 * terminations that the cluster still shows, finds lost nominations with its next pass, and goes on
 * with drains from what their claims say.
 */
export class LifecycleMemory {
  /** Those of nodes that have opened a moment ago. */
  readonly nominations = new KeptNominations();
  /** Pods that may not leave their nodes. */
  readonly blocked = new BlockedEvictions();
  /** Deployments that are restarted for drains. */
  readonly rollouts = new KnownRollouts();
  /** What EC2 has listed last. */
  readonly instances = new KeptInstances();
  private readonly checksEveryMs: number;
  private terminatedAtMs: readonly number[] = [];
  private taints: ReadonlyMap<string, SeenTaint> = new Map();
  private checkedAtMs = Number.NEGATIVE_INFINITY;

  /** EC2's status checks are asked for at most once in this time; 0: in every pass. */
  constructor(checksEveryMs = 0) {
    this.checksEveryMs = checksEveryMs;
  }

  /** Whether the status checks are due; if so, they count as asked for. */
  takeChecks(nowMs: number): boolean {
    if (nowMs < this.checkedAtMs + this.checksEveryMs) return false;
    this.checkedAtMs = nowMs;
    return true;
  }

  /** What was seen of each node's taint, by uid; a node that is gone is forgotten. */
  noteTaints(nodes: readonly Node[], nowMs: number): ReadonlyMap<string, SeenTaint> {
    const before = this.taints;
    this.taints = new Map(
      nodes.map((node) => [node.uid, seenTaint(node, before.get(node.uid), nowMs)]),
    );
    return this.taints;
  }

  addTermination(nowMs: number): void {
    this.terminatedAtMs = [...this.terminatedAtMs, nowMs];
  }

  /** How many there were in the last minute. */
  terminations(nowMs: number): number {
    this.terminatedAtMs = this.terminatedAtMs.filter((atMs) => nowMs - atMs < MINUTE_MS);
    return this.terminatedAtMs.length;
  }
}
