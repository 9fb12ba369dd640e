import { Budgets } from './budgets.ts';
import {
  ATTACH_PREFIX,
  type Column,
  type ColumnGroup,
  compareColumns,
  UNLIMITED,
} from './columns.ts';
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
import { flexibleCover, insistsOnMinValues } from './min-values.ts';
import { type NodeRule, ruleAllowsNode, taintsAllowed } from './node-rules.ts';
import { type PodClass, type PreferenceKind, type Problem, podPreferenceKind } from './problem.ts';
import type { StateNode } from './state-node.ts';
import { type Place, placeOfGroup, placeOfNode, Topology } from './topology.ts';
import { isHostKey } from './topology-terms.ts';

/** Which preferences a plan tries to meet as if they were rules. */
export interface Wishes {
  readonly kinds: ReadonlySet<PreferenceKind>;
  /** Ids of classes that would be left over if their own preferences were rules. */
  readonly exempt?: ReadonlySet<number>;
}

/** An existing node while pods are put on it. */
export interface NodeRoom {
  readonly node: StateNode;
  readonly place: Place;
  readonly free: Float64Array;
  readonly host: HostState;
  /** Pods put there by the plan, by class. */
  readonly content: Map<PodClass, number>;
}

/** A node to be launched while pods are put on it. */
export interface Bin {
  /** The launches that are still possible, cheapest first. */
  columns: readonly Column[];
  /** The cheapest of them. */
  held: Column;
  /** What the budgets count for it: the held column, or a larger one that minValues keeps open. */
  cover: Column;
  readonly used: Float64Array;
  readonly host: HostState;
  readonly content: Map<PodClass, number>;
}

/** Launches that could take a pod, all in one valid place, and the weight of unmet preferences. */
export interface Choice {
  readonly penalty: number;
  readonly columns: readonly Column[];
}

/** Everything about a class that does not change while planning. */
export interface ClassView {
  readonly podClass: PodClass;
  readonly host: HostRule;
  /** Groups that its rule, and the preferences that are to be met, allow; it fits on their front. */
  readonly groups: readonly ColumnGroup[];
  readonly allowed: Uint8Array;
  /** Rules of the preferences that the groups meet, with their weights. */
  readonly wanted: readonly { readonly rule: NodeRule; readonly weight: number }[];
  /** Weight of the wanted rules that no new node can meet. */
  readonly penaltyOfNew: number;
  /** Topology keys whose value must be decided where the class goes. */
  readonly pinKeys: readonly string[];
  readonly hasTopology: boolean;
}

function fits(requests: Float64Array, used: Float64Array, room: Float64Array): boolean {
  for (let r = 0; r < requests.length; r++) {
    if ((requests[r] ?? 0) > 0 && (used[r] ?? 0) + (requests[r] ?? 0) > (room[r] ?? 0)) {
      return false;
    }
  }
  return true;
}

const EMPTY = new Float64Array(64);

export function zeros(length: number): Float64Array {
  return length <= EMPTY.length ? EMPTY.slice(0, length) : new Float64Array(length);
}

/** The parts of a problem that all attempts at it share. */
export class Ground {
  readonly problem: Problem;
  readonly wishes: Wishes;
  readonly views: readonly ClassView[];
  readonly hostRules: HostRules;
  readonly rooms: readonly NodeRoom[];
  readonly topology: Topology;
  readonly budgets: Budgets;
  readonly totals: HostTotals;
  /** Weights of the usable pools, heaviest first. */
  readonly weights: readonly number[];

  constructor(problem: Problem, wishes: Wishes) {
    this.problem = problem;
    this.wishes = wishes;
    this.hostRules = new HostRules(problem, wishes.kinds.has('pods'));
    const reach = problem.classes.map((each) => reachOf(problem, each));
    this.topology = new Topology(problem);
    const counted = pinningKeys(problem, wishes);
    this.views = problem.classes.map((podClass) => this.view(podClass, reach, counted));
    this.totals = new Map();
    this.rooms = this.nodeRooms();
    this.budgets = Budgets.of(problem);
    this.weights = [...new Set(problem.pools.map(({ pool }) => pool.weight))].sort((a, b) => b - a);
  }

