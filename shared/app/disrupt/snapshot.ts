import type { Replacement } from '../../core/disruption/commands.ts';
import {
  type Places,
  placesOfLeaving,
  withLeaving,
  withPlaces,
  withReserved,
} from '../../core/disruption/simulation.ts';
import { haltedPools } from '../../core/launch/halted-pools.ts';
import { withGroupCaps } from '../../core/limit-groups/group-room.ts';
import { capsAt } from '../../core/limit-groups/limit-groups.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import { podKey } from '../../core/model/pod.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { bufferPods } from '../planning/capacity-buffers.ts';
import { withPlannedLabels } from '../planning/new-claims.ts';
import { withoutHalted } from '../planning/provisioning-input.ts';
import type { DisruptPass } from './pass.ts';

/** What `provision` would plan on: with the room that CapacityBuffers ask for, less what goes. */
export async function planningSnapshot(pass: DisruptPass): Promise<ClusterSnapshot> {
  const { ports, settings, state, resolution, nowMs, changes, shared } = pass;
  const { nodePools, nodeClaims, nodes, pods } = state.objects;
  const halted = haltedPools(await ports.memory.failedRegistrations(), nowMs);
  const buffers = settings.capacityBuffer ? bufferPods(state) : [];
  const snapshot: ClusterSnapshot = {
    ...state.objects,
    nodeClaims: nodeClaims.map((claim) => {
      const types = resolution.instanceTypes.get(claim.labels[NODE_POOL] ?? '') ?? [];
      return withPlannedLabels(claim, types, ports.catalog.region);
    }),
    nodePools: withoutHalted(nodePools, halted),
    instanceTypes: resolution.instanceTypes,
    pods: [...pods, ...buffers],
  };
  const gone = new Set(
    nodeClaims.flatMap(({ uid, providerId }) => (changes.taken.has(uid) ? (providerId ?? []) : [])),
  );
  const caps = capsAt(settings.limitGroups, nodePools, nowMs);
  const capped = withGroupCaps(snapshot, shared.withOthers(caps));
  return nodes
    .filter(({ providerId }) => providerId !== undefined && gone.has(providerId))
    .reduce((each, { name }) => withLeaving(each, name), capped);
}

/** The room on other nodes that pods of nodes wait for which are being replaced or drained. */
function placesOf(
  { settings, state }: DisruptPass,
  under: readonly Replacement[],
  snapshot: ClusterSnapshot,
): Places {
  if (under.length === 0) return new Map();
  const byNode = Map.groupBy(state.objects.pods, ({ nodeName }) => nodeName);
  const leaving = under.flatMap(({ claim, node }) =>
    node === undefined ? [] : [{ claim, node, pods: byNode.get(node.name) ?? [] }],
  );
  const replacements = under.flatMap((each) => each.replacements);
  return placesOfLeaving(snapshot, leaving, replacements, settings.scheduling);
}

/** A drain that takes longer waits for something, e.g. for a PodDisruptionBudget. */
const LONG_DRAIN_MS = 3 * 60_000;

function podsOfLongDrains({ draining, state, nowMs }: DisruptPass): ReadonlySet<string> {
  const long = draining.filter(
    ({ claim: { deletedAtMs } }) => nowMs - (deletedAtMs ?? nowMs) > LONG_DRAIN_MS,
  );
  const names = new Set(long.flatMap(({ node }) => node?.name ?? []));
  if (names.size === 0) return names;
  return new Set(state.objects.pods.filter((pod) => names.has(pod.nodeName ?? '')).map(podKey));
}

/**
 * The same for choosing more nodes: the room that pods of nodes will take which go already is
 * nobody else's. `hosts` are the names of the nodes that these pods will go to.
 */
export async function reservedSnapshot(
  pass: DisruptPass,
): Promise<{ readonly snapshot: ClusterSnapshot; readonly hosts: Set<string> }> {
  const under = [...pass.commands, ...pass.draining];
  let snapshot = await planningSnapshot(pass);
  const places = placesOf(pass, under, snapshot);
  snapshot = withPlaces(snapshot, places, podsOfLongDrains(pass));
  for (const { claim, replacements } of under) {
    // Of one that is drained and not replaced, the pods without a place are demand like others.
    if (claim.deletedAtMs !== undefined && replacements.length === 0) continue;
    snapshot = withReserved(snapshot, claim, replacements);
  }
  return { snapshot, hosts: new Set(places.values()) };
}
