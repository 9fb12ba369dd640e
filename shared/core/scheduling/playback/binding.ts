import { missing } from '../../missing.ts';
import type { PodClass } from '../problem/problem.ts';
import { addToHost, type HostTotals, hostAllows } from '../search/host.ts';
import type { SearchState } from '../search/search-state.ts';
import type { Place, Topology } from '../search/topology.ts';
import { domainScores, ownScore, ResourceScores, type Scoring } from './node-scores.ts';
import type { NodesAtOnce } from './nodes-at-once.ts';
import type { Queue } from './queue.ts';
import {
  ANY_DOMAIN,
  fitsFree,
  own,
  type SchedulerClass,
  type SchedulerNode,
} from './scheduler-node.ts';

/**
 * kube-scheduler stops looking after so many nodes that would do (percentageOfNodesToScore's
 * default: 50 % less 1 % for every 125 nodes, at least 5 % and 100 nodes); the next pod's look
 * starts where this one ended. Here 64 are enough: more hardly change which pods are left over.
 */
const ENOUGH = 64;

/** Full nodes are struck off a list when a look at it met more than one in so many. */
const FULL_SHARE = 3;

/** Nodes, in the order in which they joined, that had room for a shape when last looked at. */
interface NodesWithFree {
  /** Of the nodes that have joined. */
  positions: ArrayLike<number>;
  /** So many of the joined nodes were offered to the list. */
  offered: number;
}

export interface BindingOptions {
  /**
   * Where one copy of these joins, and none of the pods is nominated. Without it, pods go to the
   * nodes that they are planned on as soon as these have joined.
   */
  readonly atOnce?: NodesAtOnce;
  /** @default balanced */
  readonly scoring?: Scoring;
}

/**
 * Binds pods to nodes as they join: pods to the node that they are nominated to, if it takes them.
 */
export class Binding {
  /** Nodes looked at. */
  steps = 0;
  private readonly candidates: readonly SchedulerClass[];
  private readonly queue: Queue;
  private readonly topology: Topology;
  private readonly totals: HostTotals;
  private readonly state: SearchState;
  private readonly atOnce: NodesAtOnce | undefined;
  private readonly scores: ResourceScores;
  private readonly nodes: SchedulerNode[] = [];
  private readonly blocked: Uint8Array;
  /** By class: pods that are planned on nodes which have not joined. */
  private readonly expected: Int32Array;
  /** By class: nodes with room kept for pods of it that are not bound yet, once for each pod. */
  private readonly nominated: readonly SchedulerNode[][];
  private readonly live: ReadonlyMap<string, Set<string>>;
  /** By domain: a node of it. */
  private readonly domains = new Map<number, Place>();
  /** By shape: in all domains, and in each. */
  private readonly open = new Map<number, Map<number, NodesWithFree>>();
  private next = 0;
  private best: SchedulerNode | undefined;
  private bestScore = 0;
  /** Nodes with the best score so far. */
  private equals = 0;
  private random = 1;

  constructor(
    candidates: readonly SchedulerClass[],
    queue: Queue,
    topology: Topology,
    totals: HostTotals,
    state: SearchState,
    { atOnce, scoring = 'balanced' }: BindingOptions = {},
  ) {
    this.candidates = candidates;
    this.queue = queue;
    this.topology = topology;
    this.totals = totals;
    this.state = state;
    this.atOnce = atOnce;
    this.scores = new ResourceScores(state.context.problem.resources, scoring);
    this.blocked = new Uint8Array(candidates.length);
    this.expected = new Int32Array(candidates.length);
    for (const { content } of atOnce === undefined ? [...state.existingNodes, ...state.bins] : []) {
      for (const [{ id }, amount] of content)
        this.expected[id] = (this.expected[id] ?? missing(id)) + amount;
    }
    this.nominated = candidates.map(() => []);
    this.live = new Map(topology.keys.map((key) => [key, new Set<string>()]));
  }

