import type { Pod } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import { ATTACH_PREFIX, type ColumnGroup, UNLIMITED } from '../problem/columns.ts';
import { type NodeRule, ruleAllowsNode } from '../problem/node-rules.ts';
import {
  type PodClass,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from '../problem/problem.ts';
import type { StateNode } from '../problem/state-node.ts';
import { isHostKey } from '../problem/topology-terms.ts';
import { Budgets } from './budgets.ts';
import { emptyHost, type HostRule, HostRules, type HostState, type HostTotals } from './host.ts';
import { type Occupant, Openings } from './openings.ts';
import { type Place, placeOfNode, Topology } from './topology.ts';

/** Which preferences a plan tries to meet as if they were rules. */
export interface Wishes {
  readonly kinds: ReadonlySet<PreferenceKind>;
  /** By kind, ids of classes whose preferences of it cannot be met, or cost too much. */
  readonly exempt?: ReadonlyMap<PreferenceKind, ReadonlySet<number>>;
}

/** An existing node while pods are put on it. */
export interface NodeRoom {
  readonly node: StateNode;
  readonly place: Place;
  /** This and the host state are the ground's until an attempt puts the first pod there. */
  free: Float64Array;
  host: HostState;
  /** Pods put there by the plan, by class. */
  content: Map<PodClass, number>;
}

/** Existing nodes that suit a class, in the order in which room is used. */
export interface SuitableRooms {
  /** How many there are, those without room among them. */
  readonly count: number;
  /** Positions among the ground's rooms of those with room for a pod before anything is placed. */
  readonly fitting: readonly number[];
  /** How many suitable ones a search has looked at when it has come to each of these. */
  readonly looks: readonly number[];
}

/** Everything about a class that does not change while planning. */
export interface ClassView extends Occupant {
  /** Groups that its rule, and the preferences that are to be met, allow; it fits on their front. */
  readonly groups: readonly ColumnGroup[];
  /** Kinds of preferences that are to be met. */
  readonly kinds: ReadonlySet<PreferenceKind>;
  /** Rules of the preferences that the groups meet, with their weights. */
  readonly wanted: readonly { readonly rule: NodeRule; readonly weight: number }[];
  /** Weight of the wanted rules that no new node can meet. */
  readonly penaltyOfNew: number;
  readonly hasTopology: boolean;
}

export function fits(requests: Float64Array, used: Float64Array, room: Float64Array): boolean {
  for (let r = 0; r < requests.length; r++) {
    if ((requests[r] ?? 0) > 0 && (used[r] ?? 0) + (requests[r] ?? 0) > (room[r] ?? 0)) {
      return false;
    }
  }
  return true;
}

/** Whether an existing node has room for one more pod. */
export function hasRoom(requests: Float64Array, free: Float64Array): boolean {
  for (let r = 0; r < requests.length; r++) {
    const wanted = requests[r] ?? 0;
    if (wanted > 0 && wanted > (free[r] ?? 0)) return false;
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
  readonly openings: Openings;
  readonly rooms: readonly NodeRoom[];
  readonly topology: Topology;
  readonly budgets: Budgets;
  readonly totals: HostTotals;
  /** Weights of the usable pools, heaviest first. */
  readonly weights: readonly number[];
  private readonly suitable = new Map<ClassView, SuitableRooms>();

  constructor(problem: Problem, wishes: Wishes) {
    this.problem = problem;
    this.wishes = wishes;
    this.hostRules = new HostRules(problem, wishes.kinds.has('pods'));
    const reach = problem.classes.map((each) => reachOf(problem, each));
    this.topology = new Topology(problem);
    this.openings = new Openings(problem);
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
    const kinds = kindsOf(this.wishes, podClass);
    const wanted = podClass.preferences.filter(({ kind }) => kinds.has(kind));
    let penaltyOfNew = 0;
    for (const { rule, weight } of wanted) {
      const preferred = groups.filter((group) => group.allowed[rule.id] === 1);
      if (preferred.length > 0) groups = preferred;
      else penaltyOfNew += weight;
    }
    const allowed = new Uint8Array(this.problem.groups.length);
    for (const group of groups) allowed[group.id] = 1;
    const pinKeys = new Set(ownKeys(podClass, kinds));
    for (const id of podClass.matching) for (const key of counted.get(id) ?? []) pinKeys.add(key);
    return {
      podClass,
      host: this.hostRules.ofClass[podClass.id] as HostRule,
      groups,
      allowed,
      kinds,
      wanted,
      penaltyOfNew,
      pinKeys: [...pinKeys].sort(),
      hasTopology: pinKeys.size > 0,
    };
  }

  /** Whether pods of the class come from other nodes and are not to go to this one. */
  isClosed({ pods }: PodClass, node: StateNode): boolean {
    const { closed, demand } = this.problem;
    return closed.has(node) && pods.some((pod) => demand.moving.has(pod));
  }

  /** What is full before anything is placed stays so: no attempt needs to look at it again. */
  roomsFor(view: ClassView): SuitableRooms {
    const before = this.suitable.get(view);
    if (before !== undefined) return before;
    const { podClass } = view;
    const { rule, requests } = podClass;
    const [fitting, looks]: [number[], number[]] = [[], []];
    let count = 0;
    for (const [index, { node, free }] of this.rooms.entries()) {
      if (this.isClosed(podClass, node)) continue;
      if (!ruleAllowsNode(rule, node.label, node.taints)) continue;
      count += 1;
      if (!hasRoom(requests, free)) continue;
      fitting.push(index);
      looks.push(count);
    }
    const found = { count, fitting, looks };
    this.suitable.set(view, found);
    return found;
  }

  private nodeRooms(): readonly NodeRoom[] {
    const { problem } = this;
    const { resources, staying } = problem;
    const text = resources.join();
    const rooms = new Map<StateNode, NodeRoom>();
    for (const node of problem.nodes) {
      const use = useOf(node, staying.get(node) ?? NOBODY, resources, text);
      const room: NodeRoom = {
        ...{ node, place: placeOfNode(node), free: use.free.slice() },
        ...{ host: emptyHost(), content: new Map() },
      };
      rooms.set(node, room);
      this.reserveForDaemons(room, use.ofDaemonSets);
    }
    for (const each of problem.running) {
      for (const id of each.matching) this.totals.set(id, (this.totals.get(id) ?? 0) + 1);
      const room = rooms.get(each.node);
      if (room === undefined) continue;
      const { topology, matching, pod } = each;
      const isTerminating = pod.deletedAtMs !== undefined;
      const { hostPorts: ports } = pod.spec;
      this.hostRules.addRunning(room.host, { ports, topology, matching, isTerminating });
    }
    this.takeAttachments(rooms);
    return [...rooms.values()];
  }

  /** DaemonSet pods that are still to come to the node keep their room. */
  private reserveForDaemons(room: NodeRoom, running: Float64Array): void {
    const { node, free } = room;
    const coming = this.problem.daemons.filter(({ rule }) =>
      ruleAllowsNode(rule, node.label, node.taints),
    );
    for (let r = 0; r < free.length; r++) {
      const wanted = coming.reduce((sum, each) => sum + (each.requests[r] ?? 0), 0);
      free[r] = (free[r] ?? 0) - Math.max(0, wanted - (running[r] ?? 0));
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

/** What the pods of a node leave of it, and what those of DaemonSets among them take. */
interface NodeUse {
  readonly node: StateNode;
  readonly free: Float64Array;
  readonly ofDaemonSets: Float64Array;
}

const NOBODY: readonly Pod[] = [];

/** By the pods of a node and the resources asked for: plans for one snapshot share most nodes. */
const uses = new WeakMap<readonly Pod[], Map<string, NodeUse>>();

function useOf(
  node: StateNode,
  pods: readonly Pod[],
  resources: readonly string[],
  text: string,
): NodeUse {
  if (pods.length === 0) return useBy(node, pods, resources);
  const known = uses.get(pods) ?? new Map<string, NodeUse>();
  uses.set(pods, known);
  const before = known.get(text);
  if (before !== undefined && hasSameRoom(before.node, node)) return before;
  const use = useBy(node, pods, resources);
  known.set(text, use);
  return use;
}

function hasSameRoom(a: StateNode, b: StateNode): boolean {
  if (a === b) return true;
  return a.allocatable === b.allocatable && a.attachLimits === b.attachLimits;
}

function useBy(node: StateNode, pods: readonly Pod[], resources: readonly string[]): NodeUse {
  const free = Float64Array.from(resources, (name) => freeAtStart(node, name));
  const ofDaemonSets = new Float64Array(resources.length);
  for (const { spec, controller } of pods) {
    const isDaemon = controller?.kind === 'DaemonSet';
    for (let r = 0; r < resources.length; r++) {
      const amount = spec.requests[resources[r] ?? ''] ?? 0;
      free[r] = (free[r] ?? 0) - amount;
      if (isDaemon) ofDaemonSets[r] = (ofDaemonSets[r] ?? 0) + amount;
    }
  }
  return { node, free, ofDaemonSets };
}

function freeAtStart(node: StateNode, name: string): number {
  if (!name.startsWith(ATTACH_PREFIX)) return amountOf(node.allocatable, name);
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
  const all = [
    ...problem.classes.map((each) => ({ ...each, kinds: kindsOf(wishes, each) })),
    ...problem.running.map((each) => ({ ...each, kinds: wishes.kinds })),
  ];
  const pin = (id: number, key: string) => keys.set(id, (keys.get(id) ?? new Set()).add(key));
  for (const { topology, kinds } of all) {
    for (const { key, selector, weight } of [...topology.affinity, ...topology.antiAffinity]) {
      if (isHostKey(key) || (weight > 0 && !kinds.has(podPreferenceKind(key)))) continue;
      pin(selector.id, key);
    }
  }
  for (const { topology } of problem.classes) {
    for (const { key, selector, isHard } of topology.spreads) {
      if (isHard && !isHostKey(key)) pin(selector.id, key);
    }
  }
  return keys;
}

function kindsOf({ kinds, exempt }: Wishes, { id }: PodClass): ReadonlySet<PreferenceKind> {
  const isExempt = (kind: PreferenceKind) => exempt?.get(kind)?.has(id) === true;
  return [...kinds].some(isExempt) ? new Set([...kinds].filter((kind) => !isExempt(kind))) : kinds;
}

function ownKeys({ topology }: PodClass, kinds: ReadonlySet<PreferenceKind>): readonly string[] {
  const { spreads, affinity, antiAffinity } = topology;
  const isActive = (key: string, isRequired: boolean) =>
    !isHostKey(key) && (isRequired || kinds.has(podPreferenceKind(key)));
  return [
    ...spreads.filter((each) => isActive(each.key, each.isHard)),
    ...[...affinity, ...antiAffinity].filter((each) => isActive(each.key, each.weight === 0)),
  ].map((each) => each.key);
}
