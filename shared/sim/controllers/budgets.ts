import { listAt, numberAt, textAt, textsAt, valueAt } from '../json.ts';
import { conditionStatus, isDeleting, isOver, phaseOf, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';

/** Whether an API label selector means the labels; null selects nothing, {} everything. */
export function selectorMeans(
  selector: unknown,
  labels: Readonly<Record<string, string>>,
): boolean {
  if (selector === undefined || selector === null) return false;
  const required = Object.entries(textsAt(selector, 'matchLabels'));
  if (!required.every(([key, value]) => labels[key] === value)) return false;
  return listAt(selector, 'matchExpressions').every((expression) => {
    const value = labels[textAt(expression, 'key') ?? ''];
    const values = listAt(expression, 'values');
    switch (textAt(expression, 'operator')) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}

function coveredPods(store: ObjectStore, budget: KubeObject): readonly KubeObject[] {
  return store
    .podsIn(budget.metadata.namespace ?? '')
    .filter(
      (pod) =>
        !isOver(pod) && selectorMeans(valueAt(budget, 'spec', 'selector'), pod.metadata.labels),
    );
}

/** A number, or a share of all rounded up, as the disruption controller reads both. */
function amountOf(value: unknown, total: number): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  return percent === undefined ? Number(value) : Math.ceil((Number(percent) * total) / 100);
}

function isHealthy(pod: KubeObject): boolean {
  return conditionStatus(pod, 'Ready') === 'True' && !isDeleting(pod);
}

/** What the disruption controller counts. */
function statusOf(store: ObjectStore, budget: KubeObject) {
  const pods = coveredPods(store, budget);
  const currentHealthy = pods.filter(isHealthy).length;
  const expectedPods = expectedCount(store, pods);
  const unavailable = amountOf(valueAt(budget, 'spec', 'maxUnavailable'), expectedPods);
  const available = amountOf(valueAt(budget, 'spec', 'minAvailable'), expectedPods);
  const needed = unavailable === undefined ? (available ?? 1) : expectedPods - unavailable;
  const desiredHealthy = Math.max(0, needed);
  const disruptionsAllowed = Math.max(0, currentHealthy - desiredHealthy);
  return { currentHealthy, desiredHealthy, disruptionsAllowed, expectedPods };
}

/** Replicas that the owners want; pods without an owner count as they are. */
function expectedCount(store: ObjectStore, pods: readonly KubeObject[]): number {
  const owners = new Map<string, number>();
  let alone = 0;
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences.find((each) => each.controller);
    const object = owner && store.get(owner.kind, pod.metadata.namespace, owner.name);
    if (object === undefined) alone += 1;
    else owners.set(object.metadata.uid, numberAt(object, 'spec', 'replicas') ?? 1);
  }
  return alone + [...owners.values()].reduce((sum, each) => sum + each, 0);
}

export function reconcileBudget(store: ObjectStore, budget: KubeObject): void {
  const status = statusOf(store, budget);
  store.update(budget, (latest) => withStatus(latest, status));
}

/** What the eviction API answers for this pod. */
export function mayEvict(store: ObjectStore, pod: KubeObject): boolean {
  const budgets = store
    .list('PodDisruptionBudget')
    .filter(
      (each) =>
        each.metadata.namespace === pod.metadata.namespace &&
        selectorMeans(valueAt(each, 'spec', 'selector'), pod.metadata.labels),
    );
  // What does not run, or is on its way out, no budget keeps.
  if (budgets.length === 0 || phaseOf(pod) !== 'Running' || isDeleting(pod)) return true;
  const [budget, second] = budgets;
  // The API refuses a pod that several budgets cover.
  if (budget === undefined || second !== undefined) return false;
  const policy = textAt(budget, 'spec', 'unhealthyPodEvictionPolicy');
  if (!isHealthy(pod) && policy === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = statusOf(store, budget);
  // Where enough others are healthy, one that is not goes without being counted.
  const isEnough = desiredHealthy > 0 && currentHealthy >= desiredHealthy;
  return disruptionsAllowed > 0 || (!isHealthy(pod) && isEnough);
}
