import type { PodClass, Problem } from '../problem/problem.ts';
import { InboundPods } from './inbound-pods.ts';
import { fitsFree, type SchedulerClass, type SchedulerNode } from './scheduler-node.ts';

/** All nodes of a plan, there at once and without the pods that it places, for many playbacks. */
export class NodesAtOnce {
  private readonly nodes: readonly SchedulerNode[];
  private readonly inbound: InboundPods;
  /** By shape: positions of the nodes that suit it and have room. */
  private readonly open = new Map<number, Int32Array>();

  constructor(problem: Problem, nodes: readonly SchedulerNode[]) {
    const nobody: ReadonlyMap<PodClass, number> = new Map();
    this.nodes = nodes.map((node) => ({ ...node, content: nobody }));
    this.inbound = new InboundPods(problem, this.nodes);
  }

  /** For one playback, which may bind pods to them. */
  copy(): readonly SchedulerNode[] {
    return this.nodes.map((node) => ({ ...node, isOwn: false }));
  }

  /** Positions of the nodes that are allowed to the candidate and have room for one of it. */
  openTo(candidate: SchedulerClass, isAllowed: (node: SchedulerNode) => boolean): Int32Array {
    const known = this.open.get(candidate.shape);
    if (known !== undefined) return known;
    const found: number[] = [];
    for (const [at, node] of this.nodes.entries()) {
      if (fitsFree(candidate, node) && isAllowed(node)) found.push(at);
    }
    const open = Int32Array.from(found);
    this.open.set(candidate.shape, open);
    return open;
  }

  /** What inbound pods request whose room others have taken on the nodes of one playback. */
  inboundWithoutRoom(nodes: readonly SchedulerNode[]): readonly Float64Array[] {
    return this.inbound.withoutRoom(nodes);
  }
}
