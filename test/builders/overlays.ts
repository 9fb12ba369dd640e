import { decodeNodeOverlay } from '../../shared/api/node-overlay.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import type { InstanceType, Offering, Overhead } from '../../shared/core/model/instance-type.ts';
import type { CapacityType } from '../../shared/core/model/labels.ts';
import type { NodeOverlay, NodePool } from '../../shared/core/model/provisioning.ts';
import type { RequirementExpression } from '../../shared/core/model/requirement.ts';

const NO_OVERHEAD: Overhead = { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} };

export function offering(zone: string, capacityType: CapacityType, price: number): Offering {
  return {
    zone,
    zoneId: undefined,
    capacityType,
    price,
    listPrice: price,
    priceOverlay: undefined,
    available: true,
    reservation: undefined,
    capacityOverride: undefined,
    overheadOverride: undefined,
  };
}

export function instanceType(
  name: string,
  offerings: readonly Offering[],
  labels: Readonly<Record<string, readonly string[] | null>> = {},
): InstanceType {
  return {
    name,
    labels: { 'node.kubernetes.io/instance-type': [name], ...labels },
    capacity: { cpu: 4000, memory: 16 * 2 ** 30, pods: 58 },
    overhead: NO_OVERHEAD,
    offerings,
    capacityOverlays: [],
    attachLimits: undefined,
  };
}

const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };

export function nodePool(
  name: string,
  labels: Readonly<Record<string, string>> = {},
  requirements: readonly RequirementExpression[] = [],
): NodePool {
  const spec = { template: { metadata: { labels }, spec: { requirements, nodeClassRef } } };
  const decoded = decodeNodePool({ metadata: { name }, spec });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

export function nodeOverlay(name: string, spec: object): NodeOverlay {
  const decoded = decodeNodeOverlay({ metadata: { name }, spec: { requirements: [], ...spec } });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}
