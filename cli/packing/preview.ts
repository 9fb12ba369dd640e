import type { Launch } from '../../shared/preview/launches.ts';
import type { Preview } from '../../shared/preview/preview.ts';
import type { PackedNode, Packing } from './packing.ts';
import { Packer } from './planned.ts';

/** A node that is not in the plan for pods: of a static NodePool, or a replacement. */
function bareNode({ nodeClaim, nodePool, chosen, why }: Launch): PackedNode {
  return {
    name: nodeClaim,
    nodeClaim,
    nodePool,
    instanceType: chosen?.type ?? null,
    zone: chosen?.zone ?? null,
    capacityType: chosen?.capacityType ?? null,
    listPrice: chosen?.listPrice ?? null,
    price: chosen?.price ?? null,
    overlays: [],
    state: 'new',
    allocatable: {},
    pods: [],
    reserved: {},
    ladder: null,
    runnerUp: null,
    replaces: [],
    overlaid: {},
    why,
    life: null,
  };
}

/** The nodes that are there, marked where they go, and those that would be launched. */
export function previewPacking(preview: Preview): Packing {
  const { snapshot, plan, launches, removals, leaving } = preview;
  const packer = new Packer(snapshot);
  const going = new Map([...leaving, ...removals].map(({ nodeClaim, why }) => [nodeClaim, why]));
  const there = packer.standing(snapshot, plan.existing, (_, claim) => {
    const why = going.get(claim ?? '');
    return why === undefined ? { state: 'runs', why: null } : { state: 'leaves', why };
  });
  const added = launches.map((launch) => {
    const claim = plan.newNodeClaims.find(({ pods }) => pods === launch.pods);
    if (claim === undefined) return bareNode(launch);
    const { nodeClaim, why } = launch;
    return { ...packer.planned(claim, nodeClaim), nodeClaim, why };
  });
  // Static nodes are in the snapshot already, with an instance that only the preview has.
  const names = new Set(launches.map(({ nodeClaim }) => nodeClaim));
  const others = there.filter(({ nodeClaim }) => nodeClaim === null || !names.has(nodeClaim));
  return packer.packing([...others, ...added]);
}
