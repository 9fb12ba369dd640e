import type { BufferTarget, CapacityBuffer } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import type { BufferReference, ClusterDecoders, UnresolvedBuffer } from './decoders.ts';
import { isKubeFault } from './errors.ts';
import { POD_TEMPLATE, WORKLOAD } from './fields.ts';
import { property, read } from './list.ts';
import type { OnInvalid } from './mirror.ts';
import { RESOURCES, type Resource } from './resources.ts';
import type { Message } from './shape.ts';

interface Options {
  readonly client: KubeClient;
  readonly decoders: ClusterDecoders;
  readonly onInvalid: OnInvalid;
}

const WORKLOADS = {
  Deployment: RESOURCES.deployments,
  ReplicaSet: RESOURCES.replicaSets,
  StatefulSet: RESOURCES.statefulSets,
} as const;

/** Reads the PodTemplate or workload of every buffer; a buffer whose pods are invalid is left out. */
export async function resolveBuffers(
  options: Options,
  buffers: readonly UnresolvedBuffer[],
): Promise<readonly CapacityBuffer[]> {
  const resolved = await Promise.all(buffers.map((each) => resolve(options, each)));
  return resolved.filter((each) => each !== undefined);
}

async function resolve(
  options: Options,
  { buffer, target }: UnresolvedBuffer,
): Promise<CapacityBuffer | undefined> {
  const { namespace } = buffer;
  const object = await readTarget(options.client, namespace, target);
  if (object === undefined) {
    return { ...buffer, target: { kind: 'absent', what: target.kind, name: target.name } };
  }
  const isTemplate = target.kind === 'PodTemplate';
  const holder = isTemplate ? object : property(object, 'spec');
  const template = options.decoders.podTemplate(property(holder, 'template'));
  if (!template.ok) {
    options.onInvalid(`CapacityBuffer/${namespace}/${buffer.name}`, template.issues);
    return undefined;
  }
  const generation = numberOf(property(property(object, 'metadata'), 'generation'));
  const found: BufferTarget = {
    kind: 'resolved',
    podTemplate: isTemplate ? target.name : undefined,
    podTemplateGeneration: isTemplate ? (generation ?? 0) : undefined,
    podLabels: template.value.labels,
    podSpec: template.value.spec,
    workloadReplicas: isTemplate ? undefined : (numberOf(property(holder, 'replicas')) ?? 1),
  };
  return { ...buffer, target: found };
}

async function readTarget(
  client: KubeClient,
  namespace: string,
  target: BufferReference,
): Promise<unknown> {
  const [resource, shape]: readonly [Resource, Message] =
    target.kind === 'PodTemplate'
      ? [RESOURCES.podTemplates, POD_TEMPLATE]
      : [WORKLOADS[target.workload], WORKLOAD];
  try {
    return read(await client.get(resource, { namespace, name: target.name }), shape);
  } catch (error) {
    if (isKubeFault(error, 'notFound')) return undefined;
    throw error;
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
