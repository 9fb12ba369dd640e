import type { PodClass } from '../problem/problem.ts';
import { addToHost, type HostTotals, hostAllows } from '../world/host.ts';
import type { Place, Topology } from '../world/topology.ts';
import type { World } from '../world/world.ts';
import { domainScores, ownScore, ResourceScores } from './node-scores.ts';
import type { Queue, Stretch } from './queue.ts';
import { type Candidate, hasRoom, type Site } from './site.ts';

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
  sites: Site[];
  /** So many of the joined nodes were offered to the list. */
  offered: number;
}

/** Binds pods to nodes as they join: pods to the node that they are nominated to, if it takes them. */
export class Binding {
  /** Nodes looked at. */
  steps = 0;
  private readonly candidates: readonly Candidate[];
  private readonly queue: Queue;
  private readonly topology: Topology;
  private readonly totals: HostTotals;
  private readonly world: World;
  private readonly scores: ResourceScores;
  private readonly sites: Site[] = [];
  private readonly stuck: Uint8Array;
  /** By class: pods that are planned on nodes which have not joined. */
  private readonly expected: Int32Array;
  /** By class: nodes with room kept for pods of it that are not bound yet, once for each pod. */
  private readonly nominated: readonly Site[][];
  private readonly live: ReadonlyMap<string, Set<string>>;
  /** By domain: a node of it. */
  private readonly domains = new Map<number, Place>();
  /** By shape: in all domains, and in each. */
  private readonly open = new Map<number, Map<number, OpenSites>>();
  private next = 0;
  private best: Site | undefined;
  private bestScore = 0;
  /** Nodes with the best score so far. */
  private equals = 0;
  private random = 1;

  /** `isNominated`: pods go to the nodes that they are planned on as soon as these have joined. */
  constructor(
    candidates: readonly Candidate[],
    queue: Queue,
    topology: Topology,
    totals: HostTotals,
    world: World,
    isNominated = true,
  ) {
    this.candidates = candidates;
    this.queue = queue;
    this.topology = topology;
    this.totals = totals;
    this.world = world;
    this.scores = new ResourceScores(world.ground.problem.resources);
    this.stuck = new Uint8Array(candidates.length);
    this.expected = new Int32Array(candidates.length);
    for (const { content } of isNominated ? [...world.rooms, ...world.bins] : []) {
      for (const [{ id }, amount] of content) this.expected[id] = (this.expected[id] ?? 0) + amount;
    }
    this.nominated = candidates.map(() => []);
    this.live = new Map(topology.keys.map((key) => [key, new Set<string>()]));
  }

  /** Nodes join, and pods that are planned on them are nominated before anything else is bound. */
  join(sites: readonly Site[]): void {
    for (const site of sites) {
      this.sites.push(site);
      for (const [podClass, amount] of site.content) {
        this.nominate(this.candidates[podClass.id] as Candidate, site, amount);
      }
      if (this.domains.has(site.domain)) continue;
      this.domains.set(site.domain, site.place);
      for (const [key, values] of this.live) {
        const value = site.place.label(key);
        if (value !== undefined) values.add(value);
      }
    }
    this.stuck.fill(0);
  }

  private nominate(candidate: Candidate, site: Site, planned: number): void {
    const { podClass, isBound } = candidate;
    const { id } = podClass;
    this.expected[id] = (this.expected[id] ?? 0) - planned;
    const waiting = this.nominated[id] ?? [];
    const amount = Math.min(planned, this.queue.leftOf(podClass) - waiting.length);
    for (let each = 0; each < amount; each++) takeRoom(site, podClass, 1);
    if (isBound) {
      for (let each = 0; each < amount; each++) waiting.push(site);
      return;
    }
    this.queue.take(podClass, amount);
    this.count(candidate, site, amount);
  }

  /** Goes through the queue until nothing more can be bound. */
  bindAll(): void {
    const { stretches } = this.queue;
    for (let progress = true; progress; ) {
      progress = false;
      for (const at of this.queue.places((podClass) => this.mayBind(podClass))) {
        const { podClass } = stretches[at] as Stretch;
        const candidate = this.candidates[podClass.id] as Candidate;
        while (this.queue.leftAt(at) > 0 && this.mayBind(podClass)) {
          if (this.bind(candidate)) {
            this.queue.takeAt(at);
            progress = this.unstick(candidate) || progress;
          } else this.stuck[podClass.id] = 1;
        }
      }
    }
  }

