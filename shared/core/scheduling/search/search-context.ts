import { missing } from '../../missing.ts';
import type { Pod } from '../../model/pod.ts';
import { amountOf } from '../../model/resources.ts';
import { ATTACH_PREFIX, type LaunchGroup, UNLIMITED } from '../problem/launch-options.ts';
import { type NodeRule, ruleAllowsNode } from '../problem/node-rules.ts';
import type { PodClass, PreferenceKind, Problem } from '../problem/problem.ts';
import type { StateNode } from '../problem/state-node.ts';
import { requiredOf } from '../problem/topology-terms.ts';
import { Budgets } from './budgets.ts';
import { emptyHost, HostRules, type HostState, type HostTotals } from './host.ts';
import {
  avoidingKeys,
  type EnforcedPreferences,
  type KeysBySelector,
  keysFor,
  kindsOf,
  ownKeys,
  pinningKeys,
} from './pin-keys.ts';
import { PlaceTexts } from './place-texts.ts';
import { type Place, placeOfGroup, placeOfNode, Topology } from './topology.ts';
import { type Occupant, TypeOptions } from './type-options.ts';

/** An existing node while pods are put on it. */
export interface ExistingNode {
  readonly node: StateNode;
  /** Its position among the context's existing nodes. */
  readonly index: number;
  readonly place: Place;
  /** This and the host state are the context's until an attempt puts the first pod there. */
  free: Float64Array;
  host: HostState;
  /** Pods put there by the plan, by class. */
  content: Map<PodClass, number>;
}

/** Until a plan puts a pod on a node. */
export const NO_PODS = new Map<PodClass, number>();

/** Of nodes whose pods are noticed by no other; never changed. */
const NO_HOST_STATE = emptyHost();

/** Existing nodes that suit a class, in the order in which room is used. */
export interface SuitableNodes {
  /** How many there are, those without room among them. */
  readonly count: number;
  /**
   * Positions among the context's existing nodes of those with room for a pod before anything is
   * placed.
   */
  readonly fitting: readonly number[];
}

/** The existing nodes that a rule allows. */
export interface AllowedNodes {
  /** By position among the context's existing nodes: 1 where it is allowed. */
  readonly isAllowed: Uint8Array;
  readonly positions: Int32Array;
}

/** Everything about a class that does not change while planning. */
export interface ResolvedClass extends Occupant {
  /**
   * Groups that its rule, and the preferences that are to be met, allow; it fits on their Pareto
   * front.
   */
  readonly groups: readonly LaunchGroup[];
  /** Kinds of preferences that are to be met. */
  readonly kinds: ReadonlySet<PreferenceKind>;
  /** Rules of the preferences that the groups meet, with their weights. */
  readonly wanted: readonly { readonly rule: NodeRule; readonly weight: number }[];
  /** Weight of the wanted rules that no new node can meet. */
  readonly penaltyOfNew: number;
  /** Topology keys that tell places apart for the class: the pinned ones, and those settled. */
  readonly placeKeys: readonly string[];
  readonly hasTopology: boolean;
}

export function fits(requests: Float64Array, used: Float64Array, free: Float64Array): boolean {
  for (let r = 0; r < requests.length; r++) {
    if (
      (requests[r] ?? missing(r)) > 0 &&
      (used[r] ?? missing(r)) + (requests[r] ?? missing(r)) > (free[r] ?? missing(r))
    ) {
      return false;
    }
  }
  return true;
}

/** Whether an existing node has room for one more pod. */
export function fitsFree(requests: Float64Array, free: Float64Array): boolean {
  for (let r = 0; r < requests.length; r++) {
    const wanted = requests[r] ?? missing(r);
    if (wanted > 0 && wanted > (free[r] ?? missing(r))) return false;
  }
  return true;
}

const EMPTY = new Float64Array(64);

export function zeros(length: number): Float64Array {
  return length <= EMPTY.length ? EMPTY.slice(0, length) : new Float64Array(length);
}

/** The parts of a problem that all attempts at it share. */
export class SearchContext {
  readonly problem: Problem;
  readonly enforced: EnforcedPreferences;
  readonly resolvedClasses: readonly ResolvedClass[];
  readonly hostRules: HostRules;
  readonly typeOptions: TypeOptions;
  readonly existingNodes: readonly ExistingNode[];
  readonly topology: Topology;
  readonly placeTexts: PlaceTexts;
  readonly budgets: Budgets;
  readonly totals: HostTotals;
  /** Weights of the usable pools, heaviest first. */
  readonly weights: readonly number[];
  /** Ids of the selectors that pods match which have no place yet. */
  private readonly moving: ReadonlySet<number>;
  private readonly avoiding: KeysBySelector;
  private readonly suitable = new Map<ResolvedClass, SuitableNodes>();
  private readonly allowed = new Map<NodeRule, AllowedNodes>();

