import { type Column, compareColumns } from '../problem/columns.ts';
import { daemonPortsOn } from '../problem/host-ports.ts';
import { ruleAllowsNode } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import type { Budgets } from './budgets.ts';
import { type ClassView, fits, type Ground, hasRoom, type NodeRoom, zeros } from './ground.ts';
import {
  addToHost,
  copyHost,
  emptyHost,
  type HostState,
  type HostTotals,
  hostAllows,
} from './host.ts';
import { Covers, insistsOnMinValues } from './min-values.ts';
import { type Place, placeOfGroup, type Topology } from './topology.ts';

export { type ClassView, Ground, type NodeRoom, type Wishes, zeros } from './ground.ts';

/** A node to be launched while pods are put on it. */
export interface Bin {
  /** The launches that are still possible, cheapest first. */
  columns: readonly Column[];
  /** The cheapest of them. */
  held: Column;
  /** What the budgets count for it: the held column, or as much as minValues keeps open. */
  cover: Column;
  readonly used: Float64Array;
  readonly host: HostState;
  readonly content: Map<PodClass, number>;
}

/** The classes on a node. */
export function viewsIn(
  ground: Ground,
  { content }: { readonly content: ReadonlyMap<PodClass, number> },
): readonly ClassView[] {
  return [...content.keys()].map((each) => ground.views[each.id] as ClassView);
}

/** Launches that could take a pod, all in one valid place, and the weight of unmet preferences. */
export interface Choice {
  readonly penalty: number;
  /** Cheapest first. */
  readonly columns: readonly Column[];
}

/** On most nodes no pod is put: until one is they are as the ground has them. */
const NO_PODS = new Map<PodClass, number>();

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
    this.rooms = ground.rooms.map(({ node, place, free, host }) => ({
      ...{ node, place, free, host },
      content: NO_PODS,
    }));
    this.topology = ground.topology.copy();
    this.budgets = ground.budgets.copy();
    this.totals = new Map(ground.totals);
    this.left = new Map(ground.problem.classes.map((each) => [each, each.pods.length]));
  }

  leftOf(podClass: PodClass): number {
    return this.left.get(podClass) ?? 0;
  }

  /** Whether the node's labels and taints suit the class, and a plan may put its pods there. */
  suits({ podClass }: ClassView, room: NodeRoom): boolean {
    return !this.ground.isClosed(podClass, room.node) && this.suitsClass(podClass, room);
  }

  /** The same as kube-scheduler sees it. */
  suitsClass({ rule }: PodClass, { node }: NodeRoom): boolean {
    return ruleAllowsNode(rule, node.label, node.taints);
  }

  /** Weight of the preferences that the node would not meet. */
  penaltyOnNode(view: ClassView, { node, place }: NodeRoom): number {
    let penalty = this.topology.penalty(view.podClass, place, view.kinds);
    for (const { rule, weight } of view.wanted) {
      if (!ruleAllowsNode(rule, node.label, node.taints)) penalty += weight;
    }
    return penalty;
  }

  canPutOnNode(view: ClassView, room: NodeRoom): boolean {
    const { podClass, host } = view;
    if (!hasRoom(podClass.requests, room.free)) return false;
    return hostAllows(host, room.host, this.totals) && this.topology.allows(podClass, room.place);
  }

  putOnNode(view: ClassView, room: NodeRoom, amount = 1): void {
    if (room.content === NO_PODS) {
      room.free = room.free.slice();
      room.host = copyHost(room.host);
      room.content = new Map();
    }
    const { podClass, host } = view;
    const { requests } = podClass;
    for (let r = 0; r < requests.length; r++) {
      room.free[r] = (room.free[r] ?? 0) - (requests[r] ?? 0) * amount;
    }
    addToHost(host, room.host, this.totals, amount);
    this.topology.count(podClass.topology, podClass.matching, room.place, amount);
    this.note(room.content, podClass, amount);
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
        this.topology.penalty(podClass, each.place, view.kinds),
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
    const views = [view, ...viewsIn(this.ground, { content })];
    const total = sum(used, view);
    this.steps += columns.length * problem.groups.length;
    const covers = new Covers(this.ground, this.budgets, views, total);
    return columns.filter((column) => covers.of(column) !== undefined);
  }

  /** Whether the class's ports and DaemonSet host ports leave room on a new node of the column. */
  clearOfDaemonPorts(view: ClassView, column: Column): boolean {
    const { daemonPorts } = this.ground.problem;
    if (view.host.ports.length === 0 || daemonPorts.length === 0) return true;
    const host = emptyHost(daemonPortsOn(this.ground.problem, column));
    return hostAllows({ ...view.host, needs: [] }, host, this.totals);
  }

  /** How a new node that is one of these launches could take a pod; undefined = none can. */
  choiceAmong(view: ClassView, columns: readonly Column[]): Choice | undefined {
    if (!hostAllows(view.host, emptyHost(), this.totals)) return undefined;
    return this.choose(view, columns, zeros(this.ground.problem.resources.length), new Map());
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
    const views = viewsIn(this.ground, bin);
    bin.cover = new Covers(this.ground, this.budgets, views, bin.used).of(bin.held) ?? bin.held;
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
      )
      .sort(compareColumns);
    for (const weight of this.ground.weights) {
      const tier = candidates.filter((column) => column.pool.pool.weight === weight);
      const choice = this.choose(view, tier, used, new Map());
      if (choice !== undefined) return choice;
    }
    return undefined;
  }

  open({ columns }: Choice): Bin {
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

  /** Takes back the bin that was opened last, with its only pod. */
  close(view: ClassView, bin: Bin): void {
    this.fill(view, bin, -1);
    this.budgets.take(bin.cover, -1);
    this.bins.pop();
  }

  /** A copy that lacks the pods of some nodes, and of these those that were to be launched. */
  without(taken: ReadonlySet<Bin | NodeRoom>): World {
    const copy = new World(this.ground);
    for (const [index, room] of this.rooms.entries()) {
      if (taken.has(room)) continue;
      for (const [{ id }, amount] of room.content) {
        const view = this.ground.views[id] as ClassView;
        copy.putOnNode(view, copy.rooms[index] as NodeRoom, amount);
      }
    }
    for (const bin of this.bins) {
      if (taken.has(bin)) continue;
      const kept = copy.open({ penalty: 0, columns: bin.columns });
      for (const [{ id }, amount] of bin.content) {
        copy.fill(this.ground.views[id] as ClassView, kept, amount);
      }
      copy.budgets.take(kept.cover, -1);
      copy.budgets.take(bin.cover, 1);
      kept.cover = bin.cover;
    }
    return copy;
  }
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
