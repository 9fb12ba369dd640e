import type { JoinersWayResult } from '../../shared/core/comparison/joiners-way.ts';
import type { WayResult } from '../../shared/core/comparison/karpenters-way.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import type { PackedNode, Packing } from './packing.ts';
import { Packer, reservedOf } from './planned.ts';

/** Nodes of a way that the first plan made are named by their place in it. */
const PLANNED = /^compared-(\d+)$/;

/** Where a way of deciding comes to rest. Nodes of somebody else are not looked at. */
function packedAtRest(
  before: ClusterSnapshot,
  { snapshot, reserved }: Pick<WayResult, 'snapshot' | 'reserved'>,
  claims: JoinersWayResult['plan']['newNodeClaims'] = [],
): Packing {
  const packer = new Packer(snapshot);
  const there = new Set(before.nodes.map(({ name }) => name));
  const nodes = packer.standing(snapshot, [], (name) => ({
    state: there.has(name) ? 'runs' : 'new',
    why: null,
  }));
  const withLadder = nodes.map((node): PackedNode => {
    const at = PLANNED.exec(node.name)?.[1];
    if (at === undefined) return node;
    const name = `new-${Number(at) + 1}`;
    const made = { ...node, name, nodeClaim: null, reserved: reservedOf(reserved.get(node.name)) };
    const claim = claims[Number(at)];
    if (claim === undefined) return made;
    const { ladder, runnerUp } = packer.planned(claim, name);
    return { ...made, ladder, runnerUp };
  });
  return packer.packing(withLadder.filter(({ nodePool }) => nodePool !== null));
}

/** The nodes of what runs, and of both ways. */
export function packingsOf(
  snapshot: ClusterSnapshot,
  ours: JoinersWayResult,
  theirs: WayResult,
): {
  readonly now: Packing | undefined;
  readonly karpentersWay: Packing;
  readonly joinersWay: Packing;
} {
  const now = packedAtRest(snapshot, { snapshot, reserved: new Map() });
  return {
    now: now.nodes.length > 0 ? now : undefined,
    karpentersWay: packedAtRest(snapshot, theirs),
    joinersWay: packedAtRest(snapshot, ours, ours.plan.newNodeClaims),
  };
}
