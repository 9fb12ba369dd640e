import {
  type DriftParts,
  type DriftTarget,
  driftTarget,
} from '../../shared/core/disruption/drift.ts';
import type { NodeClass, NodeClassStatus } from '../../shared/core/model/node-class.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';
import { aNodeClass } from './launches.ts';
import { claimOf, poolOf, typeOf } from './scheduling.ts';

/** An image of nodes of one architecture. */
export function imageOf(id: string, arch: string) {
  const requirements: readonly RequirementExpression[] = [
    { key: 'kubernetes.io/arch', operator: 'In', values: [arch] },
  ];
  return { id, name: undefined, deprecated: false, requirements };
}

/** What the class has found: an image for each architecture, two security groups, one subnet. */
export const STATUS = {
  images: [imageOf('ami-amd64', 'amd64'), imageOf('ami-arm64', 'arm64')],
  securityGroups: [
    { id: 'sg-b', name: undefined },
    { id: 'sg-a', name: undefined },
  ],
  subnets: [{ id: 'subnet-a', zone: 'zone-a', zoneId: undefined }],
} as const;

/** What claims of the pool `general` should be like; the catalog has `m.large` alone. */
export function target(
  pool: Parameters<typeof poolOf>[1] = {},
  rest: Partial<DriftParts> = {},
): DriftTarget {
  return driftTarget({
    pool: poolOf('general', pool),
    poolHash: 'pool-hash',
    nodeClass: aNodeClass({}, STATUS),
    nodeClassHash: 'class-hash',
    hashVersion: 'ours',
    types: [typeOf('m.large', 2, 8, 0.1)],
    isCatalogCurrent: true,
    ...rest,
  });
}

/** The class with this found instead. */
export const classWith = (changes: Partial<NodeClassStatus>): NodeClass =>
  aNodeClass({}, { ...STATUS, ...changes });

/** Of a claim that is as it should be. */
export const labels = {
  'karpenter.sh/nodepool': 'general',
  'karpenter.sh/capacity-type': 'on-demand',
  'node.kubernetes.io/instance-type': 'm.large',
  'topology.kubernetes.io/zone': 'zone-a',
  'kubernetes.io/arch': 'amd64',
};

/** Of a claim that is as it should be. */
export const annotations = {
  'karpenter.sh/nodepool-hash': 'pool-hash',
  'karpenter.sh/nodepool-hash-version': 'ours',
  'karpenter.k8s.aws/ec2nodeclass-hash': 'class-hash',
  'karpenter.k8s.aws/ec2nodeclass-hash-version': 'ours',
  'joiner.dev/security-groups': 'sg-a,sg-b',
  'joiner.dev/subnet': 'subnet-a',
};

/** A claim that is as it should be but for the changes; labels and annotations are added. */
export function claim(changes: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('general-abcde', {
    imageId: 'ami-amd64',
    ...changes,
    labels: { ...labels, ...changes.labels },
    annotations: { ...annotations, ...changes.annotations },
  });
}

/** A requirement of one of the values. */
export const only = (key: string, ...values: readonly string[]): RequirementExpression => ({
  key,
  operator: 'In',
  values,
});
