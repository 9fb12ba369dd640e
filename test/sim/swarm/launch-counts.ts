import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import { NODE_POOL, REPLACED_BY, REPLACES } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { World } from '../../../shared/sim/world.ts';
import { FIXED } from './rare-kinds.ts';

/** What the life of a cluster came to. */
export interface LaunchCounts {
  /** Pods that waited for a node, or were on one that was going. */
  readonly waited: number;
  /** Nodes that came for pods and became ready. */
  readonly forPods: number;
  /** Nodes of a static NodePool that were launched in the place of none. */
  readonly forStatic: number;
  /** Nodes that were launched in the place of others. */
  readonly forMoves: number;
  /** The most that were launched in the place of one node, one move after the other. */
  readonly movesOfOne: number;
  /** The longest that a node and all that came in its place were paid for, in minutes. */
  readonly twiceMinutes: number;
}

/** What is known of a claim that was seen. */
interface Seen {
  readonly kind: 'pods' | 'moves' | 'static';
  readonly replaces: readonly string[];
  isLaunched: boolean;
  isReady: boolean;
}

/** Counts what is launched, by why. */
export class Launches {
  private readonly world: World;
  private readonly waited = new Set<string>();
  private readonly seen = new Map<string, Seen>();
  private readonly movesOf = new Map<string, number>();
  private readonly twiceSince = new Map<string, number>();
  private twiceMs = 0;
  private checkedVersion = -1;

  constructor(world: World) {
    this.world = world;
  }

  /** After each change of an object. */
  check(): void {
    const { store, timeline } = this.world;
    if (store.version === this.checkedVersion) return;
    this.checkedVersion = store.version;
    const { pods, nodeClaims } = readState(store).objects;
    const going = new Set(
      nodeClaims.flatMap(({ deletedAtMs, nodeName }) =>
        deletedAtMs === undefined ? [] : nodeName,
      ),
    );
    for (const pod of pods) if (waits(pod, going)) this.waited.add(pod.uid);
    for (const claim of nodeClaims) this.see(claim);
    this.seeTwice(nodeClaims, timeline.nowMs());
  }

  get counts(): LaunchCounts {
    const all = [...this.seen.values()];
    return {
      waited: this.waited.size,
      forPods: all.filter(({ kind, isReady }) => kind === 'pods' && isReady).length,
      forStatic: all.filter(({ kind, isLaunched }) => kind === 'static' && isLaunched).length,
      forMoves: all.filter(({ kind, isLaunched }) => kind === 'moves' && isLaunched).length,
      movesOfOne: Math.max(0, ...this.movesOf.values()),
      twiceMinutes: this.twiceMs / 60_000,
    };
  }

  private see(claim: NodeClaim): void {
    const known = this.seen.get(claim.uid) ?? newlySeen(claim);
    this.seen.set(claim.uid, known);
    known.isReady ||= isTrue(claim, 'Initialized');
    if (known.isLaunched || claim.providerId === undefined) return;
    known.isLaunched = true;
    for (const uid of known.replaces) this.movesOf.set(uid, (this.movesOf.get(uid) ?? 0) + 1);
  }

  /** From when all that came in the place of a node is ready. */
  private seeTwice(claims: readonly NodeClaim[], nowMs: number): void {
    const ready = new Set(
      claims.filter((claim) => isTrue(claim, 'Initialized')).map(({ name }) => name),
    );
    const before = new Map(this.twiceSince);
    this.twiceSince.clear();
    for (const { uid, annotations, deletedAtMs } of claims) {
      const names = annotations[REPLACED_BY]?.split(',') ?? [];
      const isTwice =
        deletedAtMs === undefined && names.length > 0 && names.every((name) => ready.has(name));
      if (isTwice) this.twiceSince.set(uid, before.get(uid) ?? nowMs);
    }
    for (const sinceMs of this.twiceSince.values()) {
      this.twiceMs = Math.max(this.twiceMs, nowMs - sinceMs);
    }
  }
}

function waits(
  { nodeName, phase, controller }: Pod,
  going: ReadonlySet<string | undefined>,
): boolean {
  if (controller?.kind === 'DaemonSet') return false;
  return nodeName === undefined ? phase === 'Pending' : going.has(nodeName);
}

function newlySeen({ labels, annotations }: NodeClaim): Seen {
  const replaces = (annotations[REPLACES] ?? '').split(',').filter((each) => each !== '');
  const isStatic = labels[NODE_POOL] === FIXED;
  const kind = replaces.length > 0 ? 'moves' : isStatic ? 'static' : 'pods';
  return { kind, replaces, isLaunched: false, isReady: false };
}
