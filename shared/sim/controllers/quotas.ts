import { quotaDemand, quotaResource, type ResourceQuota } from '../../core/model/resource-quota.ts';
import { addResources, amountOf, type Resources } from '../../core/model/resources.ts';
import { formatResources } from '../../core/quantity.ts';
import { decodeNewPod, decodePodObject, decodeQuotaObject } from '../decode.ts';
import { type Json, objectAt, textAt } from '../json.ts';
import { isOver, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';

/** Counts pods also when they are over. */
const ALL_PODS = 'count/pods';

function quotasOf(store: ObjectStore, namespace: string): readonly KubeObject[] {
  return store.list('ResourceQuota').filter(({ metadata }) => metadata.namespace === namespace);
}

/** What the quota counts of the pod; what a pod does not say that came before the quota is 0. */
function usedBy(quota: ResourceQuota, object: KubeObject): Resources {
  const demand = Object.entries(quotaDemand(quota, decodePodObject(object).spec) ?? {});
  const counted = isOver(object) ? demand.filter(([name]) => name === ALL_PODS) : demand;
  return Object.fromEntries(counted.filter(([, amount]) => Number.isFinite(amount)));
}

/** In the units of what each name counts. */
function texts(amounts: Resources): Json {
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      const resource = quotaResource(name) ?? name;
      return [name, formatResources({ [resource]: amount })[resource]];
    }),
  );
}

function say(store: ObjectStore, object: KubeObject, used: Resources): void {
  const hard = objectAt(object, 'spec', 'hard');
  store.update(object, (latest) => withStatus(latest, { hard, used: texts(used) }));
}

/** What the quota's controller does: it counts the pods that there are. */
export function reconcileQuota(store: ObjectStore, object: KubeObject): void {
  const quota = decodeQuotaObject(object);
  const none = Object.fromEntries(Object.keys(quota.hard).map((name) => [name, 0]));
  const used = store
    .podsIn(quota.namespace)
    .reduce<Resources>((sum, pod) => addResources(sum, usedBy(quota, pod)), none);
  say(store, object, used);
}

/** Names of the quota's amounts that the pod does not fit into. */
function exceeded({ hard, used }: ResourceQuota, demand: Resources): readonly string[] {
  return Object.entries(demand).flatMap(([name, amount]) =>
    amount > 0 && amountOf(used, name) + amount > amountOf(hard, name) ? [name] : [],
  );
}

/**
 * What the API server's admission does with a new pod: it is refused where a ResourceQuota of its
 * namespace has no room, and else counted at once. What has ended is free again only when the
 * quota's controller has looked. https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export function isWithinQuotas(store: ObjectStore, pod: Json): boolean {
  const objects = quotasOf(store, textAt(pod, 'metadata', 'namespace') ?? 'default');
  if (objects.length === 0) return true;
  const { spec } = decodeNewPod(pod);
  const counted = objects.flatMap((object) => {
    const quota = decodeQuotaObject(object);
    const demand = quotaDemand(quota, spec);
    return demand === undefined ? [] : [{ object, quota, demand }];
  });
  if (counted.some(({ quota, demand }) => exceeded(quota, demand).length > 0)) return false;
  for (const { object, quota, demand } of counted) {
    say(store, object, addResources(quota.used, demand));
  }
  return true;
}
