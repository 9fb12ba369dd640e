import { instanceIdOf } from '../core/lifecycle/actions.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, SUBNET, ZONE } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Machine } from './cloud/compute.ts';
import { readState } from './decode.ts';
import { type Json, listAt, textAt } from './json.ts';
import { WORLD_START_MS, type World } from './world.ts';

const MINUTE_MS = 60_000;
const TOLD_AT = ['lastTransitionTime', 'lastHeartbeatTime'] as const;

/** When the simulated clock starts: of a cluster that runs, when it was read, so that ages hold. */
export function startMsOf(objects: readonly Json[]): number {
  const times = objects
    .filter(({ kind }) => kind === 'NodeClaim' || kind === 'Node')
    .flatMap((object) => [
      textAt(object, 'metadata', 'creationTimestamp'),
      ...listAt(object, 'status', 'conditions').flatMap((each) =>
        TOLD_AT.map((field) => textAt(each, field)),
      ),
    ])
    .map((time) => Date.parse(time ?? '') || 0);
  // The schedule of each minute begins with a whole one.
  const readAtMs = times.reduce((a, b) => Math.max(a, b), WORLD_START_MS);
  return Math.ceil(readAtMs / MINUTE_MS) * MINUTE_MS;
}

/**
 * Lets the cloud have the instances of NodeClaims that had one before the world was made. One
 * without a Node, or of a type or zone that the catalog does not have, is left out.
 */
export async function adoptInstances({ store, compute, ports }: World): Promise<void> {
  const { objects, nodeClasses } = readState(store);
  const joined = new Set(objects.nodes.map(({ providerId }) => providerId));
  const classes = new Map(nodeClasses.map((each) => [each.name, each]));
  for (const claim of objects.nodeClaims) {
    const nodeClass = classes.get(claim.nodeClassRef.name);
    if (nodeClass === undefined || !joined.has(claim.providerId)) continue;
    const types = await ports.catalog.instanceTypes(nodeClass);
    const type = types.find(({ name }) => name === claim.labels[INSTANCE_TYPE]);
    const machine = type && machineOf(claim, nodeClass, type);
    if (machine !== undefined) compute.machines.set(machine.id, machine);
  }
}

function machineOf(
  claim: NodeClaim,
  nodeClass: NodeClass,
  type: Machine['type'],
): Machine | undefined {
  const { labels, name, uid } = claim;
  const id = instanceIdOf(claim.providerId);
  const offering = type.offerings.find(
    ({ zone, capacityType, reservation }) =>
      zone === labels[ZONE] && capacityType === labels[CAPACITY_TYPE] && reservation === undefined,
  );
  if (id === undefined || offering === undefined) return undefined;
  const { zone, capacityType } = offering;
  return {
    id,
    instanceType: type.name,
    zone,
    capacityType,
    reservationId: undefined,
    imageId: claim.imageId ?? '',
    launchedAtMs: claim.createdAtMs,
    state: 'running',
    tags: {},
    fleet: {
      clientToken: uid,
      claims: [{ name, uid }],
      nodePool: labels[NODE_POOL],
      nodeClass,
      capacityType,
      reservationType: undefined,
      strategy: 'lowest-price',
      overrides: [],
      tags: {},
      nodeLabels: {},
      taints: claim.taints,
      podsMax: {},
      requests: {},
      sendContext: false,
    },
    type,
    offering,
    subnetId: claim.annotations[SUBNET] ?? '',
  };
}
