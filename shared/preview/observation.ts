import type { Observation } from '../api/observation.ts';
import { isKarpenterActive } from '../app/settings.ts';
import { listPrice } from '../catalog/list-price.ts';
import { isReschedulable } from '../core/disruption/candidates.ts';
import { isOurs } from '../core/launch/node-classes.ts';
import { currencyOf } from '../core/model/currency.ts';
import { nodeOfClaim, podsOnNode } from '../core/model/joins.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from '../core/model/labels.ts';
import { type Pod, podKey } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { isWaiting } from '../core/nomination/planned-pods.ts';
import type { ClusterState } from '../ports.ts';
import type { Previewed } from './copy.ts';
import type { Launch } from './launches.ts';
import type { Preview } from './preview.ts';

type Machine = Pick<
  Observation['launches'][number],
  'nodePool' | 'instanceType' | 'zone' | 'capacityType' | 'usdPerHour'
>;

function machineOf({ labels }: NodeClaim, prices: Previewed['prices']): Machine {
  return {
    nodePool: labels[NODE_POOL] ?? '',
    instanceType: labels[INSTANCE_TYPE] ?? null,
    zone: labels[ZONE] ?? null,
    capacityType: labels[CAPACITY_TYPE] ?? null,
    usdPerHour: listPrice(prices, labels) ?? null,
  };
}

function plannedOf({ nodePool, chosen, pods, replaces }: Launch): Observation['launches'][number] {
  return {
    nodePool,
    instanceType: chosen?.type ?? null,
    zone: chosen?.zone ?? null,
    capacityType: chosen?.capacityType ?? null,
    usdPerHour: chosen?.listPrice ?? null,
    pods: [...pods].sort(),
    replaces: replaces?.split(',') ?? [],
  };
}

function nodesIn({ objects }: ClusterState, prices: Previewed['prices']): Observation['nodes'] {
  return objects.nodeClaims
    .filter(({ nodeClassRef }) => isOurs(nodeClassRef))
    .map((claim) => ({
      nodeClaim: claim.name,
      ...machineOf(claim, prices),
      createdAt: new Date(claim.createdAtMs).toISOString(),
      isLeaving: claim.deletedAtMs !== undefined,
      pods: podsOnNode(objects.pods, nodeOfClaim(objects.nodes, claim)?.name).filter(
        isReschedulable,
      ).length,
    }))
    .sort((a, b) => (a.nodeClaim < b.nodeClaim ? -1 : 1));
}

/** Pods that kube-scheduler has found no node for, as plans and launches see them. */
export function waitingPods(pods: readonly Pod[]): string[] {
  return pods.filter(isWaiting).map(podKey).sort();
}

/** Where and by whom a cluster is looked at. */
export interface Observed {
  /** The address of the API server. */
  readonly cluster: string;
  /** The version of Joiner that plans. */
  readonly joiner: string;
}

/** What a preview of the cluster says, as it is recorded. */
export function observationOf(
  { state, prices, nowMs }: Previewed,
  { plan, launches, removals, pricePerHour }: Preview,
  { cluster, joiner }: Observed,
): Observation {
  const known = new Set(state.objects.nodeClaims.map(({ name }) => name));
  // A claim of Karpenter's without an instance is Karpenter's launch.
  const own = launches.filter(({ nodeClaim }) => !known.has(nodeClaim));
  const pending = waitingPods(state.objects.pods);
  return {
    format: 1,
    joiner,
    at: new Date(nowMs).toISOString(),
    cluster,
    currency: currencyOf(prices.region),
    isKarpenterActive: isKarpenterActive(state.karpenterRenewedAtMs, nowMs),
    nodes: nodesIn(state, prices),
    pending,
    launches: own.map(plannedOf),
    unplaced: pending.filter((pod) => plan.unplaced.has(pod)),
    removals: removals.map(({ nodeClaim, action, why, pricePerHour: price, pods }) => ({
      nodeClaim,
      action,
      why,
      usdPerHour: price ?? null,
      pods,
    })),
    usdPerHour: { now: pricePerHour.now, after: pricePerHour.after },
  };
}