  private view(
    podClass: PodClass,
    reach: readonly (readonly ColumnGroup[])[],
    counted: ReadonlyMap<number, ReadonlySet<string>>,
  ): ClassView {
    let groups = reach[podClass.id] ?? [];
    const { kinds, exempt } = this.wishes;
    const isExempt = exempt?.has(podClass.id) === true;
    const wanted = podClass.preferences.filter(({ kind }) => !isExempt && kinds.has(kind));
    let penaltyOfNew = 0;
    for (const { rule, weight } of wanted) {
      const preferred = groups.filter((group) => group.allowed[rule.id] === 1);
      if (preferred.length > 0) groups = preferred;
      else penaltyOfNew += weight;
    }
    const allowed = new Uint8Array(this.problem.groups.length);
    for (const group of groups) allowed[group.id] = 1;
    const pinKeys = new Set(ownKeys(podClass, this.wishes));
    for (const id of podClass.matching) for (const key of counted.get(id) ?? []) pinKeys.add(key);
    return {
      podClass,
      host: this.hostRules.ofClass[podClass.id] as HostRule,
      groups,
      allowed,
      wanted,
      penaltyOfNew,
      pinKeys: [...pinKeys].sort(),
      hasTopology: pinKeys.size > 0,
    };
  }

  private nodeRooms(): readonly NodeRoom[] {
    const { problem } = this;
    const { resources } = problem;
    const rooms = new Map<StateNode, NodeRoom>();
    for (const node of problem.nodes) {
      const free = Float64Array.from(resources, (name) => freeAtStart(node, name));
      const host = emptyHost();
      rooms.set(node, { node, place: placeOfNode(node), free, host, content: new Map() });
    }
    const daemonUse = new Map<StateNode, Float64Array>();
    for (const each of problem.running) {
      const room = rooms.get(each.node);
      if (room === undefined) continue;
      const { requests, hostPorts: ports } = each.pod.spec;
      const isDaemon = each.pod.controller?.kind === 'DaemonSet';
      let daemon = daemonUse.get(each.node);
      if (isDaemon && daemon === undefined) {
        daemon = new Float64Array(resources.length);
        daemonUse.set(each.node, daemon);
      }
      for (let r = 0; r < resources.length; r++) {
        const amount = requests[resources[r] ?? ''] ?? 0;
        room.free[r] = (room.free[r] ?? 0) - amount;
        if (isDaemon && daemon !== undefined) daemon[r] = (daemon[r] ?? 0) + amount;
      }
      const { topology, matching } = each;
      this.hostRules.addRunning(room.host, { ports, topology, matching });
      for (const id of matching) this.totals.set(id, (this.totals.get(id) ?? 0) + 1);
    }
    for (const room of rooms.values()) this.reserveForDaemons(room, daemonUse.get(room.node));
    this.takeAttachments(rooms);
    return [...rooms.values()];
  }

  /** DaemonSet pods that are still to come to the node keep their room. */
  private reserveForDaemons(room: NodeRoom, running: Float64Array | undefined): void {
    const { node, free } = room;
    const coming = this.problem.daemons.filter(({ rule }) =>
      ruleAllowsNode(rule, node.label, node.taints),
    );
    for (let r = 0; r < free.length; r++) {
      const wanted = coming.reduce((sum, each) => sum + (each.requests[r] ?? 0), 0);
      free[r] = (free[r] ?? 0) - Math.max(0, wanted - (running?.[r] ?? 0));
    }
  }

