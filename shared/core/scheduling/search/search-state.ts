import { missing } from '../../missing.ts';
import { daemonPortsOn } from '../problem/host-ports.ts';
import { compareOptions, type LaunchOption } from '../problem/launch-options.ts';
import { ruleAllowsNode } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import type { Budgets } from './budgets.ts';
import {
  addToHost,
  copyHost,
  emptyHost,
  type HostState,
  type HostTotals,
  hostAllows,
} from './host.ts';
import { insistsOnMinValues, ReservedOptions } from './min-values.ts';
import { type NodeGroup, nodeGroups, OpenNodes } from './open-nodes.ts';
import {
  type ExistingNode,
  fits,
  fitsFree,
  NO_PODS,
  type ResolvedClass,
  type SearchContext,
  zeros,
} from './search-context.ts';
import { type Place, placeOfGroup, type Topology } from './topology.ts';

export type { EnforcedPreferences } from './pin-keys.ts';
export {
  type ExistingNode,
  type ResolvedClass,
  SearchContext,
  zeros,
} from './search-context.ts';

/** A node to be launched while pods are put on it. */
export interface Bin {
  /** The launches that are still possible, cheapest first. */
  options: readonly LaunchOption[];
  /** The cheapest of them. */
  chosen: LaunchOption;
  /**
   * What the budgets count for it: the chosen launch option, or as much as minValues keeps open.
   */
  reserved: LaunchOption;
  readonly used: Float64Array;
  readonly host: HostState;
  readonly content: Map<PodClass, number>;
}

/** The classes on a node. */
export function resolvedIn(
  context: SearchContext,
  { content }: { readonly content: ReadonlyMap<PodClass, number> },
): readonly ResolvedClass[] {
  return [...content.keys()].map((each) => context.resolvedClasses[each.id] ?? missing(each.id));
}

/** Launches that could take a pod, all in one valid place, and the weight of unmet preferences. */
export interface Choice {
  readonly penalty: number;
  /** Cheapest first. */
  readonly options: readonly LaunchOption[];
}

/** One attempt at a plan: existing nodes and bins with the pods put on them so far. */
export class SearchState {
  readonly context: SearchContext;
  readonly existingNodes: readonly ExistingNode[];
  readonly bins: Bin[] = [];
  readonly topology: Topology;
  readonly budgets: Budgets;
  readonly totals: HostTotals;
  /** Pods not placed yet, by class. */
  readonly left: Map<PodClass, number>;
  private readonly openNodes = new Map<ResolvedClass, OpenNodes>();
  steps = 0;

  constructor(context: SearchContext) {
    this.context = context;
    this.existingNodes = context.existingNodes.map((existing) => ({ ...existing }));
    this.topology = context.topology.copy();
    this.budgets = context.budgets.copy();
    this.totals = new Map(context.totals);
    this.left = new Map(context.problem.classes.map((each) => [each, each.pods.length]));
  }

  leftOf(podClass: PodClass): number {
    return this.left.get(podClass) ?? 0;
  }

  /** Whether the node's labels and taints suit the class, and a plan may put its pods there. */
  suits({ podClass }: ResolvedClass, existing: ExistingNode): boolean {
    return !this.context.isClosed(podClass, existing.node) && this.suitsClass(podClass, existing);
  }

  /** The same as kube-scheduler sees it. */
  suitsClass({ rule }: PodClass, { index }: ExistingNode): boolean {
    return this.context.allowedNodes(rule).isAllowed[index] === 1;
  }

  /** Weight of the preferences that the node would not meet. */
  penaltyOnNode(resolved: ResolvedClass, { node, place }: ExistingNode): number {
    let penalty = this.topology.penalty(resolved.podClass, place, resolved.kinds);
    for (const { rule, weight } of resolved.wanted) {
      if (!ruleAllowsNode(rule, node.label, node.taints)) penalty += weight;
    }
    return penalty;
  }

