import { missing } from '../../missing.ts';
import { amountOf } from '../../model/resources.ts';
import { daemonPortsOn } from '../problem/host-ports.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { isHostKey } from '../problem/topology-terms.ts';
import { emptyHost, HostRules } from '../search/host.ts';
import type { Bin, ExistingNode, SearchState } from '../search/search-state.ts';
import { type Place, placeOfGroup } from '../search/topology.ts';
import { Binding } from './binding.ts';
import type { Scoring } from './node-scores.ts';
import { NodesAtOnce } from './nodes-at-once.ts';
import { Queue } from './queue.ts';
import { type DependentsByBin, dependentsOf, Registration } from './registration.ts';
import type { SchedulerClass, SchedulerNode } from './scheduler-node.ts';

/** In which order, and in how many batches, the planned nodes join and are ready. */
export interface JoinOrder {
  /** Indexes of the plan's bins. */
  readonly bins: readonly number[];
  readonly batches: number;
}

/** Pods for which kube-scheduler finds no place. */
export interface LeftOver {
  readonly pods: ReadonlyMap<PodClass, number>;
  /** What those request whose inbound place is taken. */
  readonly inbound: readonly Float64Array[];
}

/** Selectors that required terms read beyond a node's own pods; affinity may draw to any node. */
function decidingSelectors({ classes, running }: Problem): ReadonlySet<number> {
  const ids = new Set<number>();
  for (const { topology } of [...classes, ...running]) {
    const { spreads, affinity, antiAffinity } = topology;
    for (const each of spreads) if (each.isHard && !isHostKey(each.key)) ids.add(each.selector.id);
    for (const each of affinity) if (each.weight === 0) ids.add(each.selector.id);
    for (const each of antiAffinity) {
      if (each.weight === 0 && !isHostKey(each.key)) ids.add(each.selector.id);
    }
  }
  return ids;
}

/** By selector: ids of classes that may go to more nodes when more of its pods are there. */
function helpedClasses({ classes }: Problem): ReadonlyMap<number, readonly number[]> {
  const helped = new Map<number, number[]>();
  for (const { id, topology } of classes) {
    const terms = [
      ...topology.spreads.filter((each) => each.isHard && !isHostKey(each.key)),
      ...topology.affinity.filter((each) => each.weight === 0),
    ];
    for (const { selector } of terms) {
      helped.set(selector.id, [...(helped.get(selector.id) ?? []), id]);
    }
  }
  return helped;
}

function hasDecidingTerm({ topology }: PodClass): boolean {
  const { spreads, affinity, antiAffinity } = topology;
  return (
    spreads.some((each) => each.isHard && !isHostKey(each.key)) ||
    affinity.some((each) => each.weight === 0) ||
    antiAffinity.some((each) => each.weight === 0 && !isHostKey(each.key))
  );
}

/**
 * kube-scheduler, as far as it decides whether a plan works out: its queue order (priority, then
 * creation), its filters, and its default scores. Nodes open in lifecycle's order. Pods are
 * nominated to their planned node when it opens, so that kube-scheduler tries that node first and
 * keeps room for them there; until then, and where required terms about other pods close the node,
 * it binds them as it likes.
 */
export class Playback {
  readonly candidates: readonly SchedulerClass[];
  /** Nodes looked at in all playbacks. */
  steps = 0;
  private readonly state: SearchState;
  private readonly queue: Queue;
  private readonly dependents: DependentsByBin;
  private readonly domains = new Map<string, number>();
  private readonly topologyKeys: readonly string[];
  private existing: readonly SchedulerNode[] | undefined;
  private atOnce: NodesAtOnce | undefined;

  constructor(state: SearchState) {
    this.state = state;
    const { problem, topology } = state.context;
    const hostRules = new HostRules(problem, false, true);
    const deciding = decidingSelectors(problem);
    const helped = helpedClasses(problem);
    const hasSoftTaints = [...problem.pools, ...problem.nodes].some(({ taints }) =>
      taints.some((taint) => taint.effect === 'PreferNoSchedule'),
    );
    const shapes = new Map<string, number>();
    this.candidates = problem.classes.map((podClass) => {
      const shape = `${podClass.rule.id}/${podClass.requests.join()}`;
      if (!shapes.has(shape)) shapes.set(shape, shapes.size);
      return {
        ...candidateOf(podClass, hasSoftTaints),
        rule: hostRules.ofClass[podClass.id] ?? missing(podClass.id),
        shape: shapes.get(shape) ?? missing(shape),
        isTied: topology.concerns(podClass),
        helps: podClass.matching.flatMap((id) => helped.get(id) ?? []),
        isBound: hasDecidingTerm(podClass) || podClass.matching.some((id) => deciding.has(id)),
      };
    });
    this.topologyKeys = topology.keys;
    this.queue = Queue.of(state);
    this.dependents = dependentsOf(state, this.candidates);
  }

  /** Whether nothing can close its planned node to any pod. */
  get isCertain(): boolean {
    return !this.queue.stretches.some(({ podClass }) => this.candidates[podClass.id]?.isBound);
  }

