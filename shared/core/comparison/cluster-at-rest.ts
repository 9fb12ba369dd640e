import { type Candidate, isReschedulable } from '../disruption/candidates.ts';
import { evictionCostOf } from '../disruption/consolidation/eviction-cost.ts';
import type { ConsolidationCandidate } from '../disruption/consolidation/payback.ts';
import { allocatable } from '../instance-types/allocatable.ts';
import { offeringOfClaim } from '../model/claim-offering.ts';
import type { Node } from '../model/cluster.ts';
import type { InstanceType, Offering } from '../model/instance-type.ts';
import { claimOfNode, podsOnNode } from '../model/joins.ts';
import {
  CAPACITY_TYPE,
  HOSTNAME,
  INITIALIZED,
  INSTANCE_TYPE,
  type Labels,
  NODE_POOL,
  REGISTERED,
  RESERVATION_ID,
  SPOT,
  ZONE,
} from '../model/labels.ts';
import type { Plan, PlannedNodeClaim } from '../model/plan.ts';
import { type Pod, podKey } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import {
  addResources,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../model/resources.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';

/** A cluster as decisions leave it once they are carried out, and what that took. */
export interface Rest {
  readonly snapshot: ClusterSnapshot;
  /** Nodes made so far, of which the next one's name is. */
  readonly made: number;
  /** By the name of a node that was made: what DaemonSets take of it. */
  readonly reserved: ReadonlyMap<string, Resources>;
  readonly evictions: number;
  readonly removed: number;
}

/** A cluster in which nothing has been decided yet. */
export function restOf(snapshot: ClusterSnapshot): Rest {
  return { snapshot, made: 0, reserved: new Map(), evictions: 0, removed: 0 };
}

/** The offering that a claim's labels name; undefined: there is none any more. */
export function offeringOf(
  { instanceTypes }: ClusterSnapshot,
  labels: Labels,
): { readonly type: InstanceType; readonly offering: Offering } | undefined {
  const types = instanceTypes.get(labels[NODE_POOL] ?? '');
  const type = types?.find(({ name }) => name === labels[INSTANCE_TYPE]);
  const offering = type && offeringOfClaim({ labels }, [type]);
  return type === undefined || offering === undefined ? undefined : { type, offering };
}

/** Labels of which the type has one value. */
function typeLabels({ labels }: InstanceType): Labels {
  return Object.fromEntries(
    Object.entries(labels).flatMap(([key, values]) =>
      values?.length === 1 && values[0] !== undefined ? [[key, values[0]]] : [],
    ),
  );
}

function initialized(): NodeClaim['conditions'] {
  return ['Launched', 'Registered', 'Initialized'].map((type) => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    lastTransitionAtMs: 0,
  }));
}

/** The node of a planned claim, ready, and its claim; undefined: its offering is unknown. */
function nodeOf(
  snapshot: ClusterSnapshot,
  planned: PlannedNodeClaim,
  name: string,
): { readonly node: Node; readonly claim: NodeClaim } | undefined {
  const { type: instanceType, zone, capacityType, reservationId } = planned.chosen;
  const pool = snapshot.nodePools.find((each) => each.name === planned.nodePool);
  const chosen: Labels = {
    ...planned.labels,
    [NODE_POOL]: planned.nodePool,
    [INSTANCE_TYPE]: instanceType,
    [ZONE]: zone,
    [CAPACITY_TYPE]: capacityType,
    ...(reservationId === undefined ? {} : { [RESERVATION_ID]: reservationId }),
  };
  const found = offeringOf(snapshot, chosen);
  if (pool === undefined || found === undefined) return undefined;
  const labels: Labels = {
    ...typeLabels(found.type),
    ...chosen,
    [HOSTNAME]: name,
    [REGISTERED]: 'true',
    [INITIALIZED]: 'true',
  };
  const { annotations, taints } = planned;
  const times = { createdAtMs: 0, deletedAtMs: undefined };
  const common = { name, uid: `compared/${name}`, labels, annotations, ...times };
  const amounts = {
    capacity: found.type.capacity,
    allocatable: allocatable(found.type, found.offering),
    conditions: initialized(),
  };
  const providerId = `compared:///${name}`;
  const { expireAfter, nodeClassRef, terminationGracePeriodMs } = pool.template;
  return {
    node: { ...common, ...amounts, providerId, taints },
    claim: {
      ...common,
      ...amounts,
      providerId,
      nodeName: name,
      finalizers: [],
      requirements: [],
      requests: planned.requests,
      taints,
      startupTaints: [],
      imageId: undefined,
      expireAfter,
      nodeClassRef,
      terminationGracePeriodMs,
    },
  };
}