  private takeAttachments(rooms: ReadonlyMap<StateNode, NodeRoom>): void {
    const { resources, runningAttachments } = this.problem;
    for (const [node, byDriver] of runningAttachments) {
      const room = rooms.get(node);
      if (room === undefined) continue;
      for (let r = 0; r < resources.length; r++) {
        const used = byDriver.get(resources[r] ?? '')?.size ?? 0;
        room.free[r] = (room.free[r] ?? 0) - used;
      }
    }
  }
}

function freeAtStart(node: StateNode, name: string): number {
  if (!name.startsWith(ATTACH_PREFIX)) return node.allocatable[name] ?? 0;
  return node.attachLimits[name.slice(ATTACH_PREFIX.length)] ?? UNLIMITED;
}

function reachOf(problem: Problem, podClass: PodClass): readonly ColumnGroup[] {
  const { requests, rule } = podClass;
  const none = zeros(requests.length);
  return problem.groups.filter(
    (group) =>
      group.allowed[rule.id] === 1 &&
      group.front.some((column) => fits(requests, none, column.room)),
  );
}

/** Topology keys by selector that make the domain of a counted pod matter to others. */
function pinningKeys(problem: Problem, wishes: Wishes): ReadonlyMap<number, ReadonlySet<string>> {
  const keys = new Map<number, Set<string>>();
  const all = [...problem.classes, ...problem.running];
  for (const { topology } of all) {
    for (const { key, selector, weight } of [...topology.affinity, ...topology.antiAffinity]) {
      if (isHostKey(key) || (weight > 0 && !wishes.kinds.has(podPreferenceKind(key)))) continue;
      const known = keys.get(selector.id) ?? new Set<string>();
      keys.set(selector.id, known.add(key));
    }
  }
  return keys;
}

function ownKeys({ topology }: PodClass, wishes: Wishes): readonly string[] {
  const { spreads, affinity, antiAffinity } = topology;
  const isActive = (key: string, isRequired: boolean) =>
    !isHostKey(key) && (isRequired || wishes.kinds.has(podPreferenceKind(key)));
  return [
    ...spreads.filter((each) => isActive(each.key, each.isHard)),
    ...[...affinity, ...antiAffinity].filter((each) => isActive(each.key, each.weight === 0)),
  ].map((each) => each.key);
}

/** One attempt at a plan: existing nodes and bins with the pods put on them so far. */
export class World {
  readonly ground: Ground;
  readonly rooms: readonly NodeRoom[];
  readonly bins: Bin[] = [];
  readonly topology: Topology;
  readonly budgets: Budgets;
  readonly totals: HostTotals;
  /** Pods not placed yet, by class. */
  readonly left: Map<PodClass, number>;
  steps = 0;

  constructor(ground: Ground) {
    this.ground = ground;
    this.rooms = ground.rooms.map((room) => ({
      ...room,
      free: room.free.slice(),
      host: copyHost(room.host),
      content: new Map(),
    }));
    this.topology = ground.topology.copy();
    this.budgets = ground.budgets.copy();
    this.totals = new Map(ground.totals);
    this.left = new Map(ground.problem.classes.map((each) => [each, each.pods.length]));
  }

  leftOf(podClass: PodClass): number {
    return this.left.get(podClass) ?? 0;
  }

  /** Whether the node's labels and taints suit the class. */
  suits({ podClass }: ClassView, room: NodeRoom): boolean {
    return this.suitsClass(podClass, room);
  }

  suitsClass({ rule }: PodClass, { node }: NodeRoom): boolean {
    return ruleAllowsNode(rule, node.label, node.taints);
  }

  /** Weight of the preferences that the node would not meet. */
  penaltyOnNode(view: ClassView, { node, place }: NodeRoom): number {
    let penalty = this.topology.penalty(view.podClass, place, this.ground.wishes.kinds);
    for (const { rule, weight } of view.wanted) {
      if (!ruleAllowsNode(rule, node.label, node.taints)) penalty += weight;
    }
    return penalty;
  }