  /** The suitable existing node that takes one more pod with the least regret. */
  bestNode(
    resolved: ResolvedClass,
  ): { readonly existing: ExistingNode; readonly penalty: number } | undefined {
    let open = this.openNodes.get(resolved);
    if (open === undefined) {
      open = new OpenNodes(resolved, groupsOf(this.context, resolved), this.existingNodes);
      this.openNodes.set(resolved, open);
    }
    const before = open.looks;
    const best = open.best(this.topology, this.totals);
    this.steps += open.looks - before;
    return best;
  }

  canPutOnNode(resolved: ResolvedClass, existing: ExistingNode): boolean {
    const { podClass, host } = resolved;
    if (!fitsFree(podClass.requests, existing.free)) return false;
    return (
      hostAllows(host, existing.host, this.totals) && this.topology.allows(podClass, existing.place)
    );
  }

  putOnNode(resolved: ResolvedClass, existing: ExistingNode, amount = 1): void {
    if (existing.content === NO_PODS) {
      existing.free = existing.free.slice();
      existing.host = copyHost(existing.host);
      existing.content = new Map();
    }
    const { podClass, host } = resolved;
    const { requests } = podClass;
    for (let r = 0; r < requests.length; r++) {
      existing.free[r] = (existing.free[r] ?? missing(r)) - (requests[r] ?? missing(r)) * amount;
    }
    addToHost(host, existing.host, this.totals, amount);
    this.topology.count(podClass.topology, podClass.matching, existing.place, amount);
    this.note(existing.content, podClass, amount);
  }

  private note(content: Map<PodClass, number>, podClass: PodClass, amount: number): void {
    content.set(podClass, (content.get(podClass) ?? 0) + amount);
    this.left.set(podClass, this.leftOf(podClass) - amount);
  }

  /**
   * The launch options of `from` on which the class would fit beside what is used, in a valid
   * domain.
   */
  private choose(
    resolved: ResolvedClass,
    from: readonly LaunchOption[],
    used: Float64Array,
    content: ReadonlyMap<PodClass, number>,
  ): Choice | undefined {
    const { podClass, allowed } = resolved;
    const possible = from.filter(
      (option) =>
        allowed[option.group.id] === 1 &&
        fits(podClass.requests, used, option.free) &&
        this.budgets.allowance(option, 1) > 0,
    );
    this.steps += from.length;
    const suits = (options: readonly LaunchOption[]) =>
      this.suitable(resolved, options, used, content);
    if (!resolved.hasTopology) {
      const options = suits(possible);
      return options.length === 0 ? undefined : { penalty: resolved.penaltyOfNew, options };
    }
    for (const choice of this.placesFor(resolved, possible)) {
      const options = suits(choice.options);
      if (options.length > 0) return { penalty: choice.penalty + resolved.penaltyOfNew, options };
    }
    return undefined;
  }

  /** The launch options that minValues and the host ports of DaemonSets leave. */
  private suitable(
    resolved: ResolvedClass,
    options: readonly LaunchOption[],
    used: Float64Array,
    content: ReadonlyMap<PodClass, number>,
  ): readonly LaunchOption[] {
    return this.withMinValues(resolved, options, used, content).filter((option) =>
      this.clearOfDaemonPorts(resolved, option),
    );
  }

  /** Whether one of the launch options suits a pod of the class alone, other pods apart. */
  suitsAlone(resolved: ResolvedClass, options: readonly LaunchOption[]): boolean {
    const used = zeros(this.context.problem.resources.length);
    return this.suitable(resolved, options, used, new Map()).length > 0;
  }

