import { CPU, MEMORY } from '../model/resources.ts';
import {
  addToHost,
  copyHost,
  type HostRule,
  type HostState,
  type HostTotals,
  hostAllows,
} from './host.ts';
import { ruleAllowsNode } from './node-rules.ts';
import type { PodClass } from './problem.ts';
import type { Place, Topology } from './topology.ts';
import type { Bin, NodeRoom, World } from './world.ts';

/** A node as kube-scheduler sees it, before anything is bound. */
export interface Site {
  readonly place: Place;
  readonly room: NodeRoom | undefined;
  readonly bin: Bin | undefined;
  /** For the score: what the node has in all. */
  readonly total: Float64Array;
  readonly free: Float64Array;
  readonly host: HostState;
  /** Number of its combination of topology values, the hostname apart. */
  readonly domain: number;
}

/** A class in kube-scheduler's eyes. */
export interface Candidate {
  readonly podClass: PodClass;
  readonly rule: HostRule;
  /** Indexes of the resources that it requests, and how much. */
  readonly resources: Int32Array;
  readonly amounts: Float64Array;
  readonly id: number;
  /** Candidates of one shape may run on the same nodes and request the same. */
  readonly shape: number;
  /** Its place depends on other pods beyond its own node. */
  readonly isTied: boolean;
  /** Pods that are bound may open nodes to it that were closed. */
  readonly isHelped: boolean;
  /** It prefers some nodes over others by their labels or taints. */
  readonly hasPreferences: boolean;
  readonly softHostSpreads: readonly number[];
  readonly softHostAffinity: readonly { readonly selector: number; readonly weight: number }[];
}

/** A stretch of kube-scheduler's queue with pods of one class. */
export interface Stretch {
  readonly candidate: number;
  readonly count: number;
}

/** Weights of kube-scheduler's default score plugins that tell new nodes apart. */
const WEIGHT = { nodeAffinity: 2, taints: 3, spread: 2, podAffinity: 2 };

/**
 * kube-scheduler stops looking after so many nodes that would do (percentageOfNodesToScore's
 * default: 50 % less 1 % for every 125 nodes, at least 5 % and 100 nodes); the next pod's look
 * starts where this one ended. Here 64 are enough: more hardly change which pods are left over.
 */
const ENOUGH = 64;

/** Instead of the number of a domain: all of them. */
const ANY_DOMAIN = -1;

/** Full nodes are struck off a list when a look at it met more than one in so many. */
const FULL_SHARE = 3;

/** Nodes, in the order in which they joined, that had room for a shape when last looked at. */
interface OpenSites {
  sites: number[];
  /** So many of the joined nodes were offered to the list. */
  offered: number;
}

/** Binds pods to nodes as they join. */
export class Binding {
  /** Nodes looked at. */
  steps = 0;
  private readonly candidates: readonly Candidate[];
  private readonly topology: Topology;
  private readonly totals: HostTotals;
  private readonly world: World;
  private readonly width: number;
  private readonly cpu: number;
  private readonly memory: number;
  private readonly sites: Site[] = [];
  private free: Float64Array = new Float64Array(0);
  /** By node: 1 / what it has in all, of CPU and memory; 0 where it has none. */
  private perCpu: Float64Array = new Float64Array(0);
  private perMemory: Float64Array = new Float64Array(0);
  private readonly hosts: (HostState | undefined)[] = [];
  private readonly stuck: Uint8Array;
  /** By class: so many of the nodes that joined first have no room for it any more. */
  private readonly closed: Int32Array;
  private readonly live: ReadonlyMap<string, Set<string>>;
  /** By domain: a node of it. */
  private readonly domains = new Map<number, Place>();
  /** By shape: in all domains, and in each. */
  private readonly open = new Map<number, Map<number, OpenSites>>();
  private next = 0;
  private best: number | undefined;
  private bestScore = 0;
  /** Nodes with the best score so far. */
  private equals = 0;
  private random = 1;
  private hasRoom = false;

  constructor(
    candidates: readonly Candidate[],
    topology: Topology,
    totals: HostTotals,
    world: World,
  ) {
    this.candidates = candidates;
    this.topology = topology;
    this.totals = totals;
    this.world = world;
    const { resources } = world.ground.problem;
    this.width = resources.length;
    this.cpu = resources.indexOf(CPU);
    this.memory = resources.indexOf(MEMORY);
    this.stuck = new Uint8Array(candidates.length);
    this.closed = new Int32Array(candidates.length);
    this.live = new Map(topology.keys.map((key) => [key, new Set<string>()]));
  }

