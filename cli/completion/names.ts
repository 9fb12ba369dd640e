import { RESOURCES, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { contextsOf } from '../../shared/kube/kubeconfig.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import { connect } from '../connect.ts';
import type { Named, NamesOf } from './completions.ts';

/** A person waits at a prompt. */
const PATIENCE_MS = 2_000;

const RESOURCE_OF: Readonly<Record<Exclude<Named, 'context'>, Resource>> = {
  namespace: RESOURCES.namespaces,
  node: RESOURCES.nodes,
  nodeclaim: RESOURCES.nodeClaims,
  nodeoverlay: RESOURCES.nodeOverlays,
  nodepool: RESOURCES.nodePools,
  pod: RESOURCES.pods,
};

async function listed(
  client: KubeClient,
  resource: Resource,
  namespace: string | undefined,
): Promise<readonly string[]> {
  const names: string[] = [];
  const start = (): void => {
    names.length = 0;
  };
  const object = (each: unknown): void => {
    names.push(text(property(property(each, 'metadata'), 'name')));
  };
  const within = namespace === undefined ? {} : { namespace };
  const selection = { resource, metadataOnly: true, ...within };
  await listEach(client, selection, { start, object }, AbortSignal.timeout(PATIENCE_MS));
  return names;
}

/**
 * Names of a kubeconfig's contexts and of a cluster's objects. At a prompt nothing can be said: a
 * cluster that does not answer within two seconds, or refuses, has no names.
 */
export const clusterNames: NamesOf = async (kinds, { namespace, ...options }) => {
  try {
    if (kinds.includes('context')) return contextsOf(options.kubeconfig);
    const { client, ...context } = await connect('joiner-complete', options);
    try {
      const names: string[] = [];
      for (const kind of kinds) {
        if (kind === 'context') continue;
        const within = kind === 'pod' ? (namespace ?? context.namespace) : undefined;
        names.push(...(await listed(client, RESOURCE_OF[kind], within)));
      }
      return [...new Set(names)].sort();
    } finally {
      await client.close();
    }
  } catch {
    return [];
  }
};
