import { deploymentFault } from '../api/kubernetes/deployment.ts';
import { RESOURCES } from '../api/resources.ts';
import type { ReplicaSetRef, RestartResult } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import { find } from './find.ts';
import { property, text, uidOf, versionOf } from './list.ts';

/** What `kubectl rollout restart` writes. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

/** The name of the Deployment that controls the ReplicaSet. */
function deploymentOf(set: unknown): string | undefined {
  const owners = property(property(set, 'metadata'), 'ownerReferences');
  const all: readonly unknown[] = Array.isArray(owners) ? owners : [];
  const owner = all.find(
    (each) => property(each, 'controller') === true && property(each, 'kind') === 'Deployment',
  );
  return owner === undefined ? undefined : text(property(owner, 'name'));
}

/** When the template of a Deployment or a ReplicaSet was last restarted, as it says; '' = never. */
function restartedAt(object: unknown): string {
  const template = property(property(object, 'spec'), 'template');
  return text(property(property(property(template, 'metadata'), 'annotations'), RESTARTED_AT));
}

interface Times {
  readonly sinceMs: number;
  readonly nowMs: number;
}

/** The Deployment's controller writes its status at any time. */
const ATTEMPTS_MAX = 4;

/**
 * Restarts the Deployment of the ReplicaSet unless somebody has since then, or since the ReplicaSet
 * was its newest: the pods of an older one go in any case, and a second restart would replace those
 * that come for them. With the version that was read, so that two restarts at once are one.
 */
export async function restartRollout(
  client: KubeClient,
  set: ReplicaSetRef,
  times: Times,
): Promise<RestartResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await restartOnce(client, set, times);
    } catch (error) {
      if (!isKubeFault(error, 'conflict') || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function restartOnce(
  client: KubeClient,
  { namespace, name, uid }: ReplicaSetRef,
  { sinceMs, nowMs }: Times,
): Promise<RestartResult> {
  const set = await find(client, RESOURCES.replicaSets, { namespace, name });
  const owner = uidOf(set) === uid ? deploymentOf(set) : undefined;
  if (owner === undefined) return 'none';
  const address = { namespace, name: owner };
  const deployment = await find(client, RESOURCES.deployments, address);
  if (deployment === undefined) return 'none';
  const fault = deploymentFault(deployment, address);
  if (fault !== undefined) return { fault };
  const last = restartedAt(deployment);
  if (Date.parse(last) >= sinceMs || last !== restartedAt(set)) return 'restarting';
  const restarted = { [RESTARTED_AT]: new Date(Math.max(sinceMs, nowMs)).toISOString() };
  const value = {
    metadata: { resourceVersion: versionOf(deployment) },
    spec: { template: { metadata: { annotations: restarted } } },
  };
  await client.patch(RESOURCES.deployments, address, { kind: 'merge', value });
  return 'restarted';
}
