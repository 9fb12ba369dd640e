import { CPU, MEMORY } from '../model/resources.ts';
import {
  addToHost,
  copyHost,
  emptyHost,
  type HostRule,
  HostRules,
  type HostState,
  type HostTotals,
  hostAllows,
} from './host.ts';
import { ruleAllowsNode } from './node-rules.ts';
import type { PodClass } from './problem.ts';
import { ScoreHeap } from './score-heap.ts';
import { type Place, placeOfGroup, type Topology } from './topology.ts';
import { isHostKey } from './topology-terms.ts';
import { type Bin, daemonPortsOn, type NodeRoom, type World } from './world.ts';

/** In which order, and in how many batches, the planned nodes join. */
export interface JoinOrder {
  /** Indexes of the plan's bins. */
  readonly bins: readonly number[];
  readonly batches: number;
}

/** A node as kube-scheduler sees it, before anything is bound. */
interface Site {
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
interface Candidate {
  readonly podClass: PodClass;
  readonly rule: HostRule;
  /** Its place depends on other pods beyond its own node. */
  readonly isTied: boolean;
  readonly softHostSpreads: readonly number[];
  readonly softHostAffinity: readonly { readonly selector: number; readonly weight: number }[];
}

/** A stretch of kube-scheduler's queue with pods of one class. */
interface Stretch {
  readonly candidate: number;
  readonly count: number;
}

/** Weights of kube-scheduler's default score plugins that tell new nodes apart. */
const WEIGHT = { nodeAffinity: 2, taints: 3, spread: 2, podAffinity: 2 };

/** Sites by class and domain, kept sorted by score while pods are bound. */
class Board {
  /** Entries of the log that the class has seen. */
  seen = 0;
  readonly heaps = new Map<number, ScoreHeap>();
}

/**
 * kube-scheduler, as far as it decides whether a plan works out: its queue order (priority, then
 * creation), its filters, and its default scores. It binds the pods, whatever the plan had in mind.
 */
export class Playback {
  readonly candidates: readonly Candidate[];
  private readonly world: World;
  private readonly queue: readonly Stretch[];
  private readonly rooms: readonly Site[];
  private readonly domains = new Map<string, number>();
  private readonly topologyKeys: readonly string[];

  constructor(world: World) {
    this.world = world;
    const { problem } = world.ground;
    const hostRules = new HostRules(problem, false, true);
    this.candidates = problem.classes.map((podClass) => {
      const { topology } = podClass;
      const host = topology.spreads.filter((each) => isHostKey(each.key) && !each.isHard);
      const near = topology.affinity.filter((each) => isHostKey(each.key) && each.weight > 0);
      const apart = topology.antiAffinity.filter((each) => isHostKey(each.key) && each.weight > 0);
      return {
        podClass,
        rule: hostRules.ofClass[podClass.id] as HostRule,
        isTied: world.ground.topology.concerns(podClass),
        softHostSpreads: host.map((each) => each.selector.id),
        softHostAffinity: [
          ...near.map(({ selector, weight }) => ({ selector: selector.id, weight })),
          ...apart.map(({ selector, weight }) => ({ selector: selector.id, weight: -weight })),
        ],
      };
    });
    this.topologyKeys = world.ground.topology.keys;
    this.queue = queueOf(world);
    this.rooms = world.ground.rooms.map((room) => this.siteOfRoom(room));
  }

  /** Pods in the queue. */
  get size(): number {
    return this.queue.reduce((sum, { count }) => sum + count, 0);
  }

  private domainOf(place: Place): number {
    const text = this.topologyKeys.map((key) => place.label(key) ?? '').join('|');
    const known = this.domains.get(text);
    if (known !== undefined) return known;
    const added = this.domains.size;
    this.domains.set(text, added);
    return added;
  }

  private siteOfRoom(room: NodeRoom): Site {
    const { resources } = this.world.ground.problem;
    const total = Float64Array.from(resources, (name) => room.node.allocatable[name] ?? 0);
    const { place, free, host } = room;
    return { place, room, bin: undefined, total, free, host, domain: this.domainOf(place) };
  }

  private siteOfBin(bin: Bin): Site {
    const { problem } = this.world.ground;
    const place = placeOfGroup(bin.held.group);
    const { room: total } = bin.held;
    const host = emptyHost(daemonPortsOn(problem, bin.held));
    const domain = this.domainOf(place);
    return { place, room: undefined, bin, total, free: total, host, domain };
  }

