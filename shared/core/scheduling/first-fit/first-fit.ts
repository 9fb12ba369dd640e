import type { Plan } from '../../model/plan.ts';
import { podKey } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf, type Resources } from '../../model/resources.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { suitableRooms } from '../placing/grow.ts';
import { plannedClaim } from '../plan/claims.ts';
import { Flexibilities } from '../plan/flexibility.ts';
import { Reasons } from '../plan/reasons.ts';
import { type Column, compareColumns, undominated } from '../problem/columns.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { fits } from '../world/ground.ts';
import { asLarge } from '../world/min-values.ts';
import { type Bin, type ClassView, Ground, type NodeRoom, World } from '../world/world.ts';
import { type Queue, type Queued, queueOf } from './queue.ts';

/** What comes of placing pods first come, first fit; preferences are not scored. */
export type FirstFitPlan = Omit<Plan, 'preferences'>;

/** The launches of one NodePool, cheapest first. */
type PoolColumns = readonly Column[];

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
  readonly world: World;
  /** Those with fewest pods first; of equals as they came. */
  private readonly claims: Claim[] = [];
  readonly onNodes = new Map<NodeRoom, string[]>();
  private readonly pools: readonly PoolColumns[];
  private readonly rooms = new Map<PodClass, readonly NodeRoom[]>();
  private readonly columns = new Map<PodClass, readonly PoolColumns[]>();
  private readonly stepsMax: number;

  constructor({ problem }: Queue) {
    this.world = new World(new Ground(problem, { kinds: new Set() }));
    this.stepsMax = problem.settings.stepsMax;
    this.pools = poolsOf(problem);
  }

  get isSpent(): boolean {
    return this.world.steps > this.stepsMax;
  }

  get nodes(): ReadonlyMap<Bin, readonly string[]> {
    return new Map(this.claims.map(({ bin, pods }) => [bin, pods]));
  }

  /** Whether a node was found for the pod, giving up one wish of it after the other. */
  place({ pod, steps }: Queued): boolean {
    return steps.some((podClass) => {
      const view = this.world.ground.views[podClass.id];
      return view !== undefined && this.placeAs(view, podKey(pod));
    });
  }

  private placeAs(view: ClassView, key: string): boolean {
    return this.onNode(view, key) || this.onClaim(view, key) || this.onNewClaim(view, key);
  }

  private onNode(view: ClassView, key: string): boolean {
    const { podClass } = view;
    let rooms = this.rooms.get(podClass);
    if (rooms === undefined) {
      rooms = suitableRooms(this.world, view);
      this.rooms.set(podClass, rooms);
    }
    this.world.steps += this.world.ground.roomsFor(view).count;
    const room = rooms.find((each) => this.world.canPutOnNode(view, each));
    if (room === undefined) return false;
    this.world.putOnNode(view, room);
    const pods = this.onNodes.get(room);
    if (pods === undefined) this.onNodes.set(room, [key]);
    else pods.push(key);
    return true;
  }

  private onClaim(view: ClassView, key: string): boolean {
    for (const [at, claim] of this.claims.entries()) {
      if (claim.full.has(view.podClass)) continue;
      const choice = this.world.choiceInBin(view, claim.bin);
      if (choice === undefined) {
        if (isFullFor(view, claim.bin)) claim.full.add(view.podClass);
        continue;
      }
      this.world.putInBin(view, claim.bin, choice);
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

  private onNewClaim(view: ClassView, key: string): boolean {
    for (const columns of this.columnsFor(view)) {
      const choice = this.world.choiceAmong(view, columns);
      if (choice === undefined) continue;
      const bin = this.world.open(choice);
      this.world.putInBin(view, bin, choice);
      const largest = largestOf(choice.columns);
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
    const { budgets } = this.world;
    budgets.take(bin.cover, -1);
    bin.cover = asLarge(bin.held, largest);
    budgets.take(bin.cover, 1);
  }

  /** Everything is launched: limits count what it is, and it takes what still fits there. */
  launch(): void {
    for (const claim of this.claims) {
      claim.bin.columns = [claim.bin.held];
      claim.largest = {};
      this.count(claim);
    }
  }

  private columnsFor({ podClass, allowed }: ClassView): readonly PoolColumns[] {
    let columns = this.columns.get(podClass);
    if (columns === undefined) {
      columns = this.pools.map((each) => each.filter(({ group }) => allowed[group.id] === 1));
      this.columns.set(podClass, columns);
    }
    return columns;
  }
}

/** The launches of each NodePool: the heaviest first, of equals the one whose name comes last. */
function poolsOf({ groups }: Problem): readonly PoolColumns[] {
  const byPool = new Map<NodePool, Column[]>();
  for (const group of groups) {
    for (const [pool, columns] of Map.groupBy(group.all, (column) => column.pool.pool)) {
      byPool.set(pool, [...(byPool.get(pool) ?? []), ...undominated(columns)]);
    }
  }
  return [...byPool]
    .sort(([a], [b]) => b.weight - a.weight || (a.name > b.name ? -1 : 1))
    .map(([, columns]) => columns.sort(compareColumns));
}

/** The most of each resource that the pool limits. */
function largestOf(columns: readonly Column[]): Resources {
  const names = Object.keys(columns[0]?.pool.pool.limits ?? {});
  const most = (name: string) =>
    Math.max(...columns.map(({ type }) => amountOf(type.type.capacity, name)));
  return Object.fromEntries(names.map((name) => [name, most(name)]));
}

/** Whether no launch that the claim leaves open has room for such a pod, wherever others are. */
function isFullFor({ allowed, podClass }: ClassView, { columns, used }: Bin): boolean {
  return !columns.some(
    ({ group, room }) => allowed[group.id] === 1 && fits(podClass.requests, used, room),
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
  { nodePools, instanceTypes }: ClusterSnapshot,
  { world }: Pass,
  left: readonly Queued[],
): Plan['unplaced'] {
  const sizes = nodePools.map((pool) => ({
    pool,
    types: instanceTypes.get(pool.name)?.length ?? 0,
  }));
  const reasons = new Reasons(world, sizes);
  const known = new Map<PodClass, ReturnType<Reasons['of']>>();
  const unplaced = new Map<string, ReturnType<Reasons['of']>>();
  for (const { pod, steps } of left) {
    const last = steps.at(-1);
    if (last === undefined) continue;
    const reason = known.get(last) ?? reasons.of(last);
    known.set(last, reason);
    unplaced.set(podKey(pod), reason);
  }
  for (const [pod, message] of world.ground.problem.hopeless) {
    unplaced.set(podKey(pod), { message, pools: [] });
  }
  return unplaced;
}

/**
 * What Karpenter's published scheduling rules make of the snapshot (its instance types already
 * overlaid), launched at the lowest price that its claims leave open. docs/compare.md has the rules.
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
  const { world } = pass;
  const { ground } = world;
  const flexibilities = new Flexibilities(ground);
  const claims = [...pass.nodes].map(([bin, pods]) =>
    plannedClaim(ground, bin, flexibilities.of(bin), pods.toSorted()),
  );
  const existing = [...pass.onNodes].map(([{ node }, pods]) => ({
    node: node.name,
    pods: pods.toSorted(),
  }));
  return {
    newNodeClaims: claims,
    existing,
    unplaced: unplacedOf(snapshot, pass, left),
    ignored: ground.problem.demand.ignored,
    pricePerHour: claims.reduce((sum, { chosen }) => sum + chosen.price, 0),
    listPricePerHour: claims.reduce((sum, { chosen }) => sum + chosen.listPrice, 0),
    steps: world.steps,
  };
}
