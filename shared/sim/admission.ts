import { type Json, numberAt, objectAt, textAt } from './json.ts';
import type { ObjectStore } from './store.ts';

/** Classes that every cluster has. https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/ */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/**
 * What the API server's Priority admission does to a pod: its priority is that of its class, or of
 * the cluster's default class.
 */
export function withPriority(store: ObjectStore, pod: Json): Json {
  const name = textAt(pod, 'spec', 'priorityClassName');
  const priority = name === undefined ? defaultPriority(store) : priorityOf(store, name);
  if (priority === undefined) return pod;
  return { ...pod, spec: { ...objectAt(pod, 'spec'), priority } };
}

function priorityOf(store: ObjectStore, name: string): number | undefined {
  const found = store.get('PriorityClass', undefined, name);
  return found === undefined ? SYSTEM_CLASSES[name] : numberAt(found, 'value');
}

function defaultPriority(store: ObjectStore): number | undefined {
  const found = store.list('PriorityClass').find((each) => each['globalDefault'] === true);
  return found === undefined ? undefined : numberAt(found, 'value');
}