  /** The launch options of each valid place, as {@link PlaceTexts} tells them apart; best first. */
  private placesFor(resolved: ResolvedClass, options: readonly LaunchOption[]): readonly Choice[] {
    const { podClass } = resolved;
    const places = new Map<string, { readonly place: Place; readonly options: LaunchOption[] }>();
    for (const option of options) {
      const text = this.context.placeTexts.of(resolved, option.group);
      const known = places.get(text);
      if (known !== undefined) known.options.push(option);
      else places.set(text, { place: placeOfGroup(option.group), options: [option] });
    }
    const ranked = [...places.values()].flatMap((each) => {
      if (!this.topology.allows(podClass, each.place)) return [];
      const penalty = this.topology.penalty(podClass, each.place, resolved.kinds);
      const crowding = this.topology.crowding(podClass, each.place);
      const { price } = each.options[0] ?? missing(0);
      return [{ penalty, options: each.options, rank: [penalty, crowding, price] }];
    });
    return ranked.sort((a, b) => compareRanks(a.rank, b.rank));
  }

  private withMinValues(
    resolved: ResolvedClass,
    options: readonly LaunchOption[],
    used: Float64Array,
    content: ReadonlyMap<PodClass, number>,
  ): readonly LaunchOption[] {
    const { problem } = this.context;
    if (!options.some(({ pool }) => insistsOnMinValues(problem, pool.pool))) return options;
    const resolvedClasses = [resolved, ...resolvedIn(this.context, { content })];
    const total = sum(used, resolved);
    this.steps += options.length * problem.groups.length;
    const reservedOptions = new ReservedOptions(this.context, this.budgets, resolvedClasses, total);
    return options.filter((option) => reservedOptions.of(option) !== undefined);
  }

  /**
   * Whether the class's ports and DaemonSet host ports leave room on a new node of the launch
   * option.
   */
  clearOfDaemonPorts(resolved: ResolvedClass, option: LaunchOption): boolean {
    const { daemonPorts } = this.context.problem;
    if (resolved.host.ports.length === 0 || daemonPorts.length === 0) return true;
    const host = emptyHost(daemonPortsOn(this.context.problem, option));
    return hostAllows({ ...resolved.host, needs: [] }, host, this.totals);
  }

  /** How a new node that is one of these launches could take a pod; undefined = none can. */
  choiceAmong(resolved: ResolvedClass, options: readonly LaunchOption[]): Choice | undefined {
    if (!hostAllows(resolved.host, emptyHost(), this.totals)) return undefined;
    return this.choose(resolved, options, zeros(this.context.problem.resources.length), new Map());
  }

  /** How a bin could take one more pod of the class; undefined = it cannot. */
  choiceInBin(resolved: ResolvedClass, bin: Bin): Choice | undefined {
    if (!hostAllows(resolved.host, bin.host, this.totals)) return undefined;
    this.budgets.take(bin.reserved, -1);
    const choice = this.choose(resolved, bin.options, bin.used, bin.content);
    this.budgets.take(bin.reserved, 1);
    return choice;
  }

  putInBin(resolved: ResolvedClass, bin: Bin, { options }: Choice): void {
    bin.options = options;
    bin.chosen = options[0] ?? bin.chosen;
    this.fill(resolved, bin, 1);
    this.reserved(bin);
  }

  /** Counts in the budgets what the bin may become now. */
  reserved(bin: Bin): void {
    this.budgets.take(bin.reserved, -1);
    const resolvedClasses = resolvedIn(this.context, bin);
    bin.reserved =
      new ReservedOptions(this.context, this.budgets, resolvedClasses, bin.used).of(bin.chosen) ??
      bin.chosen;
    this.budgets.take(bin.reserved, 1);
  }

  /** Counts pods of the class as placed in the bin; the caller has checked everything. */
  fill(resolved: ResolvedClass, bin: Bin, amount: number): void {
    const { podClass, host } = resolved;
    for (let r = 0; r < bin.used.length; r++) {
      bin.used[r] = (bin.used[r] ?? missing(r)) + (podClass.requests[r] ?? missing(r)) * amount;
    }
    addToHost(host, bin.host, this.totals, amount);
    const place = placeOfGroup(bin.chosen.group);
    this.topology.count(podClass.topology, podClass.matching, place, amount);
    this.note(bin.content, podClass, amount);
  }