  /** Pods whose place required terms about other pods decide. */
  get size(): number {
    return this.candidates
      .filter(({ isBound }) => isBound)
      .reduce((sum, { podClass }) => sum + this.queue.leftOf(podClass), 0);
  }

  private domainOf(place: Place): number {
    const text = this.topologyKeys.map((key) => place.label(key) ?? '').join('|');
    const known = this.domains.get(text);
    if (known !== undefined) return known;
    const added = this.domains.size;
    this.domains.set(text, added);
    return added;
  }

  /** Existing nodes without the pods that the plan puts on them. */
  private ofExistingNodes(): readonly SchedulerNode[] {
    this.existing ??= this.state.existingNodes.map((each) => this.ofExisting(each));
    return this.existing.map((node) => ({ ...node }));
  }

  private ofExisting(existing: ExistingNode): SchedulerNode {
    const { problem, existingNodes } = this.state.context;
    const { node, place, content, index } = existing;
    const total = Float64Array.from(problem.resources, (name) => amountOf(node.allocatable, name));
    // Each state has the nodes of its context, in the same order.
    const { free, host } = existingNodes[index] ?? missing(index);
    const domain = this.domainOf(place);
    return { place, existing, bin: undefined, total, free, host, isOwn: false, content, domain };
  }

  private ofBin(bin: Bin): SchedulerNode {
    const { problem } = this.state.context;
    const place = placeOfGroup(bin.chosen.group);
    const { free: total } = bin.chosen;
    const host = emptyHost(daemonPortsOn(problem, bin.chosen));
    const domain = this.domainOf(place);
    const { content } = bin;
    const free = total.slice();
    return { place, existing: undefined, bin, total, free, host, isOwn: true, content, domain };
  }

  /**
   * What is left over when all nodes are there, none of the pods is nominated to one, and they come
   * in this order: so it is when they are evicted somewhere. Pods that are inbound come last.
   */
  runFree(
    order: (pods: readonly PodClass[]) => readonly PodClass[],
    scoring: Scoring = 'balanced',
  ): LeftOver {
    const { context } = this.state;
    const queue = this.queue.reordered(order);
    const [topology, totals] = [context.topology.copy(), new Map(context.totals)];
    const atOnce = this.allAtOnce();
    const options = { atOnce, scoring };
    const binding = new Binding(this.candidates, queue, topology, totals, this.state, options);
    const nodes = atOnce.copy();
    binding.join(nodes);
    binding.bindAll();
    this.steps += binding.steps;
    const left = this.candidates
      .map(({ podClass }) => [podClass, queue.leftOf(podClass)] as const)
      .filter(([, amount]) => amount > 0);
    return { pods: new Map(left), inbound: atOnce.inboundWithoutRoom(nodes) };
  }

  private allAtOnce(): NodesAtOnce {
    const { bins, context } = this.state;
    this.atOnce ??= new NodesAtOnce(context.problem, [
      ...this.ofExistingNodes(),
      ...bins.map((bin) => this.ofBin(bin)),
    ]);
    return this.atOnce;
  }

  /** How many pods are left over when the nodes join so. */
  run(order: JoinOrder): number {
    const { bins: planned, existingNodes, context } = this.state;
    const batch = Math.max(1, Math.ceil(order.bins.length / order.batches));
    const bins = order.bins.map((index) => this.ofBin(planned[index] ?? missing(index)));
    const queue = this.queue.renewed();
    const [topology, totals] = [context.topology.copy(), new Map(context.totals)];
    const binding = new Binding(this.candidates, queue, topology, totals, this.state);
    if (existingNodes.length > 0) {
      binding.join(this.ofExistingNodes());
      binding.bindAll();
    }
    const registration = new Registration(this.dependents, this.candidates.length);
    for (let from = 0; from < bins.length; from += batch) {
      binding.join(registration.open(bins.slice(from, from + batch)));
      binding.bindAll();
    }
    this.steps += binding.steps;
    return this.candidates.reduce((sum, { podClass }) => sum + queue.leftOf(podClass), 0);
  }
}

/** What the class itself says. */
function candidateOf(podClass: PodClass, hasSoftTaints: boolean) {
  const { topology, requests, scored } = podClass;
  const resources = [...requests.keys()].filter((r) => (requests[r] ?? missing(r)) > 0);
  const host = topology.spreads.filter((each) => isHostKey(each.key) && !each.isHard);
  const near = topology.affinity.filter((each) => isHostKey(each.key) && each.weight > 0);
  const apart = topology.antiAffinity.filter((each) => isHostKey(each.key) && each.weight > 0);
  return {
    podClass,
    resources: Int32Array.from(resources),
    amounts: Float64Array.from(resources, (r) => requests[r] ?? missing(r)),
    hasPreferences: scored.preferences.some(({ kind }) => kind !== 'taint' || hasSoftTaints),
    softHostSpreads: host.map((each) => each.selector.id),
    softHostAffinity: [
      ...near.map(({ selector, weight }) => ({ selector: selector.id, weight })),
      ...apart.map(({ selector, weight }) => ({ selector: selector.id, weight: -weight })),
    ],
  };
}
