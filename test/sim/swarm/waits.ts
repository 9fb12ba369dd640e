import type { Pod } from '../../../shared/core/model/pod.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { World } from '../../../shared/sim/world.ts';

/** After these a NodePool may launch nothing for a while, or not what it should. */
export const UNCERTAIN = [
  ...['ec2-throttles', 'ec2-unknown-code', 'ec2-answer-lost', 'ec2-lag', 'node-never-joins'],
  ...['instance-dies', 'action shortage', 'action spot-wave', 'action lose-kubelet'],
  ...['action delete-nodepool', 'action delete-node', 'action pause-pool', 'action new-image'],
  ...['action delete-nodeclaim', 'pause launch'],
  ...['Node removed by force', 'NodeClaim removed by force'],
];

/** After these, too, a node may be of use late. */
const HINDERING: ReadonlySet<string> = new Set([
  ...UNCERTAIN,
  ...['node joins late', 'node is ready late', 'node has agents late', 'node flaps'],
  ...['node pressure', 'devices are late', 'device plugin is broken', 'kubelet starts anew'],
]);

const LOOK_MS = 10_000;

/** How long pods wait for a node while nothing happens that could keep Joiner from launching one. */
export class Waits {
  private readonly world: World;
  private readonly isHindered: () => boolean;
  private readonly sinceMs = new Map<string, number>();
  private hinderedMs = Number.NEGATIVE_INFINITY;
  private checkedVersion = -1;
  private checkedMs = Number.NEGATIVE_INFINITY;
  private longestMs = 0;

  constructor(world: World, isHindered: () => boolean) {
    this.world = world;
    this.isHindered = isHindered;
  }

  /** Something has happened by which pods may have to wait: it is counted anew. */
  note(what: string): void {
    if (HINDERING.has(what)) this.hinderedMs = this.world.timeline.nowMs();
  }

  /** Looks after each change of an object, and each ten seconds: what hinders may end by itself. */
  check(): void {
    const { store, timeline } = this.world;
    const nowMs = timeline.nowMs();
    const isChanged = store.version !== this.checkedVersion;
    if (!isChanged && nowMs - this.checkedMs < LOOK_MS) return;
    this.checkedMs = nowMs;
    if (this.sinceMs.size > 0 && this.isHindered()) this.hinderedMs = nowMs;
    for (const sinceMs of this.sinceMs.values()) {
      this.longestMs = Math.max(this.longestMs, nowMs - Math.max(sinceMs, this.hinderedMs));
    }
    if (!isChanged) return;
    this.checkedVersion = store.version;
    const waiting = readState(store).objects.pods.filter(waits);
    const uids = new Set(waiting.map(({ uid }) => uid));
    for (const uid of this.sinceMs.keys()) if (!uids.has(uid)) this.sinceMs.delete(uid);
    for (const uid of uids) if (!this.sinceMs.has(uid)) this.sinceMs.set(uid, nowMs);
  }

  get longestMinutes(): number {
    return this.longestMs / 60_000;
  }
}

function waits({ nodeName, phase, controller, deletedAtMs, unschedulable }: Pod): boolean {
  const isOfDaemonSet = controller?.kind === 'DaemonSet';
  const isPending = phase === 'Pending' && deletedAtMs === undefined && unschedulable;
  return nodeName === undefined && isPending && !isOfDaemonSet;
}
