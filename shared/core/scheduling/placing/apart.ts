import { agreeOn, type ColumnGroup } from '../problem/columns.ts';
import type { PodClass } from '../problem/problem.ts';
import { isHostKey, type TopologyTerms } from '../problem/topology-terms.ts';
import { minValuesOf } from '../world/min-values.ts';
import { isWithin, opensTo } from '../world/openings.ts';
import { type Bin, type ClassView, viewsIn, type World } from '../world/world.ts';

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

/** Which nodes the spreads of the class count (`Topology.isEligible`): classes may differ in that. */
function countedNodes({ affinityRule, wished }: PodClass): string {
  const keys = new Set(wished.topology.spreads.map(({ key }) => key));
  return [affinityRule.id, ...[...keys].sort()].join('|');
}

/** Finds pods that may change places within a domain without a rule or a preference noticing. */
class Exchange {
  private readonly world: World;
  /** By class: how many of its pods one node may have; undefined: it may not be moved. */
  private readonly most: readonly (number | undefined)[];
  looks = 0;

  constructor(world: World) {
    this.world = world;
    const { classes } = world.ground.problem;
    const noticed = new Set<number>();
    const spreads = new Map<number, string>();
    for (const podClass of classes) {
      for (const { selector } of otherTerms(podClass.wished.topology)) noticed.add(selector.id);
      const nodes = countedNodes(podClass);
      for (const { selector } of podClass.wished.topology.spreads) {
        if ((spreads.get(selector.id) ?? nodes) !== nodes) noticed.add(selector.id);
        spreads.set(selector.id, nodes);
      }
    }
    this.most = classes.map((podClass) => {
      const { wished, matching } = podClass;
      const nodes = countedNodes(podClass);
      const isMovable =
        this.view(podClass).host.isFree &&
        otherTerms(wished.topology).length === 0 &&
        matching.every((id) => !noticed.has(id) && (spreads.get(id) ?? nodes) === nodes);
      const skews = wished.topology.spreads.map(({ maxSkew }) => maxSkew);
      return isMovable ? Math.min(...skews, Number.POSITIVE_INFINITY) : undefined;
    });
  }

  private view({ id }: PodClass): ClassView {
    return this.world.ground.views[id] as ClassView;
  }

  /** How many pods of the class the node has too many; more than 0 only if they may be moved. */
  surplus(podClass: PodClass, bin: Bin): number {
    return countOn(bin, podClass) - (this.most[podClass.id] ?? Number.POSITIVE_INFINITY);
  }

  /** Nodes to which pods of the class may move: first those that are bound to their domains anyway. */
  homes(podClass: PodClass, from: Bin): readonly Bin[] {
    const { pinKeys } = this.view(podClass);
    this.looks += this.world.bins.length;
    const known = new Map<ColumnGroup, boolean>();
    const homes = this.world.bins.filter((to) => {
      if (to === from || minValuesOf(to.held.pool.pool).size > 0) return false;
      if (this.surplus(podClass, to) >= 0) return false;
      const { group } = to.held;
      const isWash = known.get(group) ?? this.isWash(podClass, from.held.group, group);
      known.set(group, isWash);
      return isWash;
    });
    const isPinned = (bin: Bin) =>
      viewsIn(this.world.ground, bin).some((each) =>
        pinKeys.every((key) => each.pinKeys.includes(key)),
      );
    const pinned = new Set(homes.filter(isPinned));
    return [...pinned, ...homes.filter((each) => !pinned.has(each))];
  }

  /** Whether the class may be there as well, in the same domains, and likes it as much. */
  private isWash(podClass: PodClass, from: ColumnGroup, to: ColumnGroup): boolean {
    const { allowed, pinKeys } = this.view(podClass);
    return (
      from === to ||
      (allowed[to.id] === 1 &&
        agreeOn(pinKeys, from, to) &&
        podClass.wished.preferences.every(
          ({ rule }) => from.allowed[rule.id] === to.allowed[rule.id],
        ))
    );
  }

