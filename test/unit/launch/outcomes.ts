import { launchOutcomes } from '../../../shared/core/launch/launch-outcomes.ts';
import { launchedForText, PodGroups } from '../../../shared/core/launch/pod-groups.ts';
import { LAUNCHED_FOR } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, nodeOf, podOf } from '../../builders/scheduling.ts';

export const SECOND = 1000;
export const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'web' };
/** Selects nodes that the node of the claim is none of. */
export const nodeSelector = { team: 'a' };
export const web = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, { nodeSelector }, { controller, createdAtMs: 100 * SECOND, ...rest });
/** For these the node lacks nothing. */
export const fitting = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(name, {}, { controller, createdAtMs: 100 * SECOND, ...rest });

export function launchedForWeb(marks = {}): Readonly<Record<string, string>> {
  const groups = new PodGroups().of(web('any')).map((group) => ({ ...group, ...marks }));
  return { [LAUNCHED_FOR]: launchedForText('ways', groups) ?? '' };
}

/** Written at 100 s for the pods of the ReplicaSet; its node has joined at 150 s. */
export function claim(rest: Partial<NodeClaim> = {}): NodeClaim {
  return claimOf('c', {
    createdAtMs: 100 * SECOND,
    providerId: 'aws:///a/i-1',
    annotations: launchedForWeb(),
    conditions: [
      {
        type: 'Initialized',
        status: 'True',
        reason: 'Initialized',
        message: '',
        lastTransitionAtMs: 150 * SECOND,
      },
    ],
    ...rest,
  });
}

export const node = nodeOf('n', 2, 8, { providerId: 'aws:///a/i-1' });
export const there = { nodeName: 'n', startedAtMs: 151 * SECOND };

export function outcomes(pods: readonly Pod[], nowS = 160, nodeClaims = [claim()], nodes = [node]) {
  return launchOutcomes({ nodeClaims, nodes, pods }, new PodGroups(), nowS * SECOND);
}
