import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { launchTags } from '../../shared/core/launch/launch-request.ts';
import { sha256 } from '../../shared/core/launch/sha256.ts';
import type {
  CapacityReservation,
  NodeClass,
  NodeClassStatus,
} from '../../shared/core/model/node-class.ts';
import type { FleetOverride, FleetRequest } from '../../shared/ports/cloud.ts';

const SPEC = {
  role: 'nodes',
  amiSelectorTerms: [{ alias: 'al2023@latest' }],
  subnetSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  securityGroupSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
};

/** With room for whoever asks; of its free instances the catalog's environment tells. */
export function aReservation(zone: string): CapacityReservation {
  return {
    id: 'cr-1',
    instanceType: 'm5.large',
    zone,
    ownerID: '123456789012',
    instanceMatchCriteria: 'open',
    reservationType: 'default',
    interruptible: false,
    state: 'active',
    endsAtMs: undefined,
  };
}

/** A resolved class, as the API server would hand it out. */
export function aNodeClass(
  spec: Readonly<Record<string, unknown>> = {},
  status: Partial<NodeClassStatus> = {},
): NodeClass {
  const metadata = { name: 'default', uid: 'class-uid', generation: 1 };
  const apiVersion = 'karpenter.k8s.aws/v1';
  const object = { apiVersion, kind: 'EC2NodeClass', metadata, spec: { ...SPEC, ...spec } };
  const decoded = decodeEC2NodeClass(object);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return {
    ...decoded.value,
    status: {
      ...decoded.value.status,
      securityGroups: [{ id: 'sg-0000000000000000a', name: 'demo-nodes' }],
      instanceProfile: 'demo_profile',
      ...status,
    },
  };
}

export const IMAGE = 'ami-0000000000000000a';

export function anOverride(
  instanceType: string,
  letter: string,
  priority: number,
  changes: Partial<FleetOverride> = {},
): FleetOverride {
  return {
    instanceType,
    zone: `us-east-1${letter}`,
    subnetId: `subnet-0000000000000000${letter}`,
    imageId: IMAGE,
    reservationId: undefined,
    priority,
    ...changes,
  };
}

export function aFleet(
  changes: Partial<FleetRequest> & { readonly count?: number } = {},
): FleetRequest {
  const { count = 1, ...rest } = changes;
  const claims = Array.from({ length: count }, (_, at) => ({
    name: `default-${at}`,
    uid: `claim-${at}`,
  }));
  const nodeClass = rest.nodeClass ?? aNodeClass();
  const clientToken = rest.clientToken ?? sha256(claims.map(({ uid }) => uid).join(','));
  return {
    clientToken,
    claims,
    nodePool: 'default',
    nodeClass,
    capacityType: 'on-demand',
    reservationType: undefined,
    strategy: 'lowest-price',
    overrides: [anOverride('c7g.large', 'a', 0.07)],
    tags: launchTags(nodeClass, 'default', 'demo', clientToken),
    nodeLabels: { 'karpenter.sh/nodepool': 'default', 'karpenter.sh/capacity-type': 'on-demand' },
    taints: [],
    podsMax: {},
    requests: { cpu: 1000 },
    sendContext: true,
    ...rest,
  };
}
