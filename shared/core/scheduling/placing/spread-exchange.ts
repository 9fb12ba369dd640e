import { missing } from '../../missing.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import { isHostKey, type TopologyTerms } from '../problem/topology-terms.ts';
import { minValuesOf } from '../search/min-values.ts';
import {
  type Bin,
  type ResolvedClass,
  resolvedIn,
  type SearchState,
} from '../search/search-state.ts';
import { canHold, isWithin } from '../search/type-options.ts';

/** Looks at nodes, beyond which pods stay together; to try an exchange takes as long as many. */
const LOOKS_MAX = 300_000;
const LOOKS_OF_TRY = 30;

/** More types than these are as good as these: Karpenter wants as many for spot. */
const ALTERNATIVES_MAX = 15;

/** The terms that are more than a hard spread over domains. */
function otherTerms({ spreads, affinity, antiAffinity }: TopologyTerms) {
  const soft = spreads.filter(({ key, isHard }) => !isHard || isHostKey(key));
  return [...soft, ...affinity, ...antiAffinity];
}

/**
 * Which nodes the spreads of the class count (`Topology.isEligible`): classes may differ in that.
 */
function countedNodes({ affinityRule, scored }: PodClass): string {
  const keys = new Set(scored.topology.spreads.map(({ key }) => key));
  return [affinityRule.id, ...[...keys].sort()].join('|');
}

/** Finds pods that may change places within a domain without a rule or a preference noticing. */
class Exchange {
  private readonly state: SearchState;
  /** By class: how many of its pods one node may have; undefined: it may not be moved. */
  private readonly most: readonly (number | undefined)[];
  looks = 0;

  constructor(state: SearchState) {
    this.state = state;
    const { classes } = state.context.problem;
    const noticed = new Set<number>();
    const spreads = new Map<number, string>();
    for (const podClass of classes) {
      for (const { selector } of otherTerms(podClass.scored.topology)) noticed.add(selector.id);
      const nodes = countedNodes(podClass);
      for (const { selector } of podClass.scored.topology.spreads) {
        if ((spreads.get(selector.id) ?? nodes) !== nodes) noticed.add(selector.id);
        spreads.set(selector.id, nodes);
      }
    }
    this.most = classes.map((podClass) => {
      const { scored, matching } = podClass;
      const nodes = countedNodes(podClass);
      const isMovable =
        this.resolvedOf(podClass).host.isFree &&
        otherTerms(scored.topology).length === 0 &&
        matching.every((id) => !noticed.has(id) && (spreads.get(id) ?? nodes) === nodes);
      const skews = scored.topology.spreads.map(({ maxSkew }) => maxSkew);
      return isMovable ? Math.min(...skews, Number.POSITIVE_INFINITY) : undefined;
    });
  }

  private resolvedOf({ id }: PodClass): ResolvedClass {
    return this.state.context.resolvedClasses[id] ?? missing(id);
  }

