import type { NodeClassStatus } from '../core/model/node-class.ts';
import type { DurationOrNever } from '../core/model/provisioning.ts';
import type { RequirementExpression } from '../core/model/requirement.ts';
import { formatResources } from '../core/quantity.ts';
import type { NewNodeClaim } from '../ports.ts';
import type { Json } from './json.ts';
import { encodeTaint } from './kubelet.ts';
import { encodeCondition } from './objects.ts';
import { isoSeconds } from './timeline.ts';

function encodeDuration(duration: DurationOrNever): string {
  if (duration === 'Never') return duration;
  if (duration % 3_600_000 === 0) return `${duration / 3_600_000}h`;
  return duration % 60_000 === 0 ? `${duration / 60_000}m` : `${Math.round(duration / 1000)}s`;
}

function encodeRequirement({ key, operator, values, minValues }: RequirementExpression): Json {
  return {
    key,
    operator,
    ...(values.length === 0 ? {} : { values }),
    ...(minValues === undefined ? {} : { minValues }),
  };
}

/** A NodeClaim as the API has it. */
export function encodeClaim(claim: NewNodeClaim): Json {
  const { nodePool, terminationGracePeriodMs: grace } = claim;
  const owner = nodePool && {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    name: nodePool.name,
    uid: nodePool.uid,
    blockOwnerDeletion: true,
  };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: {
      name: claim.name,
      labels: claim.labels,
      annotations: claim.annotations,
      finalizers: claim.finalizers,
      ...(owner === undefined ? {} : { ownerReferences: [owner] }),
    },
    spec: {
      requirements: claim.requirements.map(encodeRequirement),
      resources: { requests: formatResources(claim.requests) },
      ...(claim.taints.length === 0 ? {} : { taints: claim.taints.map(encodeTaint) }),
      ...(claim.startupTaints.length === 0
        ? {}
        : { startupTaints: claim.startupTaints.map(encodeTaint) }),
      nodeClassRef: claim.nodeClassRef,
      expireAfter: encodeDuration(claim.expireAfter),
      ...(grace === undefined ? {} : { terminationGracePeriod: encodeDuration(grace) }),
    },
  };
}

function withoutUndefined(fields: Json): Json {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function encodeNodeClassStatus(status: NodeClassStatus): Json {
  return {
    subnets: status.subnets.map(({ id, zone, zoneId }) =>
      withoutUndefined({ id, zone, zoneID: zoneId }),
    ),
    securityGroups: status.securityGroups.map(({ id, name }) => withoutUndefined({ id, name })),
    amis: status.images.map(({ id, name, deprecated, requirements }) => ({
      id,
      ...(name === undefined ? {} : { name }),
      ...(deprecated ? { deprecated } : {}),
      requirements: requirements.map(encodeRequirement),
    })),
    capacityReservations: status.capacityReservations.map((each) =>
      withoutUndefined({
        id: each.id,
        instanceType: each.instanceType,
        availabilityZone: each.zone,
        ownerID: each.ownerID,
        instanceMatchCriteria: each.instanceMatchCriteria,
        reservationType: each.reservationType,
        interruptible: each.interruptible,
        state: each.state,
        endTime: each.endsAtMs === undefined ? undefined : isoSeconds(each.endsAtMs),
      }),
    ),
    ...(status.instanceProfile === undefined ? {} : { instanceProfile: status.instanceProfile }),
    conditions: status.conditions.map(encodeCondition),
  };
}