  /** Nodes join, and pods that are planned on them are nominated before anything else is bound. */
  join(nodes: readonly SchedulerNode[]): void {
    for (const node of nodes) {
      this.nodes.push(node);
      for (const [podClass, amount] of node.content) {
        this.nominate(this.candidates[podClass.id] ?? missing(podClass.id), node, amount);
      }
      if (this.domains.has(node.domain)) continue;
      this.domains.set(node.domain, node.place);
      for (const [key, values] of this.live) {
        const value = node.place.label(key);
        if (value !== undefined) values.add(value);
      }
    }
    this.blocked.fill(0);
  }

  private nominate(candidate: SchedulerClass, node: SchedulerNode, planned: number): void {
    const { podClass, isBound } = candidate;
    const { id } = podClass;
    this.expected[id] = (this.expected[id] ?? missing(id)) - planned;
    const waiting = this.nominated[id] ?? [];
    const amount = Math.min(planned, this.queue.leftOf(podClass) - waiting.length);
    for (let each = 0; each < amount; each++) takeFree(node, podClass, 1);
    if (isBound) {
      for (let each = 0; each < amount; each++) waiting.push(node);
      return;
    }
    this.queue.take(podClass, amount);
    this.count(candidate, node, amount);
  }

  /** Goes through the queue until nothing more can be bound. */
  bindAll(): void {
    const { stretches } = this.queue;
    for (let progress = true; progress; ) {
      progress = false;
      for (const at of this.queue.places((podClass) => this.mayBind(podClass))) {
        const { podClass } = stretches[at] ?? missing(at);
        const candidate = this.candidates[podClass.id] ?? missing(podClass.id);
        while (this.queue.leftAt(at) > 0 && this.mayBind(podClass)) {
          if (this.bind(candidate)) {
            this.queue.takeAt(at);
            progress = this.unblock(candidate) || progress;
          } else this.blocked[podClass.id] = 1;
        }
      }
    }
  }

  private unblock({ helps }: SchedulerClass): boolean {
    let unblocked = false;
    for (const id of helps) {
      unblocked ||= this.blocked[id] === 1;
      this.blocked[id] = 0;
    }
    return unblocked;
  }

  /** Pods whose own nodes are still to come, and that matter to no others, can wait for them. */
  private mayBind(podClass: PodClass): boolean {
    if (this.blocked[podClass.id] === 1) return false;
    const isBound = (this.candidates[podClass.id] ?? missing(podClass.id)).isBound;
    return (
      isBound || this.queue.leftOf(podClass) > (this.expected[podClass.id] ?? missing(podClass.id))
    );
  }

  private bind(candidate: SchedulerClass): boolean {
    const { podClass } = candidate;
    const waiting = this.nominated[podClass.id] ?? missing(podClass.id);
    const own = this.firstOpen(candidate, waiting);
    if (own >= 0) {
      const node = waiting[own] ?? missing(own);
      waiting.splice(own, 1);
      this.count(candidate, node, 1);
      return true;
    }
    const chosen = this.choose(candidate);
    if (chosen === undefined) return false;
    const kept = waiting.pop();
    if (kept !== undefined) takeFree(kept, podClass, -1);
    takeFree(chosen, podClass, 1);
    this.count(candidate, chosen, 1);
    return true;
  }

  private firstOpen({ podClass, rule }: SchedulerClass, nodes: readonly SchedulerNode[]): number {
    const closed = new Set<number>();
    return nodes.findIndex(({ place, host, domain }) => {
      if (closed.has(domain)) return false;
      if (this.topology.allows(podClass, place, this.live)) {
        return hostAllows(rule, host, this.totals);
      }
      closed.add(domain);
      return false;
    });
  }

  /** Pods are on the node as far as other pods can notice. */
  private count({ podClass, rule }: SchedulerClass, node: SchedulerNode, amount: number): void {
    own(node);
    addToHost(rule, node.host, this.totals, amount);
    if (podClass.matching.length > 0 || podClass.topology.antiAffinity.length > 0) {
      this.topology.count(podClass.topology, podClass.matching, node.place, amount);
    }
  }

