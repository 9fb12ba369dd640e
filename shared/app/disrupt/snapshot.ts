import { isReschedulable } from '../../core/disruption/candidates.ts';
import type { Replacement } from '../../core/disruption/commands.ts';
import {
  type Places,
  placesOfLeaving,
  withLeaving,
  withPlaces,
  withReserved,
} from '../../core/disruption/simulation.ts';
import { haltedPools } from '../../core/launch/halted-pools.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { withGroupCaps } from '../../core/limit-groups/group-room.ts';
import { capsAt } from '../../core/limit-groups/limit-groups.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import { podKey } from '../../core/model/pod.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { isNeverEvicted } from '../../core/scheduling/problem/demand.ts';
import { bufferPods } from '../planning/capacity-buffers.ts';
import { withoutPodsBackedOff } from '../planning/launch-backoffs.ts';
import { withPlannedLabels } from '../planning/new-claims.ts';
import { withoutHalted } from '../planning/provisioning-input.ts';
import type { DisruptPass } from './pass.ts';

/** What `provision` would plan on: with the room that CapacityBuffers ask for, less what goes. */
export async function planningSnapshot(pass: DisruptPass): Promise<ClusterSnapshot> {
  const { ports, settings, state, resolution, nowMs, changes, shared } = pass;
  const { nodePools, nodeClaims, nodes } = state.objects;
  const pods = await withoutPodsBackedOff(ports, state);
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

type Replacements = readonly Replacement[];

/** The pods of these nodes, each with its node. */
function leavingOf({ state }: DisruptPass, under: Replacements) {
  const byNode = Map.groupBy(state.objects.pods, ({ nodeName }) => nodeName);
  return under.flatMap(({ claim, node }) =>
    node === undefined ? [] : [{ claim, node, pods: byNode.get(node.name) ?? [] }],
  );
}

/** The room on other nodes that pods of nodes wait for which are being replaced or drained. */
function placesOf(pass: DisruptPass, under: Replacements, snapshot: ClusterSnapshot): Places {
  if (under.length === 0) return new Map();
  const replacements = under.flatMap((each) => each.replacements);
  const { scheduling } = pass.settings;
  return placesOfLeaving(snapshot, leavingOf(pass, under), replacements, scheduling);
}

/** A drain that takes longer waits for something, e.g. for a PodDisruptionBudget. */
const LONG_DRAIN_MS = 3 * 60_000;

function longDrains({ draining, nowMs }: DisruptPass): Replacements {
  return draining.filter(
    ({ claim: { deletedAtMs } }) => nowMs - (deletedAtMs ?? nowMs) > LONG_DRAIN_MS,
  );
}

/** Nodes that go already, and where their pods go which need no room that is reserved. */
interface Going {
  readonly under: Replacements;
  readonly places: Places;
}

/**
 * Replacements of drains that take long are nodes like others once they are ready: the pods that
 * are left have their room there or are never evicted, and the rest is for whoever needs it. Where
 * one of these pods has no room, all that was launched for them is kept.
 */
function goingOf(pass: DisruptPass, snapshot: ClusterSnapshot): Going {
  const under = [...pass.commands, ...pass.draining];
  const isOpen = ({ replacements }: Replacement): boolean =>
    replacements.length > 0 && replacements.every((each) => isTrue(each, 'Initialized'));
  const open = new Set<Replacement>(longDrains(pass).filter(isOpen));
  const reserved = (): Going => ({ under, places: placesOf(pass, under, snapshot) });
  if (open.size === 0) return reserved();
  const opened = under.map((each) => (open.has(each) ? { ...each, replacements: [] } : each));
  const places = placesOf(pass, opened, snapshot);
  const left = leavingOf(pass, [...open]).flatMap(({ pods }) => pods.filter(isReschedulable));
  const { podDisruptionBudgets } = pass.state.objects;
  const isRoom = left.every(
    (pod) => places.has(podKey(pod)) || isNeverEvicted(pod, podDisruptionBudgets),
  );
  return isRoom ? { under: opened, places } : reserved();
}

function podsOfLongDrains(pass: DisruptPass): ReadonlySet<string> {
  return new Set(
    leavingOf(pass, longDrains(pass)).flatMap(({ pods }) => pods.map((pod) => podKey(pod))),
  );
}

/**
 * The same for choosing more nodes: the room that pods of nodes will take which go already is
 * nobody else's. `hosts` are the names of the nodes that these pods will go to.
 */
export async function reservedSnapshot(
  pass: DisruptPass,
): Promise<{ readonly snapshot: ClusterSnapshot; readonly hosts: Set<string> }> {
  let snapshot = await planningSnapshot(pass);
  const { under, places } = goingOf(pass, snapshot);
  snapshot = withPlaces(snapshot, places, podsOfLongDrains(pass));
  for (const { claim, replacements } of under) {
    // Of one that is drained and not replaced, the pods without a place are demand like others.
    if (claim.deletedAtMs !== undefined && replacements.length === 0) continue;
    snapshot = withReserved(snapshot, claim, replacements);
  }
  return { snapshot, hosts: new Set(places.values()) };
}
