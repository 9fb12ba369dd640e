import type { Condition } from '../core/model/cluster.ts';
import type { NodeClassStatus } from '../core/model/node-class.ts';
import type { RequirementExpression } from '../core/model/requirement.ts';
import type { Taint } from '../core/model/taint.ts';
import { formatResources } from '../core/quantity.ts';
import type {
  CapacityBufferStatusPatch,
  NewNodeClaim,
  NodeClaimStatusPatch,
} from '../ports/cluster.ts';
import { apiVersion, RESOURCES } from './resources.ts';

/** What is written to the cluster, in the form that the API server has it. */

/** Whole seconds, as metav1.Time. */
export function encodeTime(atMs: number): string {
  return new Date(Math.floor(atMs / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}

/** Microseconds, as metav1.MicroTime. */
export function encodeMicroTime(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}

/** e.g. `1h30m`, `Never` */
export function encodeDuration(duration: number | 'Never'): string {
  if (duration === 'Never') return duration;
  const seconds = Math.round(duration / 1000);
  const parts: readonly (readonly [amount: number, unit: string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  const text = parts.map(([amount, unit]) => (amount === 0 ? '' : `${amount}${unit}`)).join('');
  return text === '' ? '0s' : text;
}

export function encodeTaint(taint: Taint): object {
  const { key, value, effect } = taint;
  return value === '' ? { key, effect } : { key, value, effect };
}

export function encodeRequirement(requirement: RequirementExpression): object {
  const { key, operator, values, minValues } = requirement;
  return {
    key,
    operator,
    ...(values.length === 0 ? {} : { values }),
    ...(minValues === undefined ? {} : { minValues }),
  };
}

/** Characters that the schemas of all our kinds let a condition say. */
const MESSAGE_MAX = 32_768;

export function encodeCondition(condition: Condition, observedGeneration: number): object {
  const { type, status } = condition;
  const message = condition.message.slice(0, MESSAGE_MAX);
  return {
    type,
    status,
    // The schema wants one; Karpenter repeats the type where there is nothing to say.
    reason: condition.reason === '' ? type : condition.reason,
    message,
    lastTransitionTime: encodeTime(condition.lastTransitionAtMs),
    observedGeneration,
  };
}

export function encodeNodeClaim(claim: NewNodeClaim): object {
  const { nodePool } = claim;
  const owner = {
    apiVersion: apiVersion(RESOURCES.nodePools),
    kind: 'NodePool',
    name: nodePool?.name,
    uid: nodePool?.uid,
    blockOwnerDeletion: true,
  };
  return {
    metadata: {
      name: claim.name,
      labels: claim.labels,
      annotations: claim.annotations,
      finalizers: claim.finalizers,
      ...(nodePool === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      requirements: claim.requirements.map(encodeRequirement),
      resources: { requests: formatResources(claim.requests) },
      taints: claim.taints.map(encodeTaint),
      startupTaints: claim.startupTaints.map(encodeTaint),
      nodeClassRef: claim.nodeClassRef,
      expireAfter: encodeDuration(claim.expireAfter),
      ...(claim.terminationGracePeriodMs === undefined
        ? {}
        : { terminationGracePeriod: encodeDuration(claim.terminationGracePeriodMs) }),
    },
  };
}

/** Without the conditions, which are merged with those that are there. */
export function encodeNodeClaimStatus(status: NodeClaimStatusPatch): object {
  const { nodeName, providerId, imageId, capacity, allocatable, lastPodEventAtMs } = status;
  return {
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(providerId === undefined ? {} : { providerID: providerId }),
    ...(imageId === undefined ? {} : { imageID: imageId }),
    ...(capacity === undefined ? {} : { capacity: formatResources(capacity) }),
    ...(allocatable === undefined ? {} : { allocatable: formatResources(allocatable) }),
    ...(lastPodEventAtMs === undefined ? {} : { lastPodEventTime: encodeTime(lastPodEventAtMs) }),
  };
}

/** Without the conditions. Null removes a profile that is no longer ours. */
export function encodeNodeClassStatus(status: NodeClassStatus): object {
  return {
    subnets: status.subnets.map(({ id, zone, zoneId }) => ({ id, zone, zoneID: zoneId })),
    securityGroups: status.securityGroups,
    amis: status.images.map(({ id, name, deprecated, requirements }) => ({
      id,
      name,
      ...(deprecated ? { deprecated } : {}),
      requirements: requirements.map(encodeRequirement),
    })),
    capacityReservations: status.capacityReservations.map((each) => ({
      id: each.id,
      instanceType: each.instanceType,
      availabilityZone: each.zone,
      ownerID: each.ownerID,
      instanceMatchCriteria: each.instanceMatchCriteria,
      reservationType: each.reservationType,
      interruptible: each.interruptible,
      state: each.state,
      ...(each.endsAtMs === undefined ? {} : { endTime: encodeTime(each.endsAtMs) }),
    })),
    instanceProfile: status.instanceProfile ?? null,
  };
}

export function encodeCapacityBufferStatus(patch: CapacityBufferStatusPatch): object {
  const { replicas, podTemplate, podTemplateGeneration, provisioningStrategy } = patch;
  return {
    replicas,
    podTemplateRef: podTemplate === undefined ? null : { name: podTemplate },
    podTemplateGeneration: podTemplateGeneration ?? null,
    provisioningStrategy,
  };
}
