import {
  decodeLimitRange,
  type LimitRange,
  withLimitRanges,
} from '../api/kubernetes/limit-range.ts';
import { ownValue } from '../core/model/labels.ts';
import { type Json, listAt, numberAt, objectAt, textAt, valueAt } from './json.ts';
import type { ObjectStore } from './store.ts';

/** A change that an admission webhook of the cluster makes to each new pod. */
export type PodWebhook = (pod: Json) => Json;

/** The LimitRanges of a namespace, or of the namespace `default`. */
export function limitRangesOf(
  store: ObjectStore,
  namespace: string | undefined,
): readonly LimitRange[] {
  const own = store
    .list('LimitRange')
    .filter(({ metadata }) => metadata.namespace === (namespace ?? 'default'));
  return own.flatMap((each) => {
    const decoded = decodeLimitRange(each);
    return decoded.ok ? [decoded.value] : [];
  });
}

/** What the admission plugins make of a new pod: RuntimeClass, LimitRanger, Priority, webhooks. */
export function admittedPod(
  store: ObjectStore,
  pod: Json,
  webhooks: readonly PodWebhook[] = [],
): Json {
  const ranges = limitRangesOf(store, textAt(pod, 'metadata', 'namespace'));
  const classed = withRuntimeClass(store, pod);
  const limited =
    ranges.length === 0
      ? classed
      : { ...classed, spec: withLimitRanges(objectAt(classed, 'spec'), ranges) };
  return webhooks.reduce((each, webhook) => webhook(each), withPriority(store, limited));
}

/**
 * What the RuntimeClass admission does to a pod: it has the overhead of its class, and what the
 * class says of nodes. https://kubernetes.io/docs/concepts/containers/runtime-class/
 */
function withRuntimeClass(store: ObjectStore, pod: Json): Json {
  const name = textAt(pod, 'spec', 'runtimeClassName');
  const found = name === undefined ? undefined : store.get('RuntimeClass', undefined, name);
  if (found === undefined) return pod;
  const spec = objectAt(pod, 'spec');
  const overhead = valueAt(found, 'overhead', 'podFixed');
  const nodeSelector = objectAt(found, 'scheduling', 'nodeSelector');
  const tolerations = listAt(found, 'scheduling', 'tolerations');
  return {
    ...pod,
    spec: {
      ...(overhead === undefined ? {} : { overhead }),
      ...spec,
      nodeSelector: { ...objectAt(spec, 'nodeSelector'), ...nodeSelector },
      tolerations: [...listAt(spec, 'tolerations'), ...tolerations],
    },
  };
}

/** Classes that every cluster has. https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/ */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};

/**
 * What the API server's Priority admission does to a pod: its priority and whether it preempts are
 * those of its class, or of the cluster's default class.
 */
function withPriority(store: ObjectStore, pod: Json): Json {
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
