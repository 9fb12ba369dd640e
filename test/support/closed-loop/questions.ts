import { RESOURCES, type Resource } from '../../../shared/api/resources.ts';
import { property, text } from '../../../shared/kube/list.ts';

/** What a test asks about objects as the API server has them. */
interface Listing {
  list(resource: Resource): Promise<readonly unknown[]>;
}

export function nameOf(object: unknown): string {
  return text(property(property(object, 'metadata'), 'name'));
}

export function labelOf(object: unknown, label: string): string {
  return text(property(property(property(object, 'metadata'), 'labels'), label));
}

export function isDeleting(object: unknown): boolean {
  return property(property(object, 'metadata'), 'deletionTimestamp') !== undefined;
}

export function nodeNameOfPod(pod: unknown): string {
  return text(property(property(pod, 'spec'), 'nodeName'));
}

/** Pods of the label `app` that are not on their way out. */
export async function podsOf(loop: Listing, app?: string): Promise<readonly unknown[]> {
  const pods = await loop.list(RESOURCES.pods);
  return pods.filter((pod) => app === undefined || labelOf(pod, 'app') === app);
}

/** Pods of the namespace `default` that are bound and running. */
export async function runningPods(loop: Listing, app?: string): Promise<number> {
  const pods = await podsOf(loop, app);
  return pods.filter(
    (pod) => text(property(property(pod, 'status'), 'phase')) === 'Running' && !isDeleting(pod),
  ).length;
}

/** Pods for which kube-scheduler has looked for a node in vain. */
export async function unschedulablePods(loop: Listing, app?: string): Promise<number> {
  const pods = await podsOf(loop, app);
  return pods.filter((pod) => conditionOf(pod, 'PodScheduled')?.reason === 'Unschedulable').length;
}

/** Nodes of NodePools, perhaps of one only. */
export async function ourNodes(loop: Listing, pool?: string): Promise<readonly unknown[]> {
  const nodes = await loop.list(RESOURCES.nodes);
  return nodes.filter((node) => {
    const label = labelOf(node, 'karpenter.sh/nodepool');
    return pool === undefined ? label !== '' : label === pool;
  });
}

/** The nodes that carry an app's pods, by name. */
export async function nodesOf(loop: Listing, app?: string): Promise<ReadonlyMap<string, unknown>> {
  const pods = await podsOf(loop, app);
  const used = new Set(pods.filter((pod) => !isDeleting(pod)).map(nodeNameOfPod));
  const nodes = await ourNodes(loop);
  const named = nodes.map((node) => [nameOf(node), node] as const);
  return new Map(named.filter(([name]) => used.has(name)));
}

export async function claimsOf(loop: Listing, pool?: string): Promise<readonly unknown[]> {
  const claims = await loop.list(RESOURCES.nodeClaims);
  return claims.filter(
    (claim) => pool === undefined || labelOf(claim, 'karpenter.sh/nodepool') === pool,
  );
}

export interface SeenCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export function conditionOf(object: unknown, type: string): SeenCondition | undefined {
  const conditions = property(property(object, 'status'), 'conditions');
  const list: readonly unknown[] = Array.isArray(conditions) ? conditions : [];
  const found = list.find((each) => property(each, 'type') === type);
  if (found === undefined) return undefined;
  const [status = '', reason = '', message = ''] = ['status', 'reason', 'message'].map((name) =>
    text(property(found, name)),
  );
  return { status, reason, message };
}

export interface SeenEvent {
  readonly object: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

/** Events that the functions have written; `object` is `Kind/name`. */
export async function eventsOf(loop: Listing): Promise<readonly SeenEvent[]> {
  const events = await loop.list(RESOURCES.events);
  return events
    .filter((each) => text(property(property(each, 'source'), 'component')).startsWith('joiner-'))
    .map((each) => {
      const regarding = property(each, 'involvedObject');
      return {
        object: `${text(property(regarding, 'kind'))}/${text(property(regarding, 'name'))}`,
        type: text(property(each, 'type')),
        reason: text(property(each, 'reason')),
        message: text(property(each, 'message')),
      };
    });
}

export function instanceIdOfNode(node: unknown): string {
  return (
    text(property(property(node, 'spec'), 'providerID'))
      .split('/')
      .at(-1) ?? ''
  );
}
