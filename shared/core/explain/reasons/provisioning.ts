import {
  count,
  type Definitions,
  NONE,
  offering,
  price,
  tallies,
  text,
  texts,
} from '../parameters.ts';

/** What `provision` does and does not do. */
export const PROVISIONING = {
  'nodeclaim-planned': {
    meaning: 'A NodeClaim was written for pending pods: the cheapest launch that the plan found.',
    remedy: 'Nothing. `joiner explain pod` shows the alternatives.',
    parameters: {
      chosen: offering('what it is expected to be launched as'),
      pods: count('pending pods'),
      bufferPods: count('replicas of CapacityBuffers'),
      expectedPods: count('pods that a ReplicaSet has not created yet'),
      overlays: texts('NodeOverlays that changed the price or the capacity'),
    },
  },
  'only-offering': {
    meaning: 'No other offering has room for the pods of the NodeClaim.',
    remedy: 'Allow more types, zones or capacity types: an offering may be unavailable.',
    parameters: NONE,
  },
  'runner-up': {
    meaning: 'The best offering that was not chosen, and its additional cost per hour.',
    remedy: 'Nothing.',
    parameters: {
      other: offering('the offering'),
      difference: price('its additional cost per hour; 0: the same cost, and a later name'),
    },
  },
  'pod-nominated': {
    meaning: 'The plan expects the pod on this node or NodeClaim.',
    remedy: 'Wait for the node.',
    parameters: { target: text('`node/name` or `nodeclaim/name`') },
  },
  'karpenter-runs': {
    meaning: 'Karpenter renews its Lease karpenter-leader-election, so Joiner only reads.',
    remedy: 'Scale Karpenter to zero if Joiner should act.',
    parameters: NONE,
  },
  'launches-paused': {
    meaning: 'An operator has paused launches.',
    remedy: '`joiner resume launch`.',
    parameters: NONE,
  },
  'static-surplus': {
    meaning:
      'The static NodePool has more nodes than spec.replicas. Nodes that were not launched are deleted first, then the ones with the fewest pods; protected ones last.',
    remedy: 'Nothing, or raise spec.replicas.',
    parameters: {
      nodePool: text('the NodePool'),
      nodes: count('its nodes'),
      replicas: count('spec.replicas'),
    },
  },
  'static-nodes-wait': {
    meaning: 'Some nodes of spec.replicas of the NodePool cannot be launched now.',
    remedy:
      'Widen the requirements of the NodePool, or wait: `joiner bars` lists unavailable offerings with their expiry.',
    parameters: { missing: count('missing nodes'), why: text('why none can be launched') },
  },
  'nothing-pending': {
    meaning: 'No pod is pending.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pods-fit-existing-nodes': {
    meaning:
      'The pending pods have room on existing nodes, or on nodes that are not initialized yet.',
    remedy: 'Wait for kube-scheduler.',
    parameters: { pods: count('pending pods'), nodes: count('nodes that have room for them') },
  },
  unchanged: {
    meaning: 'A pass changed nothing, for these reasons. Recorded once, until the reasons change.',
    remedy: 'See each reason.',
    parameters: { reasons: tallies('the reasons, the most frequent first') },
  },
} as const satisfies Definitions;
