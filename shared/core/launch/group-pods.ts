import { isLive, isNewer, type Pod } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { isWaiting } from '../nomination/planned-pods.ts';
import type { PodGroups } from './pod-groups.ts';

/** For how long the pod has run; 0: it does not. */
export function ranMs(pod: Pod, nowMs: number): number {
  const { startedAtMs = nowMs } = pod;
  return isLive(pod) && pod.phase === 'Running' ? Math.max(0, nowMs - startedAtMs) : 0;
}

/** The pods of a group that say what came of its launches. */
export class GroupPods {
  /** Of those that wait the one that has done so longest. */
  waiting: Pod | undefined;
  waitingCount = 0;
  private readonly byNode = new Map<string, Pod[]>();
  private readonly bound: Pod[] = [];
  private readonly newest = new Map<string, Pod>();
  private readonly moved = new Map<number, ReadonlySet<string>>();

  addWaiting(pod: Pod): void {
    this.waitingCount += 1;
    const { waiting } = this;
    const isOlder =
      waiting === undefined ||
      pod.createdAtMs < waiting.createdAtMs ||
      (pod.createdAtMs === waiting.createdAtMs && pod.uid < waiting.uid);
    if (isOlder) this.waiting = pod;
  }

  addBound(pod: Pod, node: string, look: string): void {
    this.bound.push(pod);
    const newest = this.newest.get(look);
    const isNewest = newest === undefined || isNewer(pod, newest);
    if (isNewest && isLive(pod)) this.newest.set(look, pod);
    const there = this.byNode.get(node);
    if (there === undefined) this.byNode.set(node, [pod]);
    else there.push(pod);
  }

  /** Of those that look so, have a node and are to go on, the one that has come last. */
  like(look: string): Pod | undefined {
    return this.newest.get(look);
  }

  on(node: string | undefined): readonly Pod[] {
    return this.byNode.get(node ?? '') ?? [];
  }

  /** Whether one that waited when the claim was written has found another node since. */
  isElsewhere({ createdAtMs }: NodeClaim, node: string | undefined): boolean {
    let nodes = this.moved.get(createdAtMs);
    if (nodes === undefined) {
      nodes = this.movedSince(createdAtMs);
      this.moved.set(createdAtMs, nodes);
    }
    return nodes.size > (node !== undefined && nodes.has(node) ? 1 : 0);
  }

  /** The nodes, two at most, that pods have found which waited then. */
  private movedSince(atMs: number): ReadonlySet<string> {
    const nodes = new Set<string>();
    for (const pod of this.bound) {
      const { nodeName, createdAtMs, startedAtMs = 0 } = pod;
      if (nodeName === undefined || createdAtMs > atMs || startedAtMs <= atMs) continue;
      if (isLive(pod)) nodes.add(nodeName);
      if (nodes.size === 2) break;
    }
    return nodes;
  }
}

/** By group, the pods that wait and those that were bound since then. */
export function podsByGroup(
  { pods }: Pick<ClusterSnapshot, 'pods'>,
  groups: PodGroups,
  sinceMs: number,
): ReadonlyMap<string, GroupPods> {
  const found = new Map<string, GroupPods>();
  for (const pod of pods) {
    const { nodeName } = pod;
    const isNewlyBound = nodeName !== undefined && (pod.startedAtMs ?? sinceMs) >= sinceMs;
    if (!isWaiting(pod) && !isNewlyBound) continue;
    for (const { id, look } of groups.of(pod)) {
      const group = found.get(id) ?? new GroupPods();
      found.set(id, group);
      if (nodeName === undefined) group.addWaiting(pod);
      else group.addBound(pod, nodeName, look);
    }
  }
  return found;
}
