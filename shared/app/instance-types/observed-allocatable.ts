import { allocatable } from '../../core/instance-types/allocatable.ts';
import { imageFinder } from '../../core/launch/launch-request.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import { hasSpecOf } from '../../core/launch/template-hash.ts';
import type { Node } from '../../core/model/cluster.ts';
import type { InstanceType } from '../../core/model/instance-type.ts';
import { INSTANCE_TYPE } from '../../core/model/labels.ts';
import type { NodeClass } from '../../core/model/node-class.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { HUGEPAGES_PREFIX, MEMORY } from '../../core/model/resources.ts';
import { Remembered } from '../../core/remembered.ts';
import type { Memory, Ports } from '../../ports.ts';

/** The correction that {@link Memory.allocatable} answers. */
export type ObservedMemory = Awaited<ReturnType<Memory['allocatable']>>;

const NO_OVERRIDES = { capacityOverride: undefined, overheadOverride: undefined };

/** What one class's kubelets reserve says nothing about the nodes of another. */
function hasKubeletSettings(nodeClass: NodeClass): boolean {
  return nodeClass.spec['kubelet'] !== undefined;
}

/**
 * The image with the user data that it is started with, which may reserve memory as well: what it
 * leaves on the nodes of one class says nothing about those of another.
 */
function startedAs({ spec }: NodeClass, imageId: string): string {
  const { userData } = spec;
  const isOwn = typeof userData === 'string' && userData !== '';
  return isOwn ? `${imageId}/${sha256(userData).slice(0, 12)}` : imageId;
}

/** A node that has just been initialised teaches what its type and image leave to pods. */
export async function recordAllocatable(
  { memory }: Ports,
  nodeClass: NodeClass,
  claim: NodeClaim,
  node: Node,
): Promise<void> {
  const type = claim.labels[INSTANCE_TYPE];
  const bytes = node.allocatable[MEMORY];
  // Before a change of the class it may have reserved more.
  if (hasKubeletSettings(nodeClass) || !hasSpecOf(nodeClass)(claim)) return;
  if (type === undefined || claim.imageId === undefined || bytes === undefined) return;
  // Hugepages are carved out of memory on this node, not on others of its type.
  const hugepages = Object.entries(node.capacity)
    .filter(([name]) => name.startsWith(HUGEPAGES_PREFIX))
    .reduce((sum, [, amount]) => sum + amount, 0);
  await memory.recordAllocatable(type, startedAs(nodeClass, claim.imageId), bytes + hugepages);
}

/** What a correction begins with: how each type is started, and the memory that is computed. */
type Computed = readonly ({ readonly image: string; readonly memory: number } | undefined)[];

/** Classes of one catalog differ in few images and kubelets; more than this are worked out again. */
const CLASSES_MAX = 8;
const computed = new Remembered<readonly InstanceType[], Computed>(CLASSES_MAX);
const corrected = new Remembered<Computed, readonly InstanceType[]>(1);

function computedOf(types: readonly InstanceType[], nodeClass: NodeClass): Computed {
  const { images } = nodeClass.status;
  return computed.of(types, startedAs(nodeClass, JSON.stringify(images)), () => {
    const imageOf = imageFinder(images);
    return types.map((type) => {
      const id = imageOf(type)?.id;
      const memory = allocatable(type, NO_OVERRIDES)[MEMORY];
      if (id === undefined || memory === undefined) return undefined;
      return { image: startedAs(nodeClass, id), memory };
    });
  });
}

/**
 * The class's types with the memory that nodes of them turned out to have; others are shared. The
 * same types, images and corrections are answered with the same list.
 */
export function withObservedMemory(
  types: readonly InstanceType[],
  nodeClass: NodeClass,
  learnt: ObservedMemory,
): readonly InstanceType[] {
  if (hasKubeletSettings(nodeClass)) return types;
  const before = computedOf(types, nodeClass);
  const differences = new Map<number, number>();
  for (const [at, { name }] of types.entries()) {
    const own = before[at];
    if (own === undefined) continue;
    const difference = learnt(name, own.image, own.memory) - own.memory;
    if (difference !== 0) differences.set(at, difference);
  }
  if (differences.size === 0) return types;
  return corrected.of(before, JSON.stringify([...differences]), () =>
    types.map((type, at) => {
      const difference = differences.get(at);
      if (difference === undefined) return type;
      const memory = (type.capacity[MEMORY] ?? 0) + difference;
      return { ...type, capacity: { ...type.capacity, [MEMORY]: memory } };
    }),
  );
}