  canPutOnNode(view: ClassView, room: NodeRoom): boolean {
    const { podClass, host } = view;
    const { requests } = podClass;
    for (let r = 0; r < requests.length; r++) {
      if ((requests[r] ?? 0) > 0 && (requests[r] ?? 0) > (room.free[r] ?? 0)) return false;
    }
    return hostAllows(host, room.host, this.totals) && this.topology.allows(podClass, room.place);
  }

  putOnNode(view: ClassView, room: NodeRoom): void {
    const { podClass, host } = view;
    const { requests } = podClass;
    for (let r = 0; r < requests.length; r++) {
      room.free[r] = (room.free[r] ?? 0) - (requests[r] ?? 0);
    }
    addToHost(host, room.host, this.totals, 1);
    this.topology.count(podClass.topology, podClass.matching, room.place, 1);
    this.note(room.content, podClass, 1);
  }

  private note(content: Map<PodClass, number>, podClass: PodClass, amount: number): void {
    content.set(podClass, (content.get(podClass) ?? 0) + amount);
    this.left.set(podClass, this.leftOf(podClass) - amount);
  }

  /** The columns of `from` on which the class would fit beside what is used, in a valid domain. */
  private choose(
    view: ClassView,
    from: readonly Column[],
    used: Float64Array,
    content: ReadonlyMap<PodClass, number>,
  ): Choice | undefined {
    const { podClass, allowed } = view;
    const possible = from.filter(
      (column) =>
        allowed[column.group.id] === 1 &&
        fits(podClass.requests, used, column.room) &&
        this.budgets.allowance(column, 1) > 0,
    );
    this.steps += from.length;
    const pinned = view.hasTopology
      ? this.choosePlace(view, possible)
      : { penalty: 0, columns: possible };
    const columns = this.withMinValues(view, pinned.columns, used, content).filter((column) =>
      this.clearOfDaemonPorts(view, column),
    );
    const penalty = pinned.penalty + view.penaltyOfNew;
    return columns.length === 0 ? undefined : { penalty, columns };
  }

  /** Keeps only the columns of the best valid combination of the class's topology values. */
  private choosePlace(view: ClassView, columns: readonly Column[]): Choice {
    const { podClass, pinKeys } = view;
    const places = new Map<string, { readonly place: Place; readonly columns: Column[] }>();
    for (const column of columns) {
      const place = placeOfGroup(column.group);
      const text = pinKeys.map((key) => place.label(key) ?? '').join('|');
      const known = places.get(text);
      if (known !== undefined) known.columns.push(column);
      else places.set(text, { place, columns: [column] });
    }
    let best: { readonly rank: readonly number[]; readonly columns: Column[] } | undefined;
    for (const each of places.values()) {
      if (!this.topology.allows(podClass, each.place)) continue;
      const rank = [
        this.topology.penalty(podClass, each.place, this.ground.wishes.kinds),
        this.topology.crowding(podClass, each.place),
        each.columns[0]?.price ?? 0,
      ];
      if (best === undefined || comparesBefore(rank, best.rank)) {
        best = { rank, columns: each.columns };
      }
    }
    return { penalty: best?.rank[0] ?? 0, columns: best?.columns ?? [] };
  }

  private withMinValues(
    view: ClassView,
    columns: readonly Column[],
    used: Float64Array,
    content: ReadonlyMap<PodClass, number>,
  ): readonly Column[] {
    const { problem } = this.ground;
    if (!columns.some(({ pool }) => insistsOnMinValues(problem, pool.pool))) return columns;
    const views = [view, ...this.viewsOf(content)];
    const total = sum(used, view);
    return columns.filter(
      (column) => flexibleCover(problem, this.budgets, column, views, total) !== undefined,
    );
  }

  private viewsOf(content: ReadonlyMap<PodClass, number>): readonly ClassView[] {
    return [...content.keys()].map((each) => this.ground.views[each.id] as ClassView);
  }

