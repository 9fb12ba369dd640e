import type { Plan, UnplacedReason } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { setApart } from './placing/apart.ts';
import { PodDealer, plannedClaim } from './plan/claims.ts';
import { Flexibilities } from './plan/flexibility.ts';
import { preferenceScore } from './plan/preference-score.ts';
import { Reasons } from './plan/reasons.ts';
import { widenCovers } from './plan/widening.ts';
import { compileProblem } from './problem/compile.ts';
import { weighPreferences } from './weighing.ts';
import { Ground, World } from './world/world.ts';

/** Why each pod that was not dealt is left over. */
function reasonsOf(
  { nodePools, instanceTypes }: ClusterSnapshot,
  world: World,
  dealer: PodDealer,
): ReadonlyMap<string, UnplacedReason> {
  const { problem } = world.ground;
  const unplaced = new Map<string, UnplacedReason>();
  const sizes = nodePools.map((pool) => ({
    pool,
    types: instanceTypes.get(pool.name)?.length ?? 0,
  }));
  const reasons = new Reasons(world, sizes);
  for (const podClass of problem.classes) {
    const rest = dealer.rest(podClass);
    if (rest.length === 0) continue;
    const reason = reasons.of(podClass);
    for (const pod of rest) unplaced.set(podKey(pod), reason);
  }
  for (const [pod, message] of problem.hopeless) unplaced.set(podKey(pod), { message, pools: [] });
  return unplaced;
}

export function solve(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  return solved(snapshot, settings).plan;
}

/** The world before anything that waits is placed: what it could be given is not taken yet. */
export function unplaced(snapshot: ClusterSnapshot, settings: SchedulingSettings): World {
  return new World(new Ground(compileProblem(snapshot, settings), { kinds: new Set() }));
}

/** The plan, and the world that it was made in, for those who want to look closer. */
export function solved(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
): { readonly plan: Plan; readonly world: World } {
  const problem = compileProblem(snapshot, settings);
  const { world, ground } = weighPreferences(problem);
  setApart(world);
  widenCovers(world);
  const dealer = new PodDealer();
  const existing = world.rooms
    .filter((room) => room.content.size > 0)
    .map((room) => ({ node: room.node.name, pods: dealer.deal(room.content) }));
  const flexibilities = new Flexibilities(ground);
  const claims = world.bins.map((bin) =>
    plannedClaim(ground, bin, flexibilities.of(bin), dealer.deal(bin.content)),
  );
  const unplaced = reasonsOf(snapshot, world, dealer);
  const plan = {
    newNodeClaims: claims,
    existing,
    unplaced,
    ignored: problem.demand.ignored,
    preferences: preferenceScore(world),
    pricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.price, 0),
    listPricePerHour: claims.reduce((sum, claim) => sum + claim.chosen.listPrice, 0),
    steps: world.steps,
  };
  return { plan, world };
}
