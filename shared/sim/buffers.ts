import type { BufferReference, NamedBuffer } from '../api/capacity-buffer.ts';
import { withLimitRanges } from '../api/kubernetes/limit-range.ts';
import { PodSpecReader } from '../api/kubernetes/pod-spec.ts';
import type { BufferTarget, CapacityBuffer } from '../ports.ts';
import { limitRangesOf } from './admission.ts';
import { numberAt, textsAt, valueAt } from './json.ts';
import type { KubeObject, ObjectStore } from './store.ts';

const specs = new PodSpecReader();

/** The template's pods, wherever in the object it is. */
function resolved(
  store: ObjectStore,
  object: KubeObject,
  template: unknown,
  podTemplate: string | undefined,
  workloadReplicas: number | undefined,
): BufferTarget {
  const ranges = limitRangesOf(store, object.metadata.namespace);
  const { spec } = specs.read(withLimitRanges(valueAt(template, 'spec'), ranges), 'spec');
  return {
    kind: 'resolved',
    podTemplate,
    podTemplateGeneration: podTemplate === undefined ? undefined : object.metadata.generation,
    podLabels: textsAt(template, 'metadata', 'labels'),
    podSpec: spec,
    workloadReplicas,
  };
}

function targetOf(store: ObjectStore, namespace: string, target: BufferReference): BufferTarget {
  const { name } = target;
  if (target.kind === 'PodTemplate') {
    const template = store.get('PodTemplate', namespace, name);
    if (template === undefined) return { kind: 'absent', what: 'PodTemplate', name };
    return resolved(store, template, template['template'], name, undefined);
  }
  if (target.kind === 'Unsupported') {
    return { kind: 'absent', what: 'ScalableRef', name, refusal: target.message };
  }
  const object = store.get(target.workload, namespace, name);
  if (object === undefined) return { kind: 'absent', what: 'ScalableRef', name };
  const replicas = numberAt(object, 'spec', 'replicas') ?? 1;
  return resolved(store, object, valueAt(object, 'spec', 'template'), undefined, replicas);
}

/** The buffer with what it refers to, as the cluster adapter reads it. */
export function bufferOf(store: ObjectStore, buffer: NamedBuffer): CapacityBuffer {
  return { ...buffer, target: targetOf(store, buffer.namespace, buffer.target) };
}
