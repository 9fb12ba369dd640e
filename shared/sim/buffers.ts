import { PodSpecReader } from '../api/kubernetes/pod-spec.ts';
import type { Condition } from '../core/model/cluster.ts';
import { parseResources } from '../core/quantity.ts';
import type { BufferTarget, CapacityBuffer } from '../ports.ts';
import { numberAt, objectAt, textAt, textsAt, valueAt } from './json.ts';
import type { KubeObject, ObjectStore } from './store.ts';

const specs = new PodSpecReader();

const ACTIVE = 'buffer.x-k8s.io/active-capacity';

/** The template's pods, wherever in the object it is. */
function resolved(
  object: KubeObject,
  template: unknown,
  podTemplate: string | undefined,
  workloadReplicas: number | undefined,
): BufferTarget {
  const { spec } = specs.read(valueAt(template, 'spec'), 'spec');
  return {
    kind: 'resolved',
    podTemplate,
    podTemplateGeneration: podTemplate === undefined ? undefined : object.metadata.generation,
    podLabels: textsAt(template, 'metadata', 'labels'),
    podSpec: spec,
    workloadReplicas,
  };
}

function targetOf(store: ObjectStore, buffer: KubeObject): BufferTarget {
  const { namespace } = buffer.metadata;
  const name = textAt(buffer, 'spec', 'podTemplateRef', 'name');
  if (name !== undefined) {
    const template = store.get('PodTemplate', namespace, name);
    if (template === undefined) return { kind: 'absent', what: 'PodTemplate', name };
    return resolved(template, template['template'], name, undefined);
  }
  const kind = textAt(buffer, 'spec', 'scalableRef', 'kind') ?? '';
  const workload = textAt(buffer, 'spec', 'scalableRef', 'name') ?? '';
  const object = store.get(kind, namespace, workload);
  if (object === undefined) return { kind: 'absent', what: 'ScalableRef', name: workload };
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  return resolved(object, valueAt(object, 'spec', 'template'), undefined, replicas);
}

/** The buffer with what it refers to, as the cluster adapter reads it. */
export function bufferOf(
  store: ObjectStore,
  buffer: KubeObject,
  conditions: readonly Condition[],
): CapacityBuffer {
  const { name, namespace = 'default', uid, generation } = buffer.metadata;
  const limits = Object.entries(objectAt(buffer, 'spec', 'limits')).map(
    ([key, amount]) => [key, String(amount)] as const,
  );
  return {
    namespace,
    name,
    uid,
    generation,
    provisioningStrategy: textAt(buffer, 'spec', 'provisioningStrategy') ?? ACTIVE,
    replicas: numberAt(buffer, 'spec', 'replicas'),
    percentage: numberAt(buffer, 'spec', 'percentage'),
    limits: parseResources(Object.fromEntries(limits)).resources,
    target: targetOf(store, buffer),
    conditions,
  };
}
