import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import { HOSTNAME, NODE_POOL } from '../../shared/core/model/labels.ts';
import type { LabelSelector, Pod } from '../../shared/core/model/pod.ts';
import { addResources, fitsResources, type Resources } from '../../shared/core/model/resources.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { World } from '../../shared/sim/world.ts';

type State = ReturnType<typeof readState>;
type Node = State['objects']['nodes'][number];

/** What must hold whenever the world is at rest; every violation in a sentence. */
export function violations(world: World): readonly string[] {
  const state = readState(world.store);
  return [
    ...overfullNodes(state),
    ...unclaimedInstances(world),
    ...doubledClaims(state),
    ...exceededLimits(state),
    ...untoleratedTaints(state),
    ...brokenAntiAffinity(state),
  ];
}

function isActive(pod: Pod): boolean {
  return pod.phase !== 'Succeeded' && pod.phase !== 'Failed';
}

function podsOn({ objects }: State, node: Node): readonly Pod[] {
  return objects.pods.filter((pod) => pod.nodeName === node.name && isActive(pod));
}

function overfullNodes(state: State): readonly string[] {
  return state.objects.nodes.flatMap((node) => {
    const used = podsOn(state, node).reduce<Resources>(
      (sum, pod) => addResources(sum, pod.spec.requests),
      {},
    );
    return fitsResources(used, node.allocatable) ? [] : [`${node.name} is overfull`];
  });
}

/** Instances that neither a claim stands for nor a launch in progress will adopt. */
export function unclaimedInstances(world: World): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  const launching = new Set(
    nodeClaims
      .filter((claim) => claim.providerId === undefined)
      .map((claim) => claim.annotations['joiner.dev/fleet']?.split('/')[0]),
  );
  return withoutClaim(world)
    .filter(({ tags }) => !launching.has(tags['joiner.dev/fleet']))
    .map(saying);
}

/** Where no launch is in progress: every instance that no claim stands for. */
export function instancesWithoutClaim(world: World): readonly string[] {
  return withoutClaim(world).map(saying);
}

function withoutClaim(world: World) {
  const { nodeClaims } = readState(world.store).objects;
  const owned = new Set(nodeClaims.map((claim) => instanceIdOf(claim.providerId)));
  const running = [...world.compute.machines.values()].filter(({ state }) => state === 'running');
  return running.filter(({ id }) => !owned.has(id));
}

function saying({ id }: { readonly id: string }): string {
  return `instance ${id} has no NodeClaim`;
}

function doubledClaims({ objects }: State): readonly string[] {
  const ids = objects.nodeClaims.flatMap((claim) => claim.providerId ?? []);
  return ids.length === new Set(ids).size ? [] : ['two NodeClaims stand for one instance'];
}

/** Instances of a NodePool, those on their way out included, against its limits. */
function exceededLimits({ objects }: State): readonly string[] {
  return objects.nodePools.flatMap(({ name, limits }) => {
    const claims = objects.nodeClaims.filter((claim) => claim.labels[NODE_POOL] === name);
    const used = claims.reduce<Resources>(
      (sum, { capacity }) => addResources(sum, { ...capacity, nodes: 1 }),
      {},
    );
    return Object.entries(limits)
      .filter(([resource, most]) => (used[resource] ?? 0) > most)
      .map(([resource, most]) => `NodePool ${name} has ${used[resource]} ${resource} of ${most}`);
  });
}

/** Taints that come while pods run push nobody away: only those of claims count. */
function untoleratedTaints(state: State): readonly string[] {
  const { nodeClaims, nodes } = state.objects;
  return nodes.flatMap((node) => {
    const claim = nodeClaims.find((each) => each.providerId === node.providerId);
    return podsOn(state, node).flatMap((pod) =>
      (claim?.taints ?? [])
        .filter(({ effect }) => effect !== 'PreferNoSchedule')
        .filter(
          (taint) =>
            !pod.spec.tolerations.some(
              (each) =>
                (each.key === undefined || each.key === '' || each.key === taint.key) &&
                (each.effect === undefined || each.effect === taint.effect) &&
                (each.operator === 'Exists' || each.value === taint.value),
            ),
        )
        .map(({ key }) => `${pod.name} does not tolerate ${key} of ${node.name}`),
    );
  });
}

/** By labels alone: the worlds of these tests select their pods with nothing else. */
function isMeant(selector: LabelSelector | undefined, pod: Pod): boolean {
  if (selector === undefined || selector.matchExpressions.length > 0) return false;
  const wanted = Object.entries(selector.matchLabels);
  return wanted.every(([key, value]) => pod.labels[key] === value);
}

function domainOf(node: Node, key: string): string | undefined {
  return key === HOSTNAME ? node.name : node.labels[key];
}

function brokenAntiAffinity(state: State): readonly string[] {
  const { nodes } = state.objects;
  const placed = nodes.flatMap((node) => podsOn(state, node).map((pod) => ({ pod, node })));
  return placed.flatMap(({ pod, node }) =>
    pod.spec.podAntiAffinity.flatMap(({ topologyKey, labelSelector }) => {
      const domain = domainOf(node, topologyKey);
      const others = placed.filter(
        (other) =>
          other.pod !== pod &&
          other.pod.namespace === pod.namespace &&
          isMeant(labelSelector, other.pod) &&
          domain !== undefined &&
          domainOf(other.node, topologyKey) === domain,
      );
      return others.map((other) => `${pod.name} and ${other.pod.name} share ${domain}`);
    }),
  );
}

/** Hard spread constraints, in worlds in which no pod has gone: leaving pods may leave a skew. */
export function brokenSpread(world: World): readonly string[] {
  const state = readState(world.store);
  const { nodes, pods } = state.objects;
  const rules = new Set(
    pods.flatMap((pod) =>
      pod.spec.topologySpread
        .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
        .map((constraint) => constraint),
    ),
  );
  return [...rules].flatMap(({ topologyKey, labelSelector, maxSkew }) => {
    const counts = new Map<string, number>();
    for (const node of nodes) {
      const domain = domainOf(node, topologyKey);
      const count = podsOn(state, node).filter((pod) => isMeant(labelSelector, pod)).length;
      if (domain !== undefined) counts.set(domain, (counts.get(domain) ?? 0) + count);
    }
    const skew = Math.max(...counts.values()) - Math.min(...counts.values());
    return skew <= maxSkew ? [] : [`skew of ${skew} over ${topologyKey}, allowed ${maxSkew}`];
  });
}

/** Watches evictions: after each of them, as many pods are healthy as every budget wants. */
export function budgetWatch(world: World, appLabel: string, least: number): () => string[] {
  let seen = 0;
  return () => {
    if (world.evictions === seen) return [];
    seen = world.evictions;
    const { pods } = readState(world.store).objects;
    const healthy = pods.filter(
      (pod) => pod.labels['app'] === appLabel && pod.ready && pod.deletedAtMs === undefined,
    ).length;
    return healthy >= least ? [] : [`${healthy} of at least ${least} pods after an eviction`];
  };
}

/** Claims of before that are not being deleted and have no instance. */
export function claimsWithoutInstance(
  world: World,
  beforeMs = Number.POSITIVE_INFINITY,
): readonly string[] {
  const { nodeClaims } = readState(world.store).objects;
  return nodeClaims
    .filter(({ createdAtMs, deletedAtMs }) => deletedAtMs === undefined && createdAtMs < beforeMs)
    .filter((claim) => !world.compute.machines.has(instanceIdOf(claim.providerId) ?? ''))
    .map((claim) => `NodeClaim ${claim.name} has no instance`);
}