  /** How many pods of each class are left over when the nodes join so. */
  run(order: JoinOrder): ReadonlyMap<PodClass, number> {
    const batch = Math.max(1, Math.ceil(order.bins.length / order.batches));
    const bins = order.bins.map((index) => this.siteOfBin(this.world.bins[index] as Bin));
    const { topology, totals } = this.world.ground;
    const run = new Run(this.candidates, topology.copy(), new Map(totals), this.world);
    const left = this.queue.map(({ count }) => count);
    run.join(this.rooms);
    if (this.rooms.length > 0) run.bindAll(this.queue, left);
    for (let from = 0; from < bins.length; from += batch) {
      run.join(bins.slice(from, from + batch));
      run.bindAll(this.queue, left);
    }
    const stranded = new Map<PodClass, number>();
    for (const [at, { candidate }] of this.queue.entries()) {
      const count = left[at] ?? 0;
      if (count === 0) continue;
      const { podClass } = this.candidates[candidate] as Candidate;
      stranded.set(podClass, (stranded.get(podClass) ?? 0) + count);
    }
    return stranded;
  }
}

/** Pods that the plan places, in the order of kube-scheduler's queue. */
function queueOf(world: World): readonly Stretch[] {
  const { problem } = world.ground;
  const classOf = new Map<object, number>();
  for (const podClass of problem.classes) {
    const placed = podClass.pods.length - world.leftOf(podClass);
    for (const pod of podClass.pods.slice(0, placed)) classOf.set(pod, podClass.id);
  }
  const queue: { candidate: number; count: number }[] = [];
  for (const pod of problem.demand.pods) {
    const candidate = classOf.get(pod);
    if (candidate === undefined) continue;
    const last = queue.at(-1);
    if (last?.candidate === candidate) last.count++;
    else queue.push({ candidate, count: 1 });
  }
  return queue;
}

/** One playback. */
class Run {
  private readonly candidates: readonly Candidate[];
  private readonly topology: Topology;
  private readonly totals: HostTotals;
  private readonly world: World;
  private readonly cpu: number;
  private readonly memory: number;
  private readonly sites: Site[] = [];
  private readonly free: Float64Array[] = [];
  private readonly hosts: HostState[] = [];
  private readonly versions: number[] = [];
  /** Sites as they joined or changed, with their versions then. */
  private readonly log: number[] = [];
  private readonly logVersions: number[] = [];
  private readonly boards: readonly Board[];
  private readonly stuck: Uint8Array;
  private readonly live: ReadonlyMap<string, Set<string>>;

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
    this.cpu = resources.indexOf(CPU);
    this.memory = resources.indexOf(MEMORY);
    this.boards = candidates.map(() => new Board());
    this.stuck = new Uint8Array(candidates.length);
    this.live = new Map(topology.keys.map((key) => [key, new Set<string>()]));
  }

  join(sites: readonly Site[]): void {
    for (const site of sites) {
      const index = this.sites.push(site) - 1;
      this.free.push(site.free.slice());
      this.hosts.push(copyHost(site.host));
      this.versions.push(0);
      this.changed(index);
      for (const [key, values] of this.live) {
        const value = site.place.label(key);
        if (value !== undefined) values.add(value);
      }
    }
    this.stuck.fill(0);
  }

  private changed(index: number): void {
    this.log.push(index);
    this.logVersions.push(this.versions[index] ?? 0);
  }

  /** Goes through the queue until nothing more can be bound. */
  bindAll(queue: readonly Stretch[], left: number[]): void {
    for (let progress = true; progress; ) {
      progress = false;
      for (const [at, { candidate }] of queue.entries()) {
        while ((left[at] ?? 0) > 0 && this.stuck[candidate] === 0) {
          if (this.bind(candidate)) {
            left[at] = (left[at] ?? 0) - 1;
            progress = true;
          } else this.stuck[candidate] = 1;
        }
      }
      if (!progress) return;
      for (const [id, { isTied, rule }] of this.candidates.entries()) {
        if (isTied || rule.needs.length > 0) this.stuck[id] = 0;
      }
    }
  }

  private bind(id: number): boolean {
    const candidate = this.candidates[id] as Candidate;
    const board = this.boards[id] as Board;
    this.refresh(candidate, board);
    const chosen = candidate.isTied
      ? this.bestOfDomains(candidate, board)
      : this.top(candidate, board.heaps.get(0));
    if (chosen === undefined) return false;
    const { podClass, rule } = candidate;
    const free = this.free[chosen] as Float64Array;
    for (let r = 0; r < free.length; r++) free[r] = (free[r] ?? 0) - (podClass.requests[r] ?? 0);
    addToHost(rule, this.hosts[chosen] as HostState, this.totals, 1);
    const { place } = this.sites[chosen] as Site;
    this.topology.count(podClass.topology, podClass.matching, place, 1);
    this.versions[chosen] = (this.versions[chosen] ?? 0) + 1;
    this.changed(chosen);
    return true;
  }