  constructor(problem: Problem, enforced: EnforcedPreferences) {
    this.problem = problem;
    this.enforced = enforced;
    this.hostRules = new HostRules(problem, enforced.kinds.has('pods'));
    const feasible = problem.classes.map((each) => feasibleGroups(problem, each));
    this.topology = new Topology(problem);
    this.placeTexts = new PlaceTexts(this.topology);
    this.typeOptions = new TypeOptions(problem);
    this.moving = new Set(problem.classes.flatMap(({ matching }) => matching));
    this.avoiding = avoidingKeys(problem);
    const counted = pinningKeys(problem, enforced);
    this.resolvedClasses = problem.classes.map((podClass) =>
      this.resolvedOf(podClass, feasible, counted),
    );
    this.totals = new Map();
    this.existingNodes = this.existingAtStart();
    this.budgets = Budgets.of(problem);
    this.weights = [...new Set(problem.pools.map(({ pool }) => pool.weight))].sort((a, b) => b - a);
  }

  private resolvedOf(
    podClass: PodClass,
    feasible: readonly (readonly LaunchGroup[])[],
    counted: KeysBySelector,
  ): ResolvedClass {
    let groups = this.settledGroups(podClass, feasible[podClass.id] ?? []);
    const kinds = kindsOf(this.enforced, podClass);
    const wanted = podClass.preferences.filter(({ kind }) => kinds.has(kind));
    let penaltyOfNew = 0;
    for (const { rule, weight } of wanted) {
      const preferred = groups.filter((group) => group.allowed[rule.id] === 1);
      if (preferred.length > 0) groups = preferred;
      else penaltyOfNew += weight;
    }
    const allowed = new Uint8Array(this.problem.groups.length);
    for (const group of groups) allowed[group.id] = 1;
    const pinning = [...ownKeys(podClass, kinds, this.moving), ...keysFor(podClass, counted)];
    const avoiding = keysFor(podClass, this.avoiding);
    const placeKeys = new Set([...pinning, ...ownKeys(podClass, kinds), ...avoiding]);
    return {
      podClass,
      host: this.hostRules.ofClass[podClass.id] ?? missing(podClass.id),
      groups,
      allowed,
      kinds,
      wanted,
      penaltyOfNew,
      pinKeys: [...new Set(pinning)].sort(),
      placeKeys: [...placeKeys].sort(),
      hasTopology: pinning.length > 0,
    };
  }

  /** Those that pods with a place leave to the class, wherever all other pods go. */
  private settledGroups(
    podClass: PodClass,
    groups: readonly LaunchGroup[],
  ): readonly LaunchGroup[] {
    const { topology, moving } = this;
    const near = requiredOf(podClass.topology.affinity);
    const settled = near.filter(({ selector }) => !moving.has(selector.id));
    const apart = requiredOf(podClass.topology.antiAffinity);
    if (settled.length + apart.length + keysFor(podClass, this.avoiding).length === 0)
      return groups;
    return groups.filter((group) => {
      const place = placeOfGroup(group);
      return (
        settled.every((term) => topology.allowsAffinityTerm(near, term, place)) &&
        apart.every((term) => topology.allowsAntiAffinityTerm(term, place)) &&
        topology.allowedByOthers(podClass, place)
      );
    });
  }

  /** Whether pods of the class come from other nodes and are not to go to this one. */
  isClosed(podClass: PodClass, node: StateNode): boolean {
    return this.problem.closed.has(node) && this.isMoving(podClass);
  }

  private isMoving({ pods }: PodClass): boolean {
    const { moving } = this.problem.demand;
    return pods.some((pod) => moving.has(pod));
  }

  /** What is full before anything is placed stays so: no attempt needs to look at it again. */
  nodesFor(resolved: ResolvedClass): SuitableNodes {
    const before = this.suitable.get(resolved);
    if (before !== undefined) return before;
    const { podClass } = resolved;
    const { requests } = podClass;
    const { closed } = this.problem;
    const isHeld = closed.size > 0 && this.isMoving(podClass);
    const fitting: number[] = [];
    let count = 0;
    for (const index of this.allowedNodes(podClass.rule).positions) {
      const { node, free } = this.existingNodes[index] ?? missing(index);
      if (isHeld && closed.has(node)) continue;
      count += 1;
      if (fitsFree(requests, free)) fitting.push(index);
    }
    const found = { count, fitting };
    this.suitable.set(resolved, found);
    return found;
  }

  /** Existing nodes whose labels and taints the rule allows: most classes share their rule. */
  allowedNodes(rule: NodeRule): AllowedNodes {
    const known = this.allowed.get(rule);
    if (known !== undefined) return known;
    const isAllowed = Uint8Array.from(this.existingNodes, ({ node }) =>
      ruleAllowsNode(rule, node.label, node.taints) ? 1 : 0,
    );
    const positions = Int32Array.from(isAllowed.keys()).filter((at) => isAllowed[at] === 1);
    const found = { isAllowed, positions };
    this.allowed.set(rule, found);
    return found;
  }

