import type { Amounts, NodeModel, PodCount, Scene } from './model.ts';

/** Where a node is shown that belongs to no NodePool: no name of one has a space. */
export const NO_POOL = 'no NodePool';

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

/** It is paid for, and has not joined: what its pods request of it is not known yet. */
export function isStarting({ life, state }: NodeModel): boolean {
  return state === 'starting' || (life !== null && life.ready === null);
}

/**
 * What the room costs on nodes of known price that have joined: the free share of each one's fullest
 * resource.
 */
export function roomOf(scene: Scene, nodes: readonly NodeModel[]): number {
  return nodes.reduce((sum, node) => {
    if (isStarting(node)) return sum;
    const shares = scene.resources.map((each) => shareOf(usageOf(scene, [node], each)));
    return sum + (node.listPrice ?? 0) * Math.max(0, 1 - Math.max(...shares));
  }, 0);
}

/** What some nodes cost an hour, as far as it is known. */
export interface PriceSum {
  readonly known: number;
  /** Nodes of unknown price. */
  readonly unknown: number;
  readonly nodes: number;
}

export function priceSum(nodes: readonly NodeModel[]): PriceSum {
  const unknown = nodes.filter(({ listPrice }) => listPrice === null).length;
  return { known: priceOf(nodes), unknown, nodes: nodes.length };
}

/** Without nodes of unknown price: to order by. */
export function priceOf(nodes: readonly NodeModel[]): number {
  return nodes.reduce((sum, { listPrice }) => sum + (listPrice ?? 0), 0);
}

/** Nodes that are there before a plan is carried out, and those that are there after it. */
export interface Moments {
  readonly now: readonly NodeModel[];
  readonly after: readonly NodeModel[];
}

/**
 * Undefined: the nodes, some of a scene's, are those of one moment, since none of them comes to
 * others or goes.
 */
export function momentsOf(
  scene: Pick<Scene, 'nodes'>,
  nodes: readonly NodeModel[],
): Moments | undefined {
  const isNew = ({ life, state }: NodeModel) => life === null && state === 'new';
  const goes = ({ life, state }: NodeModel) => life === null && state === 'leaves';
  const isFromNothing = scene.nodes.every(isNew);
  if (isFromNothing || !nodes.some((each) => isNew(each) || goes(each))) return undefined;
  return {
    now: nodes.filter((each) => !isNew(each)),
    after: nodes.filter((each) => !goes(each)),
  };
}