  /** Scores the sites that joined or changed since the class was last bound. */
  private refresh(candidate: Candidate, board: Board): void {
    const { log, logVersions, versions } = this;
    for (; board.seen < log.length; board.seen++) {
      const index = log[board.seen] ?? 0;
      const version = logVersions[board.seen] ?? 0;
      if (versions[index] !== version) continue;
      if (!this.fits(candidate, index)) continue;
      const site = this.sites[index] as Site;
      const domain = candidate.isTied ? site.domain : 0;
      let heap = board.heaps.get(domain);
      if (heap === undefined) {
        heap = new ScoreHeap();
        board.heaps.set(domain, heap);
      }
      heap.push(index, version, this.score(candidate, index));
    }
  }

  private fits({ podClass, rule }: Candidate, index: number): boolean {
    const { bin, room } = this.sites[index] as Site;
    const free = this.free[index] as Float64Array;
    const { requests } = podClass;
    for (let r = 0; r < requests.length; r++) {
      if ((requests[r] ?? 0) > 0 && (requests[r] ?? 0) > (free[r] ?? 0)) return false;
    }
    if (bin !== undefined && bin.held.group.allowed[podClass.rule.id] !== 1) return false;
    if (room !== undefined && !this.world.suitsClass(podClass, room)) return false;
    return hostAllows(rule, this.hosts[index] as HostState, this.totals);
  }

  /** The best site of the heap that is still as it was when it was scored. */
  private top({ rule }: Candidate, heap: ScoreHeap | undefined): number | undefined {
    if (heap === undefined) return undefined;
    for (let entry = heap.first(); entry !== undefined; entry = heap.first()) {
      const isFresh = this.versions[entry.site] === entry.version;
      if (isFresh && hostAllows(rule, this.hosts[entry.site] as HostState, this.totals)) {
        return entry.site;
      }
      heap.removeFirst();
    }
    return undefined;
  }

  private bestOfDomains(candidate: Candidate, board: Board): number | undefined {
    const { podClass } = candidate;
    const found: { readonly site: number; readonly score: number; readonly place: Place }[] = [];
    let mostCrowded = 1;
    for (const heap of board.heaps.values()) {
      const site = this.top(candidate, heap);
      if (site === undefined) continue;
      const { place } = this.sites[site] as Site;
      if (!this.topology.allows(podClass, place, this.live)) continue;
      mostCrowded = Math.max(mostCrowded, this.topology.softCrowding(podClass, place));
      found.push({ site, score: heap.first()?.score ?? 0, place });
    }
    let best: number | undefined;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (const { site, score, place } of found) {
      const crowding = this.topology.softCrowding(podClass, place);
      const unmet = this.topology.softAffinityPenalty(podClass, place);
      const total =
        score - (WEIGHT.spread * 100 * crowding) / mostCrowded - WEIGHT.podAffinity * unmet;
      if (total > bestScore) {
        best = site;
        bestScore = total;
      }
    }
    return best;
  }

  /** What the default plugins give the node by itself: resources, labels, taints, its own pods. */
  private score(candidate: Candidate, index: number): number {
    const { podClass, softHostSpreads, softHostAffinity } = candidate;
    const { total, bin, room } = this.sites[index] as Site;
    const free = this.free[index] as Float64Array;
    let score = resourceScore(podClass.requests, free, total, this.cpu, this.memory);
    let wanted = 0;
    let met = 0;
    for (const { kind, rule, weight } of podClass.wished.preferences) {
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
    if (wanted > 0) score += (WEIGHT.nodeAffinity * 100 * met) / wanted;
    const { counts } = this.hosts[index] as HostState;
    for (const id of softHostSpreads) {
      const count = counts.get(id) ?? 0;
      score -= (WEIGHT.spread * 100 * count) / (count + 2);
    }
    for (const { selector, weight } of softHostAffinity) {
      if ((counts.get(selector) ?? 0) > 0) score += WEIGHT.podAffinity * weight;
    }
    return score;
  }
}

/** Least allocated and balanced allocation, 0–100 each, with the pod on the node. */
function resourceScore(
  requests: Float64Array,
  free: Float64Array,
  total: Float64Array,
  cpu: number,
  memory: number,
): number {
  const share = (r: number): number => {
    const whole = r < 0 ? 0 : (total[r] ?? 0);
    if (whole <= 0) return 0;
    return Math.max(0, ((free[r] ?? 0) - (requests[r] ?? 0)) / whole);
  };
  const [one, other] = [share(cpu), share(memory)];
  return Math.floor(50 * (one + other)) + Math.floor(100 * (1 - Math.abs(one - other) / 2));
}
