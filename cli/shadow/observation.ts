import * as z from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import { isKarpenterActive } from '../../shared/app/settings.ts';
import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { isOurs } from '../../shared/core/launch/node-classes.ts';
import { currencyOf } from '../../shared/core/model/currency.ts';
import { nodeOfClaim, podsOnNode } from '../../shared/core/model/joins.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL, ZONE } from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { isWaiting } from '../../shared/core/nomination/planned-pods.ts';
import type { ClusterState } from '../../shared/ports.ts';
import type { Previewed } from '../plan/copy.ts';
import type { Launch } from '../plan/launches.ts';
import type { Preview } from '../plan/preview.ts';
import { listPrice } from '../top/rows.ts';

const machine = {
  nodePool: z.string(),
  instanceType: z.string().nullable(),
  zone: z.string().nullable(),
  capacityType: z.string().nullable(),
  /** List price; null: not known. */
  usdPerHour: z.number().nullable(),
};

/** One look at a cluster: what there is, and what Joiner plans for it at this moment. */
export const observationSchema = z.strictObject({
  format: z.literal(1),
  joiner: z.string(),
  at: z.iso.datetime(),
  /** The API server. */
  cluster: z.string(),
  currency: z.enum(['USD', 'CNY']),
  /** Whether Karpenter renewed its Lease. */
  isKarpenterActive: z.boolean(),
  /** Nodes of NodePools, by their NodeClaims. */
  nodes: z.array(
    z.strictObject({
      nodeClaim: z.string(),
      ...machine,
      createdAt: z.iso.datetime(),
      isLeaving: z.boolean(),
      /** Pods on it that would have to move: without those of DaemonSets. */
      pods: z.int(),
    }),
  ),
  /** `namespace/name` of pods that kube-scheduler finds no node for. */
  pending: z.array(z.string()),
  /** New nodes, as Joiner plans them now. */
  launches: z.array(
    z.strictObject({
      ...machine,
      pods: z.array(z.string()),
      /** NodeClaims of the nodes that it replaces. */
      replaces: z.array(z.string()).default([]),
    }),
  ),
  /** Of the pending pods, those that the plan has no node for. */
  unplaced: z.array(z.string()),
  /** Nodes that Joiner would remove or replace now. */
  removals: z.array(
    z.strictObject({
      nodeClaim: z.string(),
      action: z.enum(['remove', 'replace']),
      why: z.string(),
      usdPerHour: z.number().nullable(),
      pods: z.int(),
    }),
  ),
  /** List price of all nodes of NodePools: as they are, and once the plan is carried out. */
  usdPerHour: z.strictObject({ now: z.number(), after: z.number() }),
});

export type Observation = z.infer<typeof observationSchema>;

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

/** What a preview of the cluster says, as it is recorded. */
export function observationOf(
  { state, prices, nowMs }: Previewed,
  { plan, launches, removals, pricePerHour }: Preview,
  cluster: string,
): Observation {
  const known = new Set(state.objects.nodeClaims.map(({ name }) => name));
  // A claim of Karpenter's without an instance is Karpenter's launch.
  const own = launches.filter(({ nodeClaim }) => !known.has(nodeClaim));
  const pending = waitingPods(state.objects.pods);
  return {
    format: 1,
    joiner: packageJson.version,
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
