import { type Karpenter, karpenterOf } from '../../../cli/handover/karpenter.ts';
import type { KarpenterLeaseState } from '../../../cli/handover/lease.ts';
import type { Position } from '../../../cli/handover/walk.ts';
import { resumeData } from '../../../cli/pauses.ts';
import { PAUSE_SCOPES } from '../../../shared/api/pauses.ts';
import { decodeSettings } from '../../../shared/api/stack-settings.ts';
import { stackSettings } from '../../../shared/app/settings.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { aNodeClass } from '../../builders/launches.ts';
import { snapshotOf, yes } from '../../builders/scheduling.ts';
import { karpenterDeployment } from '../../support/karpenter/deployment.ts';

export const NOW_MS = Date.UTC(2026, 0, 2);

/** A cluster with a class that is ready, and these objects. */
export function clusterState(
  objects: Parameters<typeof snapshotOf>[0] = {},
  more: Partial<ClusterState> = {},
): ClusterState {
  const { instanceTypes: _, ...rest } = snapshotOf(objects);
  return {
    objects: rest,
    nodeClasses: [aNodeClass({}, { conditions: yes('Ready') })],
    nodeOverlayConditions: new Map(),
    nodePoolUsage: new Map(),
    capacityBuffers: [],
    resourceQuotas: [],
    volumeAttachments: [],
    resourceVersions: new Map(),
    pausedUntilMs: {},
    karpenterRenewedAtMs: undefined,
    ...more,
  };
}

/** Karpenter as its chart installs it. */
export function karpenter(
  env: Readonly<Record<string, string>> = {},
  change: Partial<Karpenter> = {},
): Karpenter {
  const found = karpenterOf(karpenterDeployment('1.14.1', 2, env));
  if (found === undefined) throw new Error('the Deployment is not seen as that of Karpenter');
  return { ...found, ...change };
}

export const LEASE: KarpenterLeaseState = {
  namespace: 'kube-system',
  holder: 'karpenter-0',
  renewedAtMs: NOW_MS - 2_000,
  lastsMs: 15_000,
};

/** Karpenter runs, and no hand-over has begun. */
export function positionWith(change: Partial<Position> = {}): Position {
  return {
    nowMs: NOW_MS,
    record: undefined,
    pauses: resumeData(PAUSE_SCOPES),
    karpenter: karpenter(),
    pods: [{ name: 'karpenter-0', isReady: true }],
    lease: LEASE,
    isJoinerPassive: true,
    state: clusterState(),
    ...change,
  };
}

/** Settings of a stack, by the names of its variables. */
export function stackWith(data: Readonly<Record<string, string>> = {}) {
  const decoded = decodeSettings(data);
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return stackSettings(decoded.value);
}