  /** Whether the class's ports and DaemonSet host ports leave room on a new node of the column. */
  clearOfDaemonPorts(view: ClassView, column: Column): boolean {
    const { daemonPorts } = this.ground.problem;
    if (view.host.ports.length === 0 || daemonPorts.length === 0) return true;
    const host = emptyHost(daemonPortsOn(this.ground.problem, column));
    return hostAllows({ ...view.host, needs: [] }, host, this.totals);
  }

  /** How a bin could take one more pod of the class; undefined = it cannot. */
  choiceInBin(view: ClassView, bin: Bin): Choice | undefined {
    if (!hostAllows(view.host, bin.host, this.totals)) return undefined;
    this.budgets.take(bin.cover, -1);
    const choice = this.choose(view, bin.columns, bin.used, bin.content);
    this.budgets.take(bin.cover, 1);
    return choice;
  }

  putInBin(view: ClassView, bin: Bin, { columns }: Choice): void {
    bin.columns = columns;
    bin.held = columns[0] ?? bin.held;
    this.fill(view, bin, 1);
    this.cover(bin);
  }

  /** Counts in the budgets what the bin may become now. */
  cover(bin: Bin): void {
    this.budgets.take(bin.cover, -1);
    const views = this.viewsOf(bin.content);
    const { problem } = this.ground;
    bin.cover = flexibleCover(problem, this.budgets, bin.held, views, bin.used) ?? bin.held;
    this.budgets.take(bin.cover, 1);
  }

  /** Counts pods of the class as placed in the bin; the caller has checked everything. */
  fill(view: ClassView, bin: Bin, amount: number): void {
    const { podClass, host } = view;
    for (let r = 0; r < bin.used.length; r++) {
      bin.used[r] = (bin.used[r] ?? 0) + (podClass.requests[r] ?? 0) * amount;
    }
    addToHost(host, bin.host, this.totals, amount);
    const place = placeOfGroup(bin.held.group);
    this.topology.count(podClass.topology, podClass.matching, place, amount);
    this.note(bin.content, podClass, amount);
  }

  /**
   * How a new node could take a pod, in the heaviest pools that can; undefined = none can. With
   * `beside`, only where a pod of that class could follow.
   */
  choiceOfNew(view: ClassView, beside: ClassView = view): Choice | undefined {
    if (!hostAllows(view.host, emptyHost(), this.totals)) return undefined;
    const used = zeros(this.ground.problem.resources.length);
    const candidates = view.groups
      .filter((group) => beside.allowed[group.id] === 1)
      .flatMap((group) => group.front)
      .filter(
        ({ room }) =>
          beside === view || fits(beside.podClass.requests, view.podClass.requests, room),
      );
    for (const weight of this.ground.weights) {
      const tier = candidates.filter((column) => column.pool.pool.weight === weight);
      const choice = this.choose(view, tier, used, new Map());
      if (choice !== undefined) return choice;
    }
    return undefined;
  }

  open(choice: Choice): Bin {
    const columns = choice.columns.toSorted(compareColumns);
    const held = columns[0] as Column;
    const bin: Bin = {
      columns,
      held,
      cover: held,
      used: zeros(this.ground.problem.resources.length),
      host: emptyHost(daemonPortsOn(this.ground.problem, held)),
      content: new Map(),
    };
    this.budgets.take(held, 1);
    this.bins.push(bin);
    return bin;
  }
}

/** Host ports of the DaemonSets that will run on a node of the column. */
export function daemonPortsOn(problem: Problem, { pool, group }: Column) {
  return problem.daemonPorts
    .filter(({ rule }) => group.allowed[rule.id] === 1 && taintsAllowed(rule, pool.taints))
    .flatMap((each) => each.ports);
}

function sum(used: Float64Array, { podClass }: ClassView): Float64Array {
  return used.map((amount, r) => amount + (podClass.requests[r] ?? 0));
}

function comparesBefore(a: readonly number[], b: readonly number[]): boolean {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (Math.abs(difference) > 1e-12) return difference < 0;
  }
  return false;
}
