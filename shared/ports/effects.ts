import type { Compute, Profiles } from './cloud.ts';
import type { ClusterReader, ClusterWriter } from './cluster.ts';

/** What a call of a port does: `event` tells people something and changes nothing else. */
export type Effect = 'read' | 'event' | 'write';

type Effects<Port> = Readonly<Record<keyof Port, Effect>>;

/** What each call does, so that guards know which to check. A call without a line does not compile. */
export const CLUSTER_EFFECTS: Effects<ClusterReader & ClusterWriter> = {
  read: 'read',
  readClaims: 'read',
  readNode: 'read',
  readNodePoolNotes: 'read',
  wantedPods: 'read',
  podUsage: 'read',
  followWaitingPods: 'read',
  isWarm: 'read',
  karpenterRenewedAtMs: 'read',
  pausedUntilMs: 'read',
  createNodeClaim: 'write',
  patchNodeClaim: 'write',
  patchNodeClaimStatus: 'write',
  patchNodePool: 'write',
  patchNodePoolStatus: 'write',
  patchNodeOverlayStatus: 'write',
  patchNodeClass: 'write',
  patchNodeClassStatus: 'write',
  patchCapacityBufferStatus: 'write',
  patchNode: 'write',
  delete: 'write',
  nominate: 'write',
  evict: 'write',
  restartRollout: 'write',
  deletePod: 'write',
  event: 'event',
};

export const COMPUTE_EFFECTS: Effects<Compute> = {
  launch: 'write',
  list: 'read',
  describe: 'read',
  spotRequests: 'read',
  terminate: 'write',
  tag: 'write',
  statuses: 'read',
  removeLaunchTemplates: 'write',
  check: 'read',
};

export const PROFILES_EFFECTS: Effects<Profiles> = { ensure: 'write', remove: 'write' };
