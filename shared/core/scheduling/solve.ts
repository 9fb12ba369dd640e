import type { Plan, UnplacedReason } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { assignDomains, fillExisting } from './assign.ts';
import { PodDealer, plannedClaim } from './claims.ts';
import { byRequests, grow } from './grow.ts';
import { packItems } from './pack.ts';
import { compileProblem, type PreferenceKind, type Problem } from './problem.ts';
import { retype } from './retype.ts';
import { type ClassView, Ground, World } from './world.ts';

/** A finished attempt and what it is judged by. */
interface Attempt {
  readonly world: World;
  readonly ground: Ground;
  /** Pods placed, by priority from high to low. */
  readonly placed: readonly number[];
  readonly price: number;
}

function attemptOf(ground: Ground, world: World): Attempt {
  const priorities = [...new Set(ground.problem.classes.map((each) => each.priority))].sort(
    (a, b) => b - a,
  );
  const placed = priorities.map((priority) =>
    ground.problem.classes
      .filter((each) => each.priority === priority)
      .reduce((sum, each) => sum + each.pods.length - world.leftOf(each), 0),
  );
  return { world, ground, placed, price: world.bins.reduce((sum, bin) => sum + bin.held.price, 0) };
}

/** Whether `a` places more (higher priorities first), or the same for less. */
function isBetter(a: Attempt, b: Attempt): boolean {
  for (const [index, count] of a.placed.entries()) {
    if (count !== b.placed[index]) return count > (b.placed[index] ?? 0);
  }
  return a.price < b.price - 1e-9;
}

function orderOf(problem: Problem, views: readonly ClassView[]): readonly ClassView[] {
  const cpu = problem.resources.indexOf('cpu');
  const memory = problem.resources.indexOf('memory');
  return views.toSorted(byRequests(cpu, memory));
}

function grown(ground: Ground): Attempt {
  const world = new World(ground);
  grow(world, orderOf(ground.problem, ground.views));
  retype(world);
  return attemptOf(ground, world);
}

function packed(ground: Ground): Attempt | undefined {
  const world = new World(ground);
  const order = orderOf(ground.problem, ground.views);
  const needy = order.filter((view) => view.host.needs.length > 0);
  const tied = order.filter((view) => view.hasTopology && view.host.needs.length === 0);
  const free = order.filter((view) => !view.hasTopology && view.host.needs.length === 0);
  const items = assignDomains(world, tied);
  const rest = fillExisting(world, free);
  packItems(world, [...items, ...rest]);
  if (items.some((item) => item.count > 0)) return undefined;
  grow(world, needy);
  retype(world);
  return attemptOf(ground, world);
}

function best(problem: Problem, kinds: readonly PreferenceKind[]): Attempt {
  const ground = new Ground(problem, { kinds: new Set(kinds) });
  const first = packed(ground);
  const pods = problem.demand.pods.length;
  const second = pods <= 2000 || first === undefined ? grown(ground) : undefined;
  if (first === undefined) return second as Attempt;
  return second !== undefined && isBetter(second, first) ? second : first;
}

export function solve(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  const problem = compileProblem(snapshot, settings);
  const { world, ground } = best(problem, ['zone', 'capacityType', 'other']);
  const dealer = new PodDealer();
  const existing = world.rooms
    .filter((room) => room.content.size > 0)
    .map((room) => ({ node: room.node.name, pods: dealer.deal(room.content) }));
  const claims = world.bins.map((bin) => plannedClaim(ground, bin, dealer.deal(bin.content)));
  const unplaced = new Map<string, UnplacedReason>();
  for (const podClass of problem.classes) {
    for (const pod of dealer.rest(podClass)) {
      unplaced.set(podKey(pod), { message: 'no place', pools: [] });
    }
  }
  for (const [pod, message] of problem.hopeless) unplaced.set(podKey(pod), { message, pools: [] });
  return {
    newNodeClaims: claims,
    existing,
    unplaced,
    ignored: problem.demand.ignored,
    preferences: { satisfiedWeight: 0, totalWeight: 0, byKind: {} },
    stranded: { orders: 0, pods: 0 },
    pricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.price, 0),
    listPricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.listPrice, 0),
    steps: world.steps,
  };
}
