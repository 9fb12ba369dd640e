import { Binding, type Candidate, type Site, type Stretch } from './binding.ts';
import { emptyHost, type HostRule, HostRules } from './host.ts';
import type { PodClass } from './problem.ts';
import { type Place, placeOfGroup } from './topology.ts';
import { isHostKey } from './topology-terms.ts';
import { type Bin, daemonPortsOn, type NodeRoom, type World } from './world.ts';

/** In which order, and in how many batches, the planned nodes join. */
export interface JoinOrder {
  /** Indexes of the plan's bins. */
  readonly bins: readonly number[];
  readonly batches: number;
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
  /** Nodes looked at in all playbacks. */
  steps = 0;
  private readonly domains = new Map<string, number>();
  private readonly topologyKeys: readonly string[];

  constructor(world: World) {
    this.world = world;
    const { problem } = world.ground;
    const hostRules = new HostRules(problem, false, true);
    const hasSoftTaints = [...problem.pools, ...problem.nodes].some(({ taints }) =>
      taints.some((taint) => taint.effect === 'PreferNoSchedule'),
    );
    const shapes = new Map<string, number>();
    this.candidates = problem.classes.map((podClass) => {
      const { topology, requests } = podClass;
      const shape = `${podClass.rule.id}/${requests.join()}`;
      if (!shapes.has(shape)) shapes.set(shape, shapes.size);
      const resources = [...requests.keys()].filter((r) => (requests[r] ?? 0) > 0);
      const host = topology.spreads.filter((each) => isHostKey(each.key) && !each.isHard);
      const near = topology.affinity.filter((each) => isHostKey(each.key) && each.weight > 0);
      const apart = topology.antiAffinity.filter((each) => isHostKey(each.key) && each.weight > 0);
      return {
        podClass,
        rule: hostRules.ofClass[podClass.id] as HostRule,
        resources: Int32Array.from(resources),
        amounts: Float64Array.from(resources, (r) => requests[r] ?? 0),
        id: podClass.id,
        shape: shapes.get(shape) ?? 0,
        isHelped:
          topology.spreads.some((each) => each.isHard && !isHostKey(each.key)) ||
          topology.affinity.some((each) => each.weight === 0),
        isTied: world.ground.topology.concerns(podClass),
        hasPreferences: podClass.wished.preferences.some(
          ({ kind }) => kind !== 'taint' || hasSoftTaints,
        ),
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
    const binding = new Binding(this.candidates, topology.copy(), new Map(totals), this.world);
    const left = Int32Array.from(this.queue, ({ count }) => count);
    binding.join(this.rooms);
    if (this.rooms.length > 0) binding.bindAll(this.queue, left);
    for (let from = 0; from < bins.length; from += batch) {
      binding.join(bins.slice(from, from + batch));
      binding.bindAll(this.queue, left);
    }
    this.steps += binding.steps;
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
