import { mostOf } from '../../extremes.ts';
import { type Plan, unplacedBecause } from '../../model/plan.ts';
import { podKey } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf, type Resources } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { suitableNodes } from '../placing/grow.ts';
import { plannedClaim } from '../plan/claims.ts';
import { Flexibilities } from '../plan/flexibility.ts';
import { Reasons } from '../plan/reasons.ts';
import {
  compareOptions,
  type LaunchOption,
  paretoFrontOfGroup,
} from '../problem/launch-options.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { asLarge } from '../search/min-values.ts';
import { fits } from '../search/search-context.ts';
import {
  type Bin,
  type ExistingNode,
  type ResolvedClass,
  SearchContext,
  SearchState,
} from '../search/search-state.ts';
import { type Queue, type Queued, queueOf } from './queue.ts';

/** What comes of placing pods first come, first fit; preferences are not scored. */
export type FirstFitPlan = Omit<Plan, 'preferences'>;

/** The launches of one NodePool, cheapest first. */
type PoolOptions = readonly LaunchOption[];

/** A new node, its pods, and classes that will never fit on it any more. */
interface Claim {
  readonly bin: Bin;
  /** What its NodePool's limits count for it: the most of any type that it could have been. */
  largest: Resources;
  readonly full: Set<PodClass>;
  readonly pods: string[];
}

/**
 * Places pods as Karpenter 1.14 documents it: greatest requests first, each on the first node that
 * takes it, whatever that does to the price. https://karpenter.sh/docs/concepts/scheduling/
 */
class Pass {
  readonly state: SearchState;
  /** Those with fewest pods first; of equals as they came. */
  private readonly claims: Claim[] = [];
  readonly onNodes = new Map<ExistingNode, string[]>();
  private readonly pools: readonly PoolOptions[];
  private readonly existingNodes = new Map<PodClass, readonly ExistingNode[]>();
  private readonly options = new Map<PodClass, readonly PoolOptions[]>();
  private readonly stepsMax: number;

  constructor({ problem }: Queue) {
    this.state = new SearchState(new SearchContext(problem, { kinds: new Set() }));
    this.stepsMax = problem.settings.stepsMax;
    this.pools = poolsOf(problem);
  }

  get isSpent(): boolean {
    return this.state.steps > this.stepsMax;
  }

  get nodes(): ReadonlyMap<Bin, readonly string[]> {
    return new Map(this.claims.map(({ bin, pods }) => [bin, pods]));
  }

  /** Whether a node was found for the pod, giving up one preference of it after the other. */
  place({ pod, steps }: Queued): boolean {
    return steps.some((podClass) => {
      const resolved = this.state.context.resolvedClasses[podClass.id];
      return resolved !== undefined && this.placeAs(resolved, podKey(pod));
    });
  }

  private placeAs(resolved: ResolvedClass, key: string): boolean {
    return (
      this.onNode(resolved, key) || this.onClaim(resolved, key) || this.onNewClaim(resolved, key)
    );
  }

  private onNode(resolved: ResolvedClass, key: string): boolean {
    const { podClass } = resolved;
    let existingNodes = this.existingNodes.get(podClass);
    if (existingNodes === undefined) {
      existingNodes = suitableNodes(this.state, resolved);
      this.existingNodes.set(podClass, existingNodes);
    }
    this.state.steps += this.state.context.nodesFor(resolved).count;
    const existing = existingNodes.find((each) => this.state.canPutOnNode(resolved, each));
    if (existing === undefined) return false;
    this.state.putOnNode(resolved, existing);
    const pods = this.onNodes.get(existing);
    if (pods === undefined) this.onNodes.set(existing, [key]);
    else pods.push(key);
    return true;
  }

  private onClaim(resolved: ResolvedClass, key: string): boolean {
    for (const [at, claim] of this.claims.entries()) {
      if (claim.full.has(resolved.podClass)) continue;
      const choice = this.state.choiceInBin(resolved, claim.bin);
      if (choice === undefined) {
        if (isFullFor(resolved, claim.bin)) claim.full.add(resolved.podClass);
        continue;
      }
      this.state.putInBin(resolved, claim.bin, choice);
      this.count(claim);
      claim.pods.push(key);
      this.sortIn(claim, at);
      return true;
    }
    return false;
  }

  /** Where the claim belongs now that it has one pod more. */
  private sortIn(claim: Claim, at: number): void {
    const { length } = claim.pods;
    let to = at;
    for (; to + 1 < this.claims.length; to++) {
      const next = this.claims[to + 1];
      if (next === undefined || next.pods.length >= length) break;
      this.claims[to] = next;
    }
    this.claims[to] = claim;
  }

  private onNewClaim(resolved: ResolvedClass, key: string): boolean {
    for (const options of this.optionsFor(resolved)) {
      const choice = this.state.choiceAmong(resolved, options);
      if (choice === undefined) continue;
      const bin = this.state.open(choice);
      this.state.putInBin(resolved, bin, choice);
      const largest = largestOf(choice.options);
      const claim: Claim = { bin, largest, full: new Set<PodClass>(), pods: [key] };
      this.count(claim);
      const after = this.claims.findIndex(({ pods }) => pods.length > 1);
      this.claims.splice(after < 0 ? this.claims.length : after, 0, claim);
      return true;
    }
    return false;
  }