  /** How many pods of the class the node has too many; more than 0 only if they may be moved. */
  surplus(podClass: PodClass, bin: Bin): number {
    return countOn(bin, podClass) - (this.most[podClass.id] ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Nodes to which pods of the class may move: first those that are bound to their domains anyway.
   */
  nodes(podClass: PodClass, from: Bin): readonly Bin[] {
    const { pinKeys } = this.resolvedOf(podClass);
    this.looks += this.state.bins.length;
    const known = new Map<LaunchGroup, boolean>();
    const nodes = this.state.bins.filter((to) => {
      if (to === from || minValuesOf(to.chosen.pool.pool).size > 0) return false;
      if (this.surplus(podClass, to) >= 0) return false;
      const { group } = to.chosen;
      const isEquivalent =
        known.get(group) ?? this.isEquivalent(podClass, from.chosen.group, group);
      known.set(group, isEquivalent);
      return isEquivalent;
    });
    const isPinned = (bin: Bin) =>
      resolvedIn(this.state.context, bin).some((each) =>
        pinKeys.every((key) => each.pinKeys.includes(key)),
      );
    const pinned = new Set(nodes.filter(isPinned));
    return [...pinned, ...nodes.filter((each) => !pinned.has(each))];
  }

  /** Whether the class may be there as well, in the same domains, and likes it as much. */
  private isEquivalent(podClass: PodClass, from: LaunchGroup, to: LaunchGroup): boolean {
    const resolved = this.resolvedOf(podClass);
    const { placeTexts } = this.state.context;
    return (
      from === to ||
      (resolved.allowed[to.id] === 1 &&
        placeTexts.of(resolved, from) === placeTexts.of(resolved, to) &&
        podClass.scored.preferences.every(
          ({ rule }) => from.allowed[rule.id] === to.allowed[rule.id],
        ))
    );
  }

  /** What may leave `to` in exchange: nothing, or a pod of one of its classes, equal ones first. */
  partners(podClass: PodClass, from: Bin, to: Bin): readonly (PodClass | undefined)[] {
    const selectors = podClass.scored.topology.spreads.map(({ selector }) => selector.id);
    const those = [...to.content.keys()].filter(
      (each) =>
        this.most[each.id] !== undefined &&
        this.surplus(each, from) < 0 &&
        !selectors.some((id) => each.matching.includes(id)) &&
        this.isEquivalent(each, to.chosen.group, from.chosen.group),
    );
    const isEqual = ({ requests }: PodClass) =>
      requests.every((amount, r) => amount === podClass.requests[r]);
    return [undefined, ...those.filter(isEqual), ...those.filter((each) => !isEqual(each))];
  }

  /** Moves a pod of the class, and one of the partner's the other way; false: that cannot be. */
  apply(podClass: PodClass, partner: PodClass | undefined, from: Bin, to: Bin): boolean {
    this.looks++;
    if (!fitsFree(to, podClass, partner)) return false;
    if (partner !== undefined) {
      if (countOn(to, partner) === 0 || this.surplus(partner, from) >= 0) return false;
      if (!fitsFree(from, partner, podClass)) return false;
    }
    this.looks += LOOKS_OF_TRY;
    const move = (back = false): void => {
      this.move(podClass, back ? to : from, back ? from : to);
      if (partner !== undefined) this.move(partner, back ? from : to, back ? to : from);
    };
    move();
    const after = this.alternatives(from, to);
    if (after.every((count) => count === ALTERNATIVES_MAX)) return true;
    move(true);
    const isFine = this.alternatives(from, to).every(
      (count, at) => count <= (after[at] ?? missing(at)),
    );
    if (isFine) move();
    return isFine;
  }

  /** How many types the claim of each node could name, as far as more make a difference. */
  private alternatives(...bins: readonly Bin[]): readonly number[] {
    const { context } = this.state;
    return bins.map((bin) => {
      const { chosen, reserved, used } = bin;
      const limited = this.state.budgets.limited(reserved.pool.pool.name);
      const types = new Set<string>();
      for (const typeOption of context.typeOptions.holding(
        chosen,
        resolvedIn(context, bin),
        used,
      )) {
        const { type } = typeOption.type;
        if (isWithin(type, reserved, limited) && canHold(typeOption, used)) types.add(type.name);
        if (types.size === ALTERNATIVES_MAX) break;
      }
      return types.size;
    });
  }

  private move(podClass: PodClass, from: Bin, to: Bin): void {
    this.state.fill(this.resolvedOf(podClass), from, -1);
    if (countOn(from, podClass) === 0) from.content.delete(podClass);
    this.state.fill(this.resolvedOf(podClass), to, 1);
  }
}

function countOn({ content }: Bin, podClass: PodClass): number {
  return content.get(podClass) ?? 0;
}

/** Whether the node can take a pod in when another one has left. */
function fitsFree({ chosen, used }: Bin, taken: PodClass, left: PodClass | undefined): boolean {
  return taken.requests.every((amount, r) => {
    const more = amount - (left?.requests[r] ?? 0);
    return more <= 0 || (used[r] ?? missing(r)) + more <= (chosen.free[r] ?? missing(r));
  });
}

/**
 * Where a node has more pods under a hard spread than `maxSkew`, the others move to nodes of the
 * same domain, with room or in exchange for pods there: kube-scheduler counts all pods that are
 * nominated to a node when it looks at one of them, so that only `maxSkew` of them can be nominated
 * together (`nominableTogether`). No node becomes dearer, and none loses types where it has few; a
 * node that could have been in any zone may be bound to its own. Nodes of pools with minValues are
 * left as they are.
 */
export function separateSpreadPods(state: SearchState): void {
  const exchange = new Exchange(state);
  const isOver = () => exchange.looks >= LOOKS_MAX;
  for (const from of state.bins) {
    if (minValuesOf(from.chosen.pool.pool).size > 0) continue;
    for (const podClass of [...from.content.keys()]) {
      const isTooMany = () => exchange.surplus(podClass, from) > 0 && !isOver();
      if (!isTooMany()) continue;
      for (const to of exchange.nodes(podClass, from)) {
        if (!isTooMany()) break;
        for (const partner of exchange.partners(podClass, from, to)) {
          const isWanted = () => isTooMany() && exchange.surplus(podClass, to) < 0;
          while (isWanted() && exchange.apply(podClass, partner, from, to));
        }
      }
    }
  }
  state.steps += exchange.looks;
}
