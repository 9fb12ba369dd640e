import { resolveTypes } from '../../shared/app/planning/provisioning-input.ts';
import { leastPrices } from '../../shared/core/disruption/consolidation/least-prices.ts';
import { missing } from '../../shared/core/missing.ts';
import type { Resources } from '../../shared/core/model/resources.ts';
import { parseResources } from '../../shared/core/quantity.ts';
import { readState } from '../../shared/sim/decode.ts';
import { listAt, numberAt, textsAt } from '../../shared/sim/json.ts';
import type { ScenarioStep } from '../../shared/sim/scenario.ts';
import type { World } from '../../shared/sim/world.ts';

const HOUR_MS = 3_600_000;

/** Pods of one Deployment that are wanted now. */
interface Wanted {
  readonly requests: Resources;
  readonly replicas: number;
}

/**
 * USD that no way can do without: at each moment the wanted pods at the best mix of prices that the
 * NodePool allows, on parts of nodes, without DaemonSets, launches to wait for and room to spare.
 */
export async function floorOf(
  world: World,
  steps: readonly ScenarioStep[],
  endMs: number,
): Promise<number> {
  const { objects } = readState(world.store);
  const { instanceTypes } = await resolveTypes(world.ports, world.settings, readState(world.store));
  const prices = leastPrices({ instanceTypes, nodePools: objects.nodePools });
  const wanted = new Map<string, Wanted>();
  const amounts = new Map<string, number>();
  const want = (name: string, requests: Resources, replicas: number): void => {
    const more = replicas - (wanted.get(name)?.replicas ?? 0);
    for (const [resource, amount] of Object.entries(requests)) {
      amounts.set(resource, (amounts.get(resource) ?? 0) + more * amount);
    }
    wanted.set(name, { requests, replicas });
  };
  let [cost, lastMs] = [0, 0];
  const payUntil = (atMs: number): void => {
    cost += (prices.ofAmounts(amounts) * (atMs - lastMs)) / HOUR_MS;
    lastMs = atMs;
  };
  const wantedOf = (name: string): Wanted => wanted.get(name) ?? missing(name);
  for (const { at, apply = [], scale, delete: gone = [] } of steps) {
    payUntil(at);
    for (const object of apply) {
      if (typeof object === 'string') continue;
      const [container] = listAt(object, 'spec', 'template', 'spec', 'containers');
      const { resources } = parseResources(textsAt(container, 'resources', 'requests'), 'up');
      want(object.metadata.name, resources, numberAt(object, 'spec', 'replicas') ?? 1);
    }
    if (scale !== undefined) want(scale.name, wantedOf(scale.name).requests, scale.replicas);
    for (const each of gone) {
      if (typeof each !== 'string') want(each.name, wantedOf(each.name).requests, 0);
    }
  }
  payUntil(endMs);
  return cost;
}
