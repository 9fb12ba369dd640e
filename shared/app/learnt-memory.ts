import { allocatable } from '../core/instance-types/allocatable.ts';
import { imageFinder } from '../core/launch/launch-request.ts';
import type { Node } from '../core/model/cluster.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import { INSTANCE_TYPE } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { HUGEPAGES_PREFIX, MEMORY } from '../core/model/resources.ts';
import type { Memory, Ports } from '../ports.ts';

/** The correction that {@link Memory.allocatable} answers. */
export type LearntMemory = Awaited<ReturnType<Memory['allocatable']>>;

const NO_OVERRIDES = { capacityOverride: undefined, overheadOverride: undefined };

/** What one class's kubelets reserve says nothing about the nodes of another. */
function hasKubeletSettings(nodeClass: NodeClass): boolean {
  return nodeClass.spec['kubelet'] !== undefined;
}

/** A node that has just been initialised teaches what its type and image leave to pods. */
export async function learnFrom(
  { memory }: Ports,
  nodeClass: NodeClass,
  claim: NodeClaim,
  node: Node,
): Promise<void> {
  const type = claim.labels[INSTANCE_TYPE];
  const bytes = node.allocatable[MEMORY];
  if (hasKubeletSettings(nodeClass)) return;
  if (type === undefined || claim.imageId === undefined || bytes === undefined) return;
  // Hugepages are carved out of memory on this node, not on others of its type.
  const hugepages = Object.entries(node.capacity)
    .filter(([name]) => name.startsWith(HUGEPAGES_PREFIX))
    .reduce((sum, [, amount]) => sum + amount, 0);
  await memory.learnAllocatable(type, claim.imageId, bytes + hugepages);
}

/** The class's types with the memory that nodes of them turned out to have; others are shared. */
export function withLearntMemory(
  types: readonly InstanceType[],
  nodeClass: NodeClass,
  learnt: LearntMemory,
): readonly InstanceType[] {
  if (hasKubeletSettings(nodeClass)) return types;
  const imageOf = imageFinder(nodeClass.status.images);
  const corrected = types.map((type) => {
    const image = imageOf(type);
    const computed = allocatable(type, NO_OVERRIDES)[MEMORY];
    if (image === undefined || computed === undefined) return type;
    const difference = learnt(type.name, image.id, computed) - computed;
    if (difference === 0) return type;
    const memory = (type.capacity[MEMORY] ?? 0) + difference;
    return { ...type, capacity: { ...type.capacity, [MEMORY]: memory } };
  });
  return corrected.every((type, at) => type === types[at]) ? types : corrected;
}