  /** What may leave `to` in exchange: nothing, or a pod of one of its classes, equal ones first. */
  partners(podClass: PodClass, from: Bin, to: Bin): readonly (PodClass | undefined)[] {
    const selectors = podClass.wished.topology.spreads.map(({ selector }) => selector.id);
    const those = [...to.content.keys()].filter(
      (each) =>
        this.most[each.id] !== undefined &&
        this.surplus(each, from) < 0 &&
        !selectors.some((id) => each.matching.includes(id)) &&
        this.isWash(each, to.held.group, from.held.group),
    );
    const isEqual = ({ requests }: PodClass) =>
      requests.every((amount, r) => amount === podClass.requests[r]);
    return [undefined, ...those.filter(isEqual), ...those.filter((each) => !isEqual(each))];
  }

  /** Moves a pod of the class, and one of the partner's the other way; false: that cannot be. */
  carryOut(podClass: PodClass, partner: PodClass | undefined, from: Bin, to: Bin): boolean {
    this.looks++;
    if (!hasRoom(to, podClass, partner)) return false;
    if (partner !== undefined) {
      if (countOn(to, partner) === 0 || this.surplus(partner, from) >= 0) return false;
      if (!hasRoom(from, partner, podClass)) return false;
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
    const isFine = this.alternatives(from, to).every((count, at) => count <= (after[at] ?? 0));
    if (isFine) move();
    return isFine;
  }

  /** How many types the claim of each node could name, as far as more make a difference. */
  private alternatives(...bins: readonly Bin[]): readonly number[] {
    const { ground } = this.world;
    return bins.map((bin) => {
      const { held, cover, used } = bin;
      const types = new Set<string>();
      for (const opening of ground.openings.holding(held, viewsIn(ground, bin), used)) {
        const { type } = opening.type;
        if (isWithin(type, cover) && opensTo(opening, used)) types.add(type.name);
        if (types.size === ALTERNATIVES_MAX) break;
      }
      return types.size;
    });
  }

  private move(podClass: PodClass, from: Bin, to: Bin): void {
    this.world.fill(this.view(podClass), from, -1);
    if (countOn(from, podClass) === 0) from.content.delete(podClass);
    this.world.fill(this.view(podClass), to, 1);
  }
}

function countOn({ content }: Bin, podClass: PodClass): number {
  return content.get(podClass) ?? 0;
}

/** Whether the node can take a pod in when another one has left. */
function hasRoom({ held, used }: Bin, taken: PodClass, left: PodClass | undefined): boolean {
  return taken.requests.every((amount, r) => {
    const more = amount - (left?.requests[r] ?? 0);
    return more <= 0 || (used[r] ?? 0) + more <= (held.room[r] ?? 0);
  });
}

/**
 * Where a node has more pods under a hard spread than `maxSkew`, the others move to nodes of the
 * same domain, with room or in exchange for pods there: kube-scheduler counts all pods that are
 * nominated to a node when it looks at one of them, so that only `maxSkew` of them can be nominated
 * together (`takenTogether`). No node becomes dearer, and none loses types where it has few; a node
 * that could have been in any zone may be bound to its own. Nodes of pools with minValues are left
 * as they are.
 */
export function setApart(world: World): void {
  const exchange = new Exchange(world);
  const isOver = () => exchange.looks >= LOOKS_MAX;
  for (const from of world.bins) {
    if (minValuesOf(from.held.pool.pool).size > 0) continue;
    for (const podClass of [...from.content.keys()]) {
      const isTooMany = () => exchange.surplus(podClass, from) > 0 && !isOver();
      if (!isTooMany()) continue;
      for (const to of exchange.homes(podClass, from)) {
        if (!isTooMany()) break;
        for (const partner of exchange.partners(podClass, from, to)) {
          const isWanted = () => isTooMany() && exchange.surplus(podClass, to) < 0;
          while (isWanted() && exchange.carryOut(podClass, partner, from, to));
        }
      }
    }
  }
  world.steps += exchange.looks;
}