  /**
   * How a new node could take a pod, in the heaviest pools that can; undefined = none can. With
   * `beside`, only where a pod of that class could follow.
   */
  choiceOfNew(resolved: ResolvedClass, beside: ResolvedClass = resolved): Choice | undefined {
    if (!hostAllows(resolved.host, emptyHost(), this.totals)) return undefined;
    const used = zeros(this.context.problem.resources.length);
    const candidates = resolved.groups
      .filter((group) => beside.allowed[group.id] === 1)
      .flatMap((group) => group.paretoFront)
      .filter(
        ({ free }) =>
          beside === resolved || fits(beside.podClass.requests, resolved.podClass.requests, free),
      )
      .sort(compareOptions);
    for (const weight of this.context.weights) {
      const tier = candidates.filter((option) => option.pool.pool.weight === weight);
      const choice = this.choose(resolved, tier, used, new Map());
      if (choice !== undefined) return choice;
    }
    return undefined;
  }

  open({ options }: Choice): Bin {
    const chosen = options[0] ?? missing(0);
    const bin: Bin = {
      options,
      chosen,
      reserved: chosen,
      used: zeros(this.context.problem.resources.length),
      host: emptyHost(daemonPortsOn(this.context.problem, chosen)),
      content: new Map(),
    };
    this.budgets.take(chosen, 1);
    this.bins.push(bin);
    return bin;
  }

  /** Takes back the bin that was opened last, with its only pod. */
  close(resolved: ResolvedClass, bin: Bin): void {
    this.fill(resolved, bin, -1);
    this.budgets.take(bin.reserved, -1);
    this.bins.pop();
  }

  /** A copy that lacks the pods of some nodes, and of these those that were to be launched. */
  without(taken: ReadonlySet<Bin | ExistingNode>): SearchState {
    const copy = new SearchState(this.context);
    const { resolvedClasses } = this.context;
    this.copyTo(copy, ({ id }) => resolvedClasses[id] ?? missing(id), taken);
    return copy;
  }

  /**
   * Does in another state, of a context with the same nodes, what was done in this one, but for
   * some nodes. `resolvedOf`: the other context's class for one of this.
   */
  copyTo(
    copy: SearchState,
    resolvedOf: (podClass: PodClass) => ResolvedClass,
    but: ReadonlySet<Bin | ExistingNode> = new Set(),
  ): void {
    for (const [index, existing] of this.existingNodes.entries()) {
      if (but.has(existing)) continue;
      for (const [podClass, amount] of existing.content) {
        const node = copy.existingNodes[index] ?? missing(index);
        copy.putOnNode(resolvedOf(podClass), node, amount);
      }
    }
    for (const bin of this.bins) {
      if (but.has(bin)) continue;
      const kept = copy.open({ penalty: 0, options: bin.options });
      for (const [podClass, amount] of bin.content) {
        copy.fill(resolvedOf(podClass), kept, amount);
      }
      copy.budgets.take(kept.reserved, -1);
      copy.budgets.take(bin.reserved, 1);
      kept.reserved = bin.reserved;
    }
  }
}

/** What is the same in all attempts. */
const groupsByClass = new WeakMap<ResolvedClass, readonly NodeGroup[]>();

function groupsOf(context: SearchContext, resolved: ResolvedClass): readonly NodeGroup[] {
  const known = groupsByClass.get(resolved);
  if (known !== undefined) return known;
  const groups = nodeGroups(resolved, context.nodesFor(resolved).fitting, context.existingNodes);
  groupsByClass.set(resolved, groups);
  return groups;
}

function sum(used: Float64Array, { podClass }: ResolvedClass): Float64Array {
  return used.map((amount, r) => amount + (podClass.requests[r] ?? missing(r)));
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < a.length; index++) {
    const difference = (a[index] ?? missing(index)) - (b[index] ?? missing(index));
    if (Math.abs(difference) > 1e-12) return difference;
  }
  return 0;
}