  private unstick({ helps }: Candidate): boolean {
    let unstuck = false;
    for (const id of helps) {
      unstuck ||= this.stuck[id] === 1;
      this.stuck[id] = 0;
    }
    return unstuck;
  }

  /** Pods whose own nodes are still to come, and that matter to no others, can wait for them. */
  private mayBind(podClass: PodClass): boolean {
    if (this.stuck[podClass.id] === 1) return false;
    const isBound = this.candidates[podClass.id]?.isBound === true;
    return isBound || this.queue.leftOf(podClass) > (this.expected[podClass.id] ?? 0);
  }

  private bind(candidate: Candidate): boolean {
    const { podClass } = candidate;
    const waiting = this.nominated[podClass.id] ?? [];
    const own = this.firstOpen(candidate, waiting);
    if (own >= 0) {
      const [site] = waiting.splice(own, 1);
      this.count(candidate, site as Site, 1);
      return true;
    }
    const chosen = this.choose(candidate);
    if (chosen === undefined) return false;
    const kept = waiting.pop();
    if (kept !== undefined) takeRoom(kept, podClass, -1);
    takeRoom(chosen, podClass, 1);
    this.count(candidate, chosen, 1);
    return true;
  }

  private firstOpen({ podClass, rule }: Candidate, sites: readonly Site[]): number {
    const closed = new Set<number>();
    return sites.findIndex(({ place, host, domain }) => {
      if (closed.has(domain)) return false;
      if (this.topology.allows(podClass, place, this.live)) {
        return hostAllows(rule, host, this.totals);
      }
      closed.add(domain);
      return false;
    });
  }

  /** Pods are on the node as far as other pods can notice. */
  private count({ podClass, rule }: Candidate, { host, place }: Site, amount: number): void {
    addToHost(rule, host, this.totals, amount);
    if (podClass.matching.length > 0 || podClass.topology.antiAffinity.length > 0) {
      this.topology.count(podClass.topology, podClass.matching, place, amount);
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
      if (this.isAllowed(candidate, site) && hasRoom(candidate, site)) open.sites.push(site);
    }
    return open;
  }

  private isAllowed({ podClass }: Candidate, { bin, room }: Site): boolean {
    return bin !== undefined
      ? bin.held.group.allowed[podClass.rule.id] === 1
      : room !== undefined && this.world.suitsClass(podClass, room);
  }

  /** The node with the greatest score among the first that would do. */
  private choose(candidate: Candidate): Site | undefined {
    this.best = undefined;
    this.bestScore = Number.NEGATIVE_INFINITY;
    if (candidate.isTied) {
      const { podClass } = candidate;
      const allowed = [...this.domains].filter(
        ([domain, place]) =>
          this.openTo(candidate, domain).sites.length > 0 &&
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
  private look(candidate: Candidate, domain: number, base: number, enough: number): void {
    const open = this.openTo(candidate, domain);
    const { sites } = open;
    let found = 0;
    let full = 0;
    let looked = 0;
    for (; looked < sites.length && found < enough; looked++) {
      const site = sites[(this.next + looked) % sites.length] as Site;
      if (!hasRoom(candidate, site)) {
        full++;
        continue;
      }
      if (!hostAllows(candidate.rule, site.host, this.totals)) continue;
      found++;
      const score = base + this.score(candidate, site);
      if (score < this.bestScore || (score === this.bestScore && !this.isPicked())) continue;
      if (score > this.bestScore) this.equals = 1;
      this.best = site;
      this.bestScore = score;
    }
    this.next += looked;
    this.steps += looked;
    if (full * FULL_SHARE > looked) open.sites = sites.filter((each) => hasRoom(candidate, each));
  }

  private score(candidate: Candidate, site: Site): number {
    const { requests } = candidate.podClass;
    const resources = this.scores.of(requests, site.free, site.total);
    return resources + ownScore(candidate, site, site.host);
  }

  /** kube-scheduler picks one of the nodes with the same score at random; here the seed is fixed. */
  private isPicked(): boolean {
    this.equals++;
    this.random = (Math.imul(this.random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.random * this.equals < 2 ** 32;
  }
}

function takeRoom({ free }: Site, { requests }: PodClass, amount: number): void {
  for (let r = 0; r < requests.length; r++) {
    free[r] = (free[r] ?? 0) - amount * (requests[r] ?? 0);
  }
}
