import { isTrue } from '../../../shared/core/lifecycle/conditions.ts';
import { DECISION, NODE_POOL, REPLACED_BY, REPLACES } from '../../../shared/core/model/labels.ts';
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
  /**
   * Nodes that were launched in the place of others; of each move no more than it replaces: several
   * small ones may be cheaper than a large one.
   */
  readonly forMoves: number;
  /** Those beyond: small ones in the place of a large one. */
  readonly forSmaller: number;
  /** The most moves that launched something in the place of one node. */
  readonly movesOfOne: number;
  /** The longest that a node and all that came in its place were paid for, in minutes. */
  readonly twiceMinutes: number;
}

/** What is known of a claim that was seen. */
interface Seen {
  readonly kind: 'pods' | 'moves' | 'static';
  readonly replaces: readonly string[];
  /** The same for all that one move launches in the place of the same nodes. */
  readonly move: string;
  isLaunched: boolean;
  isReady: boolean;
}

/** Counts what is launched, by why. */
export class Launches {
  private readonly world: World;
  private readonly waited = new Set<string>();
  private readonly seen = new Map<string, Seen>();
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
      ...movesOf(all.filter(({ kind, isLaunched }) => kind === 'moves' && isLaunched)),
      twiceMinutes: this.twiceMs / 60_000,
    };
  }

  private see(claim: NodeClaim): void {
    const known = this.seen.get(claim.uid) ?? newlySeen(claim);
    this.seen.set(claim.uid, known);
    known.isReady ||= isTrue(claim, 'Initialized');
    known.isLaunched ||= claim.providerId !== undefined;
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

/** Of the claims that moves have launched. */
function movesOf(
  launched: readonly Seen[],
): Pick<LaunchCounts, 'forMoves' | 'forSmaller' | 'movesOfOne'> {
  const moves = [...Map.groupBy(launched, ({ move }) => move).values()];
  const ofNode = new Map<string, number>();
  let forMoves = 0;
  for (const made of moves) {
    const replaced = made[0]?.replaces ?? [];
    forMoves += Math.min(made.length, replaced.length);
    for (const uid of replaced) ofNode.set(uid, (ofNode.get(uid) ?? 0) + 1);
  }
  const forSmaller = launched.length - forMoves;
  return { forMoves, forSmaller, movesOfOne: Math.max(0, ...ofNode.values()) };
}

/** When the replacement was decided on, as its decision is named by it. */
export function momentOf({ name, annotations }: NodeClaim): string {
  return /-replace-(\d+)$/.exec(annotations[DECISION] ?? '')?.[1] ?? name;
}

function newlySeen(claim: NodeClaim): Seen {
  const { labels, annotations } = claim;
  const replaces = (annotations[REPLACES] ?? '').split(',').filter((each) => each !== '');
  const isStatic = labels[NODE_POOL] === FIXED;
  const kind = replaces.length > 0 ? 'moves' : isStatic ? 'static' : 'pods';
  const move = `${momentOf(claim)} ${replaces.join()}`;
  return { kind, replaces, move, isLaunched: false, isReady: false };
}
