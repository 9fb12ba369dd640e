import type { Amounts, NodeModel, PodCount, Scene } from './model.ts';

/** What of a resource is used of what there is, over some nodes. */
export interface Use {
  readonly used: number;
  readonly there: number;
}

export function amount(amounts: Amounts, resource: string): number {
  return Object.hasOwn(amounts, resource) ? (amounts[resource] ?? 0) : 0;
}

function ofPods({ workloads }: Scene, pods: readonly PodCount[], resource: string): number {
  return pods.reduce(
    (sum, [index, each]) => sum + each * amount(workloads[index]?.requests ?? {}, resource),
    0,
  );
}

export function usageOf(scene: Scene, nodes: readonly NodeModel[], resource: string): Use {
  let [used, there] = [0, 0];
  for (const { pods, reserved, allocatable } of nodes) {
    used += ofPods(scene, pods, resource) + amount(reserved, resource);
    there += amount(allocatable, resource);
  }
  return { used, there };
}

export function shareOf({ used, there }: Use): number {
  return there > 0 ? used / there : 0;
}

/** Pods on some nodes, and how many more are of DaemonSets, which run on each. */
export interface PodSum {
  readonly own: number;
  readonly daemons: number;
}

export function podsOn({ workloads }: Scene, nodes: readonly NodeModel[]): PodSum {
  let [own, daemons] = [0, 0];
  for (const { pods } of nodes) {
    for (const [index, each] of pods) {
      if (workloads[index]?.kind === 'DaemonSet') daemons += each;
      else own += each;
    }
  }
  return { own, daemons };
}

/** What costs less than this an hour is no room worth a word. */
export const ROOM_MIN = 0.00005;

/** What the room for more pods costs: the free share of each node's fullest resource. */
export function roomOf(scene: Scene, nodes: readonly NodeModel[]): number {
  return nodes.reduce((sum, node) => {
    const shares = scene.resources.map((each) => shareOf(usageOf(scene, [node], each)));
    return sum + (node.listPrice ?? 0) * Math.max(0, 1 - Math.max(...shares));
  }, 0);
}

export function priceOf(nodes: readonly NodeModel[]): number {
  return nodes.reduce((sum, { listPrice }) => sum + (listPrice ?? 0), 0);
}
