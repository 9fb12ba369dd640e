import { RESOURCES, type Resource } from '../api/resources.ts';
import type { KubeClient } from './client.ts';
import { property, type Selection, text } from './list.ts';
import { watchOnce } from './watch.ts';

export interface BatchWindow {
  /** The batch is complete when no pod came for so long. */
  readonly idleMs: number;
  /** But it never waits longer than this. */
  readonly maxMs: number;
}

/** Thousands may have waited for long, and owners are in the metadata. */
const PENDING: Selection = {
  resource: RESOURCES.pods,
  fieldSelector: 'spec.nodeName=',
  metadataOnly: true,
};

/** A map: the kind of an owner is whatever a pod says. */
const WORKLOADS: ReadonlyMap<string, Resource> = new Map([
  ['ReplicaSet', RESOURCES.replicaSets],
  ['StatefulSet', RESOURCES.statefulSets],
]);

/** Owners that are looked at; more of them are not worth the requests. */
const OWNERS_MAX = 20;

/**
 * Waits until pods stop coming, so that a rollout is planned whole: as long as an owner of pending
 * pods has made fewer pods than it wants, the window stays open up to its maximum.
 */
export async function batchWindow(client: KubeClient, window: BatchWindow): Promise<void> {
  const { timing } = client;
  const startMs = timing.nowMs();
  const over = new AbortController();
  const owners = new Map<string, Owner>();
  let lastMs = startMs;
  const watching = noticePods(client, over.signal, (owner) => {
    lastMs = timing.nowMs();
    if (owner !== undefined && owners.size < OWNERS_MAX) owners.set(owner.key, owner);
  });
  try {
    for (;;) {
      const nowMs = timing.nowMs();
      const endMs = Math.min(startMs + window.maxMs, lastMs + window.idleMs);
      if (nowMs < endMs) {
        await timing.sleep(endMs - nowMs);
        continue;
      }
      if (nowMs >= startMs + window.maxMs) return;
      if (!(await anyIsGrowing(client, owners.values()))) return;
      lastMs = timing.nowMs();
    }
  } finally {
    over.abort();
    await watching;
  }
}

interface Owner {
  readonly key: string;
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

function ownerOf(pod: unknown): Owner | undefined {
  const metadata = property(pod, 'metadata');
  const references = property(metadata, 'ownerReferences');
  for (const each of Array.isArray(references) ? references : []) {
    const kind = text(property(each, 'kind'));
    const resource = WORKLOADS.get(kind);
    if (resource === undefined || property(each, 'controller') !== true) continue;
    const namespace = text(property(metadata, 'namespace'));
    const name = text(property(each, 'name'));
    return { key: `${kind}/${namespace}/${name}`, resource, namespace, name };
  }
  return undefined;
}

/** Without a resourceVersion the watch begins with the pods that are there. */
async function noticePods(
  client: KubeClient,
  signal: AbortSignal,
  notice: (owner: Owner | undefined) => void,
): Promise<void> {
  try {
    for await (const event of watchOnce(client, PENDING, { resourceVersion: '', signal })) {
      if (event.kind === 'added') notice(ownerOf(event.object));
    }
  } catch {
    // The window then closes by its times alone; whoever reads the cluster next meets the fault.
  }
}

async function anyIsGrowing(client: KubeClient, owners: Iterable<Owner>): Promise<boolean> {
  const growing = await Promise.all(Array.from(owners, (owner) => isGrowing(client, owner)));
  return growing.includes(true);
}

async function isGrowing(
  client: KubeClient,
  { resource, namespace, name }: Owner,
): Promise<boolean> {
  try {
    const object = await client.get(resource, { namespace, name });
    const wanted = property(property(object, 'spec'), 'replicas');
    const made = property(property(object, 'status'), 'replicas');
    return Number(made ?? 0) < Number(wanted ?? 1);
  } catch {
    // Gone, or no owner that there could be: a pod may name anything. As with the watch, a fault of
    // the server is met by whoever reads the cluster next.
    return false;
  }
}
