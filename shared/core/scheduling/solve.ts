import type { Plan, UnplacedReason } from '../model/plan.ts';
import { podKey } from '../model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../model/snapshot.ts';
import { PodDealer, plannedClaim } from './claims.ts';
import { byRequests, grow } from './grow.ts';
import { compileProblem } from './problem.ts';
import { Ground, World } from './world.ts';

export function solve(snapshot: ClusterSnapshot, settings: SchedulingSettings): Plan {
  const problem = compileProblem(snapshot, settings);
  const ground = new Ground(problem, { kinds: new Set(['zone', 'capacityType', 'other']) });
  const world = new World(ground);
  const cpu = problem.resources.indexOf('cpu');
  const memory = problem.resources.indexOf('memory');
  grow(world, ground.views.toSorted(byRequests(cpu, memory)));
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