  /** Nodes of the domain (ANY_DOMAIN: of all) that may have room for the candidate. */
  private openTo(candidate: SchedulerClass, domain: number): NodesWithFree {
    let byDomain = this.open.get(candidate.shape);
    if (byDomain === undefined) {
      byDomain = new Map();
      this.open.set(candidate.shape, byDomain);
    }
    let open = byDomain.get(domain);
    if (open === undefined) {
      open = this.openAtOnce(candidate, domain) ?? { positions: [], offered: 0 };
      byDomain.set(domain, open);
    }
    const joined: number[] = [];
    for (; open.offered < this.nodes.length; open.offered++) {
      const node = this.nodes[open.offered] ?? missing(open.offered);
      if (domain !== ANY_DOMAIN && node.domain !== domain) continue;
      if (this.isAllowed(candidate, node) && fitsFree(candidate, node)) joined.push(open.offered);
    }
    if (joined.length > 0) open.positions = [...Array.from(open.positions), ...joined];
    return open;
  }

  private openAtOnce(candidate: SchedulerClass, domain: number): NodesWithFree | undefined {
    const isAllowed = (node: SchedulerNode) => this.isAllowed(candidate, node);
    const positions = this.atOnce?.openTo(candidate, domain, isAllowed);
    return positions === undefined ? undefined : { positions, offered: this.nodes.length };
  }

  private isAllowed({ podClass }: SchedulerClass, { bin, existing }: SchedulerNode): boolean {
    return bin !== undefined
      ? bin.chosen.group.allowed[podClass.rule.id] === 1
      : existing !== undefined && this.state.suitsClass(podClass, existing);
  }

  /** The node with the greatest score among the first that would do. */
  private choose(candidate: SchedulerClass): SchedulerNode | undefined {
    this.best = undefined;
    this.bestScore = Number.NEGATIVE_INFINITY;
    if (candidate.isTied) {
      const { podClass } = candidate;
      const allowed = [...this.domains].filter(
        ([domain, place]) =>
          this.openTo(candidate, domain).positions.length > 0 &&
          this.topology.allows(podClass, place, this.live),
      );
      if (allowed.length === 0) return undefined;
      const scores = domainScores(podClass, this.topology, allowed);
      const enough = Math.ceil(ENOUGH / scores.size);
      for (const [domain, score] of scores) this.look(candidate, domain, score, enough);
    } else this.look(candidate, ANY_DOMAIN, 0, ENOUGH);
    return this.best;
  }

  /** Looks at open nodes until enough of them would do; those seen to be full are struck off. */
  private look(candidate: SchedulerClass, domain: number, base: number, enough: number): void {
    const open = this.openTo(candidate, domain);
    const { positions } = open;
    let found = 0;
    let full = 0;
    let looked = 0;
    for (; looked < positions.length && found < enough; looked++) {
      const node = this.nodeAt(positions, (this.next + looked) % positions.length);
      if (!fitsFree(candidate, node)) {
        full++;
        continue;
      }
      if (!hostAllows(candidate.rule, node.host, this.totals)) continue;
      found++;
      const score = base + this.score(candidate, node);
      if (score < this.bestScore || (score === this.bestScore && !this.isPicked())) continue;
      if (score > this.bestScore) this.equals = 1;
      this.best = node;
      this.bestScore = score;
    }
    this.next += looked;
    this.steps += looked;
    if (full * FULL_SHARE > looked) {
      open.positions = Array.from(positions).filter((_, at) =>
        fitsFree(candidate, this.nodeAt(positions, at)),
      );
    }
  }

  private nodeAt(positions: ArrayLike<number>, at: number): SchedulerNode {
    const position = positions[at] ?? missing(at);
    return this.nodes[position] ?? missing(position);
  }

  private score(candidate: SchedulerClass, node: SchedulerNode): number {
    const { requests } = candidate.podClass;
    const resources = this.scores.of(requests, node.free, node.total);
    return resources + ownScore(candidate, node, node.host);
  }

  /**
   * kube-scheduler picks one of the nodes with the same score at random; here the seed is fixed.
   */
  private isPicked(): boolean {
    this.equals++;
    this.random = (Math.imul(this.random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.random * this.equals < 2 ** 32;
  }
}

function takeFree(node: SchedulerNode, { requests }: PodClass, amount: number): void {
  own(node);
  const { free } = node;
  for (let r = 0; r < requests.length; r++) {
    free[r] = (free[r] ?? missing(r)) - amount * (requests[r] ?? missing(r));
  }
}