  join(sites: readonly Site[]): void {
    const { width } = this;
    const free = new Float64Array((this.sites.length + sites.length) * width);
    free.set(this.free);
    this.free = free;
    this.perCpu = this.inverses(this.perCpu, sites, this.cpu);
    this.perMemory = this.inverses(this.perMemory, sites, this.memory);
    for (const site of sites) {
      free.set(site.free, this.sites.length * width);
      this.sites.push(site);
      this.hosts.push(undefined);
      if (this.domains.has(site.domain)) continue;
      this.domains.set(site.domain, site.place);
      for (const [key, values] of this.live) {
        const value = site.place.label(key);
        if (value !== undefined) values.add(value);
      }
    }
    this.stuck.fill(0);
  }

  /** Goes through the queue until nothing more can be bound; `left` is what each stretch has left. */
  bindAll(queue: readonly Stretch[], left: Int32Array): void {
    for (let progress = true; progress; ) {
      progress = false;
      for (let at = 0; at < queue.length; at++) {
        const { candidate } = queue[at] as Stretch;
        while ((left[at] ?? 0) > 0 && this.stuck[candidate] === 0) {
          if (this.bind(this.candidates[candidate] as Candidate)) {
            left[at] = (left[at] ?? 0) - 1;
            progress = true;
          } else this.stuck[candidate] = 1;
        }
      }
      if (!progress) return;
      progress = false;
      for (const { id, isHelped } of this.candidates) {
        if (this.stuck[id] === 0 || !isHelped || this.closed[id] === this.sites.length) continue;
        this.stuck[id] = 0;
        progress = true;
      }
    }
  }

  /** Nodes of the domain (ANY_DOMAIN: of all) that may have room for the candidate. */
  private openTo(candidate: Candidate, domain: number): OpenSites {
    let byDomain = this.open.get(candidate.shape);
    if (byDomain === undefined) {
      byDomain = new Map();
      this.open.set(candidate.shape, byDomain);
    }
    let open = byDomain.get(domain);
    if (open === undefined) {
      open = { sites: [], offered: 0 };
      byDomain.set(domain, open);
    }
    for (; open.offered < this.sites.length; open.offered++) {
      const site = this.sites[open.offered] as Site;
      if (domain !== ANY_DOMAIN && site.domain !== domain) continue;
      if (this.isAllowed(candidate, site) && this.fits(candidate, open.offered)) {
        open.sites.push(open.offered);
      }
    }
    return open;
  }

  private isAllowed({ podClass }: Candidate, { bin, room }: Site): boolean {
    return bin !== undefined
      ? bin.held.group.allowed[podClass.rule.id] === 1
      : room !== undefined && this.world.suitsClass(podClass, room);
  }

  private bind(candidate: Candidate): boolean {
    const chosen = this.choose(candidate);
    if (chosen === undefined) return false;
    const { podClass, rule } = candidate;
    const { requests } = podClass;
    const from = chosen * this.width;
    for (let r = 0; r < requests.length; r++) {
      this.free[from + r] = (this.free[from + r] ?? 0) - (requests[r] ?? 0);
    }
    const { place, host } = this.sites[chosen] as Site;
    if (!rule.isFree) {
      const own = this.hosts[chosen] ?? copyHost(host);
      this.hosts[chosen] = own;
      addToHost(rule, own, this.totals, 1);
    }
    if (podClass.matching.length > 0 || podClass.topology.antiAffinity.length > 0) {
      this.topology.count(podClass.topology, podClass.matching, place, 1);
    }
    return true;
  }

  private fits({ resources, amounts }: Candidate, index: number): boolean {
    const from = index * this.width;
    for (let at = 0; at < resources.length; at++) {
      if ((amounts[at] ?? 0) > (this.free[from + (resources[at] ?? 0)] ?? 0)) return false;
    }
    return true;
  }

  private hostOf(index: number): HostState {
    return this.hosts[index] ?? (this.sites[index] as Site).host;
  }

  /** The node with the greatest score among the first that would do. */
  private choose(candidate: Candidate): number | undefined {
    this.best = undefined;
    this.bestScore = Number.NEGATIVE_INFINITY;
    this.hasRoom = false;
    if (candidate.isTied) {
      const domains = this.domainScores(candidate.podClass);
      const enough = Math.ceil(ENOUGH / Math.max(1, domains.size));
      for (const [domain, score] of domains) this.look(candidate, domain, score, enough);
    } else this.look(candidate, ANY_DOMAIN, 0, ENOUGH);
    if (this.best === undefined && !candidate.isTied && !(candidate.isHelped && this.hasRoom)) {
      this.closed[candidate.id] = this.sites.length;
    }
    return this.best;
  }

