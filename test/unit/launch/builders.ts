import type { Node } from '../../../shared/core/model/cluster.ts';
import type { CapacityReservation } from '../../../shared/core/model/node-class.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, PLAIN_SPEC } from '../../builders/scheduling.ts';

export function aNodeClaim(changes: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('default-abcde', {
    uid: 'claim-uid',
    labels: { 'karpenter.sh/nodepool': 'default' },
    finalizers: ['karpenter.sh/termination'],
    requests: { cpu: 1000 },
    ...changes,
  });
}

/** A Capacity Block that is about to end. */
export const ENDING_BLOCK: CapacityReservation = {
  id: 'cr-1',
  instanceType: 'p5.48xlarge',
  zone: 'us-east-1a',
  ownerID: '',
  instanceMatchCriteria: 'targeted',
  reservationType: 'capacity-block',
  interruptible: false,
  state: 'expiring',
  endsAtMs: Date.UTC(2026, 0, 1),
};

export function aNode(changes: Partial<Node> = {}): Node {
  return {
    name: 'node-1',
    uid: 'node-uid',
    labels: { 'karpenter.sh/nodepool': 'default' },
    annotations: {},
    createdAtMs: 0,
    deletedAtMs: undefined,
    providerId: 'aws:///us-east-1a/i-0123456789abcdef0',
    taints: [],
    capacity: { cpu: 4000 },
    allocatable: { cpu: 3900 },
    conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAtMs: 0 }],
    ...changes,
  };
}

export function aPod(changes: Partial<Pod> = {}, spec: Partial<Pod['spec']> = {}): Pod {
  return {
    namespace: 'default',
    name: 'web',
    uid: 'pod-uid',
    labels: {},
    annotations: {},
    createdAtMs: 0,
    startedAtMs: 0,
    deletedAtMs: undefined,
    spec: { ...PLAIN_SPEC, requests: { cpu: 1000, pods: 1 }, ...spec },
    nodeName: 'node-1',
    nominatedNodeName: undefined,
    phase: 'Running',
    unschedulable: false,
    ready: true,
    isMirror: false,
    controller: undefined,
    ...changes,
  };
}