  private existingAtStart(): readonly ExistingNode[] {
    const { problem } = this;
    const { resources, staying } = problem;
    const text = resources.join();
    const existingNodes = new Map<StateNode, ExistingNode>();
    for (const node of problem.nodes) {
      const use = useOf(node, staying.get(node) ?? NOBODY, resources, text);
      const free = this.keptForPreemptors(node, this.reservedForDaemons(node, use));
      const place = placeOfNode(node);
      const index = existingNodes.size;
      existingNodes.set(node, { node, index, place, free, host: NO_HOST_STATE, content: NO_PODS });
    }
    for (const each of problem.running) {
      for (const id of each.matching) this.totals.set(id, (this.totals.get(id) ?? 0) + 1);
      const existing = existingNodes.get(each.node);
      if (existing === undefined) continue;
      if (existing.host === NO_HOST_STATE) existing.host = emptyHost();
      const { topology, matching, pod } = each;
      const isTerminating = pod.deletedAtMs !== undefined;
      const { hostPorts: ports } = pod.spec;
      this.hostRules.addRunning(existing.host, { ports, topology, matching, isTerminating });
    }
    this.takeAttachments(existingNodes);
    return [...existingNodes.values()];
  }

  /** What is free of the node: DaemonSet pods that are still to come to it keep their room. */
  private reservedForDaemons(node: StateNode, { free, ofDaemonSets }: NodeUse): Float64Array {
    const coming = this.problem.daemons.filter(({ rule }) =>
      ruleAllowsNode(rule, node.label, node.taints),
    );
    if (coming.length === 0) return free;
    return free.map((amount, r) => {
      const wanted = coming.reduce((sum, each) => sum + (each.requests[r] ?? missing(r)), 0);
      return amount - Math.max(0, wanted - (ofDaemonSets[r] ?? missing(r)));
    });
  }

  private keptForPreemptors({ name }: StateNode, free: Float64Array): Float64Array {
    const { keptForPreemptors, resources } = this.problem;
    const kept = keptForPreemptors.get(name);
    if (kept === undefined) return free;
    return free.map((amount, r) => amount - amountOf(kept, resources[r] ?? missing(r)));
  }

  private takeAttachments(existingNodes: ReadonlyMap<StateNode, ExistingNode>): void {
    const { resources, runningAttachments } = this.problem;
    for (const [node, byDriver] of runningAttachments) {
      const existing = existingNodes.get(node);
      if (existing === undefined) continue;
      existing.free = existing.free.map(
        (amount, r) => amount - (byDriver.get(resources[r] ?? missing(r))?.size ?? 0),
      );
    }
  }
}

/** What the pods of a node leave of it, and what those of DaemonSets among them take. */
interface NodeUse {
  readonly node: StateNode;
  readonly pods: readonly Pod[];
  readonly free: Float64Array;
  readonly ofDaemonSets: Float64Array;
}

const NOBODY: readonly Pod[] = [];

/**
 * By a node's first pod and the resources asked for. Plans for one snapshot share most nodes, and
 * so do snapshots that follow one another: their pods are the same objects while nothing changes.
 */
const uses = new WeakMap<Pod, Map<string, NodeUse>>();

function useOf(
  node: StateNode,
  pods: readonly Pod[],
  resources: readonly string[],
  text: string,
): NodeUse {
  const [first] = pods;
  if (first === undefined) return useBy(node, pods, resources);
  const known = uses.get(first) ?? new Map<string, NodeUse>();
  uses.set(first, known);
  const before = known.get(text);
  if (before !== undefined && isUseOf(before, node, pods)) return before;
  const use = useBy(node, pods, resources);
  known.set(text, use);
  return use;
}

function isUseOf(use: NodeUse, node: StateNode, pods: readonly Pod[]): boolean {
  if (use.node.allocatable !== node.allocatable) return false;
  if (use.node.attachLimits !== node.attachLimits) return false;
  if (use.pods === pods) return true;
  return use.pods.length === pods.length && use.pods.every((pod, at) => pod === pods[at]);
}

function useBy(node: StateNode, pods: readonly Pod[], resources: readonly string[]): NodeUse {
  const free = Float64Array.from(resources, (name) => freeAtStart(node, name));
  const ofDaemonSets = new Float64Array(resources.length);
  for (const { spec, controller } of pods) {
    const isDaemon = controller?.kind === 'DaemonSet';
    for (let r = 0; r < resources.length; r++) {
      const amount = amountOf(spec.requests, resources[r] ?? missing(r));
      free[r] = (free[r] ?? missing(r)) - amount;
      if (isDaemon) ofDaemonSets[r] = (ofDaemonSets[r] ?? missing(r)) + amount;
    }
  }
  return { node, pods, free, ofDaemonSets };
}

function freeAtStart(node: StateNode, name: string): number {
  if (!name.startsWith(ATTACH_PREFIX)) return amountOf(node.allocatable, name);
  return node.attachLimits[name.slice(ATTACH_PREFIX.length)] ?? UNLIMITED;
}

function feasibleGroups(problem: Problem, podClass: PodClass): readonly LaunchGroup[] {
  const { requests, rule } = podClass;
  const none = zeros(requests.length);
  return problem.groups.filter(
    (group) =>
      group.allowed[rule.id] === 1 &&
      group.paretoFront.some((option) => fits(requests, none, option.free)),
  );
}