/** What of a planned claim's requests none of its pods asks for: that of DaemonSets. */
export function requestsBeside(
  { requests }: Pick<PlannedNodeClaim, 'requests'>,
  ofPods: readonly Resources[],
): Resources {
  return subtractResources(requests, ofPods.reduce<Resources>(addResources, NO_RESOURCES));
}

/** What of a plan is carried out: every claim launched, every pod where it is planned. */
export function carriedOut(
  rest: Rest,
  { newNodeClaims, existing }: Pick<Plan, 'newNodeClaims' | 'existing'>,
  gone: ReadonlySet<string> = new Set(),
): Rest {
  const { snapshot } = rest;
  const places = new Map(existing.flatMap(({ node, pods }) => pods.map((pod) => [pod, node])));
  const added: { readonly node: Node; readonly claim: NodeClaim }[] = [];
  const reserved = new Map(rest.reserved);
  const requests = new Map(snapshot.pods.map((pod) => [podKey(pod), pod.spec.requests]));
  for (const planned of newNodeClaims) {
    const name = `compared-${String(rest.made + added.length).padStart(6, '0')}`;
    const made = nodeOf(snapshot, planned, name);
    if (made === undefined) continue;
    added.push(made);
    for (const pod of planned.pods) places.set(pod, name);
    const ofPods = planned.pods.map((pod) => requests.get(pod) ?? NO_RESOURCES);
    reserved.set(name, requestsBeside(planned, ofPods));
  }
  const leaving = snapshot.pods.filter(({ nodeName }) => gone.has(nodeName ?? ''));
  const pods = snapshot.pods.flatMap((pod): readonly Pod[] => {
    const nodeName = places.get(podKey(pod));
    const isOff = gone.has(pod.nodeName ?? '');
    if (nodeName === undefined) return isOff ? [] : [pod];
    return [{ ...pod, nodeName, nominatedNodeName: undefined, phase: 'Running' as const }];
  });
  const kept = snapshot.nodes.filter(({ name }) => !gone.has(name));
  const providers = new Set(
    snapshot.nodes.filter(({ name }) => gone.has(name)).map(({ providerId }) => providerId),
  );
  const nodeClaims = snapshot.nodeClaims.filter(
    ({ providerId }) => providerId === undefined || !providers.has(providerId),
  );
  return {
    snapshot: {
      ...snapshot,
      pods,
      nodes: [...kept, ...added.map(({ node }) => node)],
      nodeClaims: [...nodeClaims, ...added.map(({ claim }) => claim)],
    },
    made: rest.made + newNodeClaims.length,
    reserved,
    evictions: rest.evictions + leaving.filter(isReschedulable).length,
    removed: rest.removed + gone.size,
  };
}

/** The nodes of NodePools with what runs there and what they cost; others are not looked at. */
export function candidatesOf(snapshot: ClusterSnapshot): readonly ConsolidationCandidate[] {
  const pools = new Map(snapshot.nodePools.map((pool) => [pool.name, pool]));
  return snapshot.nodes.flatMap((node): readonly ConsolidationCandidate[] => {
    const claim = claimOfNode(snapshot.nodeClaims, node);
    const pool = pools.get(node.labels[NODE_POOL] ?? '');
    const found = offeringOf(snapshot, { ...claim?.labels, ...node.labels });
    if (claim === undefined || pool === undefined || found === undefined) return [];
    const candidate: Candidate = { claim, node, pods: podsOnNode(snapshot.pods, node.name) };
    return [
      {
        ...candidate,
        pool,
        pricePerHour: found.offering.price,
        isSpot: node.labels[CAPACITY_TYPE] === SPOT,
        isDrifted: false,
        evictionCost: evictionCostOf(candidate.pods),
      },
    ];
  });
}
