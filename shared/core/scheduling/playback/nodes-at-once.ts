import { missing } from '../../missing.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { InboundPods } from './inbound-pods.ts';
import { ANY_DOMAIN, fitsFree, type SchedulerClass, type SchedulerNode } from './scheduler-node.ts';

const NOWHERE = new Int32Array();

/** All nodes of a plan, there at once and without the pods that it places, for many playbacks. */
export class NodesAtOnce {
  private readonly nodes: readonly SchedulerNode[];
  private readonly inbound: InboundPods;
  /** By shape and domain. */
  private readonly open = new Map<number, ReadonlyMap<number, Int32Array>>();

  constructor(problem: Problem, nodes: readonly SchedulerNode[]) {
    const nobody: ReadonlyMap<PodClass, number> = new Map();
    this.nodes = nodes.map((node) => ({ ...node, content: nobody }));
    this.inbound = new InboundPods(problem, this.nodes);
  }

  /** For one playback, which may bind pods to them. */
  copy(): readonly SchedulerNode[] {
    return this.nodes.map((node) => ({ ...node, isOwn: false }));
  }

  /**
   * Positions of the nodes of the domain (ANY_DOMAIN: of all) that are allowed to the candidate and
   * have room for one of it before any is bound.
   */
  openTo(
    candidate: SchedulerClass,
    domain: number,
    isAllowed: (node: SchedulerNode) => boolean,
  ): Int32Array {
    let byDomain = this.open.get(candidate.shape);
    if (byDomain === undefined) {
      byDomain = this.openByDomain(candidate, isAllowed);
      this.open.set(candidate.shape, byDomain);
    }
    return byDomain.get(domain) ?? NOWHERE;
  }

  private openByDomain(
    candidate: SchedulerClass,
    isAllowed: (node: SchedulerNode) => boolean,
  ): ReadonlyMap<number, Int32Array> {
    const all: number[] = [];
    for (const [at, node] of this.nodes.entries()) {
      if (fitsFree(candidate, node) && isAllowed(node)) all.push(at);
    }
    const byDomain = Map.groupBy(all, (at) => (this.nodes[at] ?? missing(at)).domain);
    return new Map(
      [[ANY_DOMAIN, all] as const, ...byDomain].map(
        ([domain, positions]) => [domain, Int32Array.from(positions)] as const,
      ),
    );
  }

  /** What inbound pods request whose room others have taken on the nodes of one playback. */
  inboundWithoutRoom(nodes: readonly SchedulerNode[]): readonly Float64Array[] {
    return this.inbound.withoutRoom(nodes);
  }
}