  /** Takes from the limits what they count for the claim. */
  private count({ bin, largest }: Claim): void {
    const { budgets } = this.state;
    budgets.take(bin.reserved, -1);
    bin.reserved = asLarge(bin.chosen, largest);
    budgets.take(bin.reserved, 1);
  }

  /** Everything is launched: limits count what it is, and it takes what still fits there. */
  launch(): void {
    for (const claim of this.claims) {
      claim.bin.options = [claim.bin.chosen];
      claim.largest = {};
      this.count(claim);
    }
  }

  private optionsFor({ podClass, allowed }: ResolvedClass): readonly PoolOptions[] {
    let options = this.options.get(podClass);
    if (options === undefined) {
      options = this.pools.map((each) => each.filter(({ group }) => allowed[group.id] === 1));
      this.options.set(podClass, options);
    }
    return options;
  }
}

/** The launches of each NodePool: the heaviest first, of equals the one whose name comes last. */
function poolsOf({ groups }: Problem): readonly PoolOptions[] {
  const byPool = new Map<NodePool, LaunchOption[]>();
  for (const group of groups) {
    for (const [pool, options] of Map.groupBy(group.all, (option) => option.pool.pool)) {
      byPool.set(pool, [...(byPool.get(pool) ?? []), ...paretoFrontOfGroup(options)]);
    }
  }
  return [...byPool]
    .sort(([a], [b]) => b.weight - a.weight || (a.name > b.name ? -1 : 1))
    .map(([, options]) => options.sort(compareOptions));
}

/** The most of each resource that the pool limits. */
function largestOf(options: readonly LaunchOption[]): Resources {
  const names = Object.keys(options[0]?.pool.pool.limits ?? {});
  const most = (name: string) =>
    mostOf(options.map(({ type }) => amountOf(type.type.capacity, name)));
  return Object.fromEntries(names.map((name) => [name, most(name)]));
}

/** Whether no launch that the claim leaves open has room for such a pod, wherever others are. */
function isFullFor({ allowed, podClass }: ResolvedClass, { options, used }: Bin): boolean {
  return !options.some(
    ({ group, free }) => allowed[group.id] === 1 && fits(podClass.requests, used, free),
  );
}

/** Tries pods that found no node again, until a round over all of them places none. */
function placeAll(pass: Pass, pods: readonly Queued[]): readonly Queued[] {
  let left = pods;
  for (let before = Number.POSITIVE_INFINITY; left.length < before && !pass.isSpent; ) {
    before = left.length;
    left = left.filter((each) => pass.isSpent || !pass.place(each));
  }
  return left;
}

function unplacedOf(
  { snapshot }: Queue,
  { state }: Pass,
  left: readonly Queued[],
): Plan['unplaced'] {
  const reasons = new Reasons(state, snapshot);
  const known = new Map<PodClass, ReturnType<Reasons['of']>>();
  const unplaced = new Map<string, ReturnType<Reasons['of']>>();
  for (const { pod, steps } of left) {
    const last = steps.at(-1);
    if (last === undefined) continue;
    const reason = known.get(last) ?? reasons.of(last);
    known.set(last, reason);
    unplaced.set(podKey(pod), reason);
  }
  for (const [pod, faults] of state.context.problem.unplaceable) {
    unplaced.set(podKey(pod), unplacedBecause(faults));
  }
  return unplaced;
}

/**
 * What Karpenter's published scheduling rules make of the snapshot (its instance types already
 * overlaid), launched at the lowest price that its claims leave open. docs/compare.md has the
 * rules.
 */
export function firstFit(snapshot: ClusterSnapshot, settings: SchedulingSettings): FirstFitPlan {
  const queue = queueOf(snapshot, settings);
  const pass = new Pass(queue);
  let left = placeAll(pass, queue.pods);
  for (let before = queue.pods.length; left.length > 0 && left.length < before; ) {
    before = left.length;
    pass.launch();
    left = placeAll(pass, left);
  }
  const { state } = pass;
  const { context } = state;
  const flexibilities = new Flexibilities(context);
  const claims = [...pass.nodes].map(([bin, pods]) =>
    plannedClaim(context, bin, flexibilities.of(bin), pods.toSorted()),
  );
  const existing = [...pass.onNodes].map(([{ node }, pods]) => ({
    node: node.name,
    pods: pods.toSorted(),
  }));
  return {
    newNodeClaims: claims,
    existing,
    unplaced: unplacedOf(queue, pass, left),
    ignored: context.problem.demand.ignored,
    pricePerHour: claims.reduce((sum, { chosen }) => sum + chosen.price, 0),
    listPricePerHour: claims.reduce((sum, { chosen }) => sum + chosen.listPrice, 0),
    steps: state.steps,
  };
}
