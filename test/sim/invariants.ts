import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import { addResources, fitsResources, type Resources } from '../../shared/core/model/resources.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { World } from '../../shared/sim/world.ts';

/** What must hold whenever the world is at rest; every violation in a sentence. */
export function violations(world: World): readonly string[] {
  return [...overfullNodes(world), ...unclaimedInstances(world), ...doubledClaims(world)];
}

function overfullNodes(world: World): readonly string[] {
  const { nodes, pods } = readState(world.store).objects;
  return nodes.flatMap((node) => {
    const own = pods.filter(
      (pod) => pod.nodeName === node.name && pod.phase !== 'Succeeded' && pod.phase !== 'Failed',
    );
    const used = own.reduce<Resources>((sum, pod) => addResources(sum, pod.spec.requests), {});
    return fitsResources(used, node.allocatable) ? [] : [`${node.name} is overfull`];
  });
}

/** Instances that neither a claim stands for nor a launch in progress will adopt. */
export function unclaimedInstances(world: World): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  const owned = new Set(nodeClaims.map((claim) => instanceIdOf(claim.providerId)));
  const launching = new Set(
    nodeClaims
      .filter((claim) => claim.providerId === undefined)
      .map((claim) => claim.annotations['joiner.dev/fleet']?.split('/')[0]),
  );
  return [...world.compute.machines.values()]
    .filter((each) => each.state === 'running' && !owned.has(each.id))
    .filter((each) => !launching.has(each.tags['joiner.dev/fleet']))
    .map((each) => `instance ${each.id} has no NodeClaim`);
}

function doubledClaims(world: World): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  const ids = nodeClaims.flatMap((claim) => claim.providerId ?? []);
  return ids.length === new Set(ids).size ? [] : ['two NodeClaims stand for one instance'];
}

/** At the end: every claim that is not being deleted has its instance. */
export function claimsWithoutInstance(world: World): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  return nodeClaims
    .filter((claim) => claim.deletedAtMs === undefined)
    .filter((claim) => !world.compute.machines.has(instanceIdOf(claim.providerId) ?? ''))
    .map((claim) => `NodeClaim ${claim.name} has no instance`);
}