  /** Looks at open nodes until enough of them would do; those seen to be full are struck off. */
  private look(candidate: Candidate, domain: number, base: number, enough: number): void {
    const open = this.openTo(candidate, domain);
    const { sites } = open;
    const first = firstFrom(sites, this.closed[candidate.id] ?? 0);
    const count = sites.length - first;
    let found = 0;
    let full = 0;
    let looked = 0;
    for (; looked < count && found < enough; looked++) {
      const index = sites[first + ((this.next + looked) % count)] ?? 0;
      if (!this.fits(candidate, index)) {
        full++;
        continue;
      }
      this.hasRoom = true;
      const { rule } = candidate;
      if (!rule.isFree && !hostAllows(rule, this.hostOf(index), this.totals)) continue;
      found++;
      const score = base + this.score(candidate, index);
      if (score < this.bestScore || (score === this.bestScore && !this.isPicked())) continue;
      if (score > this.bestScore) this.equals = 1;
      this.best = index;
      this.bestScore = score;
    }
    this.next += looked;
    this.steps += looked;
    if (full * FULL_SHARE > looked) open.sites = sites.filter((each) => this.fits(candidate, each));
  }

  /** kube-scheduler picks one of the nodes with the same score at random; here the seed is fixed. */
  private isPicked(): boolean {
    this.equals++;
    this.random = (Math.imul(this.random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.random * this.equals < 2 ** 32;
  }

  /** By domain that the class's terms about other pods allow: what the preferred ones give it. */
  private domainScores(podClass: PodClass): ReadonlyMap<number, number> {
    const { topology } = this;
    const scores = new Map<number, number>();
    let mostCrowded = 1;
    for (const [domain, place] of this.domains) {
      if (!topology.allows(podClass, place, this.live)) continue;
      const crowding = topology.softCrowding(podClass, place);
      mostCrowded = Math.max(mostCrowded, crowding);
      scores.set(domain, crowding);
    }
    for (const [domain, crowding] of scores) {
      const unmet = topology.softAffinityPenalty(podClass, this.domains.get(domain) as Place);
      const spread = (WEIGHT.spread * 100 * crowding) / mostCrowded;
      scores.set(domain, -spread - WEIGHT.podAffinity * unmet);
    }
    return scores;
  }

  /** What the default plugins give the node by itself: resources, labels, taints, its own pods. */
  private score(candidate: Candidate, index: number): number {
    const { podClass, softHostSpreads, softHostAffinity } = candidate;
    let score = this.resourceScore(podClass.requests, index);
    if (candidate.hasPreferences) score += this.preferenceScore(podClass, index);
    if (softHostSpreads.length + softHostAffinity.length === 0) return score;
    const { counts } = this.hostOf(index);
    for (const id of softHostSpreads) {
      const count = counts.get(id) ?? 0;
      score -= (WEIGHT.spread * 100 * count) / (count + 2);
    }
    for (const { selector, weight } of softHostAffinity) {
      if ((counts.get(selector) ?? 0) > 0) score += WEIGHT.podAffinity * weight;
    }
    return score;
  }

  private preferenceScore({ wished }: PodClass, index: number): number {
    const { bin, room } = this.sites[index] as Site;
    let score = 0;
    let wanted = 0;
    let met = 0;
    for (const { kind, rule, weight } of wished.preferences) {
      const isMet =
        bin === undefined
          ? room !== undefined && ruleAllowsNode(rule, room.node.label, room.node.taints)
          : bin.held.group.allowed[rule.id] === 1;
      if (kind === 'taint') score += isMet ? WEIGHT.taints * 100 : 0;
      else {
        wanted += weight;
        met += isMet ? weight : 0;
      }
    }
    return wanted === 0 ? score : score + (WEIGHT.nodeAffinity * 100 * met) / wanted;
  }

  private inverses(known: Float64Array, sites: readonly Site[], resource: number): Float64Array {
    const all = new Float64Array(known.length + sites.length);
    all.set(known);
    for (const [index, { total }] of sites.entries()) {
      const whole = total[resource] ?? 0;
      all[known.length + index] = whole > 0 ? 1 / whole : 0;
    }
    return all;
  }

  /** Least allocated and balanced allocation, 0–100 each, with the pod on the node. */
  private resourceScore(requests: Float64Array, index: number): number {
    const { cpu, memory } = this;
    const from = index * this.width;
    const one =
      cpu < 0
        ? 0
        : ((this.free[from + cpu] ?? 0) - (requests[cpu] ?? 0)) * (this.perCpu[index] ?? 0);
    const other =
      memory < 0
        ? 0
        : ((this.free[from + memory] ?? 0) - (requests[memory] ?? 0)) *
          (this.perMemory[index] ?? 0);
    return Math.floor(50 * (one + other)) + Math.floor(100 - 50 * Math.abs(one - other));
  }
}

/** The place of the first entry of a rising list that is not below `least`. */
function firstFrom(list: readonly number[], least: number): number {
  let low = 0;
  let high = least === 0 ? 0 : list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
