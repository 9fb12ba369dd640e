import { ownValue } from '../core/model/labels.ts';
import { type Json, numberAt, objectAt, textAt } from './json.ts';
import type { ObjectStore } from './store.ts';

/** Classes that every cluster has. https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/ */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/**
 * What the API server's Priority admission does to a pod: its priority and whether it preempts are
 * those of its class, or of the cluster's default class.
 */
export function withPriority(store: ObjectStore, pod: Json): Json {
  const name = textAt(pod, 'spec', 'priorityClassName');
  const found = name === undefined ? defaultClass(store) : classOf(store, name);
  if (found?.priority === undefined) return pod;
  return { ...pod, spec: { ...objectAt(pod, 'spec'), ...found } };
}

/** What pods of a class get. */
interface PriorityClass {
  readonly priority?: number;
  readonly preemptionPolicy?: string;
}

function readClass(found: Json): PriorityClass {
  const [priority, preemptionPolicy] = [
    numberAt(found, 'value'),
    textAt(found, 'preemptionPolicy'),
  ];
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(preemptionPolicy === undefined ? {} : { preemptionPolicy }),
  };
}

function classOf(store: ObjectStore, name: string): PriorityClass | undefined {
  const found = store.get('PriorityClass', undefined, name);
  if (found !== undefined) return readClass(found);
  const priority = ownValue(SYSTEM_CLASSES, name);
  return priority === undefined ? undefined : { priority };
}

function defaultClass(store: ObjectStore): PriorityClass | undefined {
  const found = store.list('PriorityClass').find((each) => each['globalDefault'] === true);
  return found === undefined ? undefined : readClass(found);
}
