import { instanceIdOf } from '../core/lifecycle/actions.ts';
import { isTrue } from '../core/lifecycle/conditions.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  NODE_POOL,
  SECURITY_GROUPS,
  SUBNET,
  ZONE,
} from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { PortError } from '../ports.ts';
import type { Machine } from './cloud/compute.ts';
import { readState } from './decode.ts';
import { type Json, listAt, textAt } from './json.ts';
import { withStatus } from './objects.ts';
import type { ObjectStore } from './store.ts';
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

/** The types of the class as if it had a subnet in the zone: what runs there does so in any case. */
async function typesIn({ ports }: World, nodeClass: NodeClass, zone: string) {
  const subnets = [{ id: '', zone, zoneId: undefined }];
  try {
    return await ports.catalog.instanceTypes({
      ...nodeClass,
      status: { ...nodeClass.status, subnets },
    });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    // The class's ValidationSucceeded condition says what is wrong with it.
    return [];
  }
}

/**
 * Lets the cloud have the instances of NodeClaims that had one before the world was made. One
 * whose Node is missing, or of a type or zone that the catalog does not have, is left out.
 */
export async function adoptInstances(world: World): Promise<void> {
  const { store } = world;
  const { objects, nodeClasses } = readState(store);
  const joined = new Set(objects.nodes.map(({ providerId }) => providerId));
  const classes = new Map(nodeClasses.map((each) => [each.name, each]));
  const known = new Map<string, Awaited<ReturnType<typeof typesIn>>>();
  for (const claim of objects.nodeClaims) {
    const nodeClass = classes.get(claim.nodeClassRef.name);
    const hasNode = joined.has(claim.providerId);
    if (nodeClass === undefined || (isTrue(claim, 'Registered') && !hasNode)) continue;
    const zone = claim.labels[ZONE] ?? '';
    const key = `${nodeClass.name} ${zone}`;
    const types = known.get(key) ?? (await typesIn(world, nodeClass, zone));
    known.set(key, types);
    const type = types.find(({ name }) => name === claim.labels[INSTANCE_TYPE]);
    const machine = type && machineOf(claim, nodeClass, type);
    if (machine === undefined) continue;
    world.adopt(machine, hasNode);
    if (nodeClass.status.images.length === 0) forgetFound(store, claim.name);
  }
}

/** Of a class without a status nobody knows what it has found, nor whether a node has drifted. */
function forgetFound(store: ObjectStore, name: string): void {
  const claim = store.get('NodeClaim', undefined, name);
  if (claim === undefined) return;
  store.update(claim, (latest) => {
    const { metadata } = latest;
    const { [SECURITY_GROUPS]: _, [SUBNET]: __, ...annotations } = metadata.annotations;
    return { ...withStatus(latest, { imageID: null }), metadata: { ...metadata, annotations } };
  });
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
      nodeLabels: labels,
      taints: [...claim.taints, ...claim.startupTaints],
      podsMax: {},
      requests: {},
      sendContext: false,
    },
    type,
    offering,
    subnetId: claim.annotations[SUBNET] ?? '',
  };
}
