import { launchLabel } from '../problem/launch-space.ts';
import type { NodeRule } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import { isHostKey, type TopologyTerms } from '../problem/topology-terms.ts';
import { minValuesOf } from '../world/min-values.ts';
import { opensTo } from '../world/openings.ts';
import type { Bin, ClassView, World } from '../world/world.ts';

/** Pairs of nodes looked at in all: beyond that the rest stays together. */
const LOOKS_MAX = 1_000_000;

/** A shortage of as many types at once is not reckoned with: what Karpenter wants for spot, too. */
const ALTERNATIVES_MAX = 15;

/** The terms that are more than a hard spread over domains. */
function otherTerms({ spreads, affinity, antiAffinity }: TopologyTerms) {
  const soft = spreads.filter(({ key, isHard }) => !isHard || isHostKey(key));
  return [...soft, ...affinity, ...antiAffinity];
}

/** Finds pods that may change places without anybody noticing, but for what keeps them apart. */
class Exchange {
  private readonly world: World;
  /** By selector: which nodes the spreads that count by it look at. */
  private readonly spreads: ReadonlyMap<number, NodeRule>;
  /** Selectors of terms to which it may matter on which node of a domain a pod is. */
  private readonly noticed = new Set<number>();

  constructor(world: World) {
    this.world = world;
    const spreads = new Map<number, NodeRule>();
    for (const { wished, affinityRule } of world.ground.problem.classes) {
      for (const { selector } of otherTerms(wished.topology)) this.noticed.add(selector.id);
      for (const { selector } of wished.topology.spreads) {
        // Spreads of unlike pods count the pods of different nodes.
        const known = spreads.get(selector.id) ?? affinityRule;
        spreads.set(selector.id, known);
        if (known !== affinityRule) this.noticed.add(selector.id);
      }
    }
    this.spreads = spreads;
  }

  view({ id }: PodClass): ClassView {
    return this.world.ground.views[id] as ClassView;
  }

  /** How many pods of the class a node may have; infinite: it may not be exchanged. */
  most(podClass: PodClass): number {
    const { spreads } = podClass.wished.topology;
    if (spreads.length === 0 || !this.isMovable(podClass)) return Number.POSITIVE_INFINITY;
    return Math.min(...spreads.map(({ maxSkew }) => maxSkew));
  }

  private isMovable(podClass: PodClass): boolean {
    const { wished, matching, affinityRule } = podClass;
    return (
      this.view(podClass).host.isFree &&
      otherTerms(wished.topology).length === 0 &&
      matching.every((id) => !this.noticed.has(id)) &&
      matching.every((id) => (this.spreads.get(id) ?? affinityRule) === affinityRule)
    );
  }

  /** Classes on the node that may leave it for the other: first those that ask for the same. */
  partners(podClass: PodClass, from: Bin, to: Bin): readonly (PodClass | undefined)[] {
    const those = [...from.content.keys()].filter(
      (each) =>
        each !== podClass &&
        countOn(to, each) < this.most(each) &&
        this.isMovable(each) &&
        this.isWash(each, from, to),
    );
    const isEqual = ({ requests }: PodClass) =>
      requests.every((amount, r) => amount === podClass.requests[r]);
    const equal = those.filter(isEqual);
    return needsMinValues(from, to)
      ? equal
      : [...equal, undefined, ...those.filter((each) => !isEqual(each))];
  }

  /** Whether the nodes are in the same domains, as far as the class cares, and equally liked. */
  isWash(podClass: PodClass, from: Bin, to: Bin): boolean {
    const [a, b] = [from.held.group, to.held.group];
    const { allowed, pinKeys } = this.view(podClass);
    if (a === b) return true;
    return (
      allowed[b.id] === 1 &&
      pinKeys.every(
        (key) =>
          launchLabel(a.pool, a.type, a.domain, key) === launchLabel(b.pool, b.type, b.domain, key),
      ) &&
      podClass.wished.preferences.every(({ rule }) => a.allowed[rule.id] === b.allowed[rule.id])
    );
  }

  /** Moves a pod of the class, and one of the partner's the other way, where nothing forbids it. */
  exchange(podClass: PodClass, partner: PodClass | undefined, from: Bin, to: Bin): boolean {
    if (partner !== undefined && countOn(to, partner) === 0) return false;
    if (partner !== undefined && countOn(from, partner) >= this.most(partner)) return false;
    if (!hasRoom(to, podClass, partner)) return false;
    if (partner !== undefined && !hasRoom(from, partner, podClass)) return false;
    const isAlike =
      this.isAlike(podClass, to) && (partner === undefined || this.isAlike(partner, from));
    if (!isAlike && needsMinValues(from, to)) return false;
    const before = isAlike ? [] : [from, to].map((bin) => this.alternatives(bin));
    this.move(podClass, from, to);
    if (partner !== undefined) this.move(partner, to, from);
    if (isAlike || [from, to].every((bin, at) => this.alternatives(bin) >= (before[at] ?? 0))) {
      return true;
    }
    this.move(podClass, to, from);
    if (partner !== undefined) this.move(partner, from, to);
    return false;
  }

  /** Whether the node holds pods that may go as few places as the class. */
  private isAlike(podClass: PodClass, { content }: Bin): boolean {
    const { pinKeys } = this.view(podClass);
    return [...content.keys()].some(
      (each) =>
        each.rule === podClass.rule &&
        pinKeys.every((key) => this.view(each).pinKeys.includes(key)),
    );
  }

  /** How many types the node may be, as far as more would make a difference. */
  private alternatives(bin: Bin): number {
    const views = [...bin.content.keys()].map((each) => this.view(each));
    let count = 0;
    for (const each of this.world.ground.openings.holding(bin.held, views, bin.used)) {
      if (opensTo(each, bin.used)) count++;
      if (count === ALTERNATIVES_MAX) break;
    }
    return count;
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

/** Whether a NodePool asks for types to choose from: such nodes keep what they hold, and can be. */
function needsMinValues(...bins: readonly Bin[]): boolean {
  return bins.some(({ held }) => minValuesOf(held.pool.pool).size > 0);
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
 * same domain, with room or in exchange for pods there. It costs nothing, and kube-scheduler counts
 * all pods that are nominated to a node when it looks at one of them: only `maxSkew` of them can be
 * nominated together (`takenTogether`).
 */
export function setApart(world: World): void {
  const exchange = new Exchange(world);
  let looks = 0;
  for (const from of world.bins) {
    for (const podClass of [...from.content.keys()]) {
      const most = exchange.most(podClass);
      for (const to of world.bins) {
        if (countOn(from, podClass) <= most || looks >= LOOKS_MAX) break;
        looks++;
        if (to === from || countOn(to, podClass) >= most) continue;
        if (!exchange.isWash(podClass, from, to)) continue;
        for (const partner of exchange.partners(podClass, to, from)) {
          const isOver = () => countOn(from, podClass) > most && countOn(to, podClass) < most;
          while (isOver() && exchange.exchange(podClass, partner, from, to)) looks++;
        }
      }
    }
  }
  world.steps += looks;
}
