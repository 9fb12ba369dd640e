import type { BufferReference, NamedBuffer, ScalableKind } from '../api/capacity-buffer.ts';
import { type LimitRange, withLimitRanges } from '../api/kubernetes/limit-range.ts';
import { PodSpecReader } from '../api/kubernetes/pod-spec.ts';
import { RESOURCES, type Resource } from '../api/resources.ts';
import type { Labels } from '../core/model/labels.ts';
import type { BufferTarget, CapacityBuffer } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import { POD_TEMPLATE, WORKLOAD } from './fields.ts';
import { findNamed, type Named } from './find.ts';
import type { OnInvalid } from './informer.ts';
import { property, read } from './list.ts';
import type { Message } from './shape.ts';

const specs = new PodSpecReader();

const WORKLOADS = {
  Deployment: RESOURCES.deployments,
  ReplicaSet: RESOURCES.replicaSets,
  StatefulSet: RESOURCES.statefulSets,
} as const satisfies Readonly<Record<ScalableKind, Resource>>;

/** What buffers are resolved with. */
interface Resolving {
  readonly client: KubeClient;
  readonly onInvalid: OnInvalid;
  /** By namespace: what they add to the pods that a buffer keeps room for. */
  readonly limitRanges: ReadonlyMap<string, readonly LimitRange[]>;
}

/**
 * Reads the PodTemplate or workload of every buffer. A buffer whose pods are invalid is left out;
 * one whose target cannot be asked for has none. Both are told, and hold up no other.
 */
export async function resolveBuffers(
  resolving: Resolving,
  buffers: readonly NamedBuffer[],
): Promise<readonly CapacityBuffer[]> {
  const resolved = await Promise.all(buffers.map((each) => resolve(resolving, each)));
  return resolved.filter((each) => each !== undefined);
}

async function resolve(
  { client, onInvalid, limitRanges }: Resolving,
  { target, ...buffer }: NamedBuffer,
): Promise<CapacityBuffer | undefined> {
  const { namespace } = buffer;
  const told = `CapacityBuffer/${namespace}/${buffer.name}`;
  if (target.kind === 'Unsupported') {
    const { name, message } = target;
    return { ...buffer, target: { kind: 'absent', what: 'ScalableRef', name, refusal: message } };
  }
  const absent = { kind: 'absent', what: target.kind, name: target.name } as const;
  const answer = await readTarget(client, namespace, target);
  if (answer.kind === 'refused') {
    const { message } = answer;
    const field = target.kind === 'PodTemplate' ? 'podTemplateRef' : 'scalableRef';
    onInvalid(told, [{ path: `spec.${field}`, message }]);
    return { ...buffer, target: { ...absent, refusal: message } };
  }
  const { object } = answer;
  if (object === undefined) return { ...buffer, target: absent };
  const isTemplate = target.kind === 'PodTemplate';
  const holder = isTemplate ? object : property(object, 'spec');
  const template = property(holder, 'template');
  const ranges = limitRanges.get(namespace) ?? [];
  const podSpec = withLimitRanges(property(template, 'spec'), ranges);
  const { spec, issues } = specs.read(podSpec, 'spec.template.spec');
  if (issues.length > 0) {
    onInvalid(told, issues);
    return undefined;
  }
  const generation = numberOf(property(property(object, 'metadata'), 'generation'));
  const found: BufferTarget = {
    kind: 'resolved',
    podTemplate: isTemplate ? target.name : undefined,
    podTemplateGeneration: isTemplate ? (generation ?? 0) : undefined,
    podLabels: labelsOf(property(property(template, 'metadata'), 'labels')),
    podSpec: spec,
    workloadReplicas: isTemplate ? undefined : (numberOf(property(holder, 'replicas')) ?? 1),
  };
  return { ...buffer, target: found };
}

async function readTarget(
  client: KubeClient,
  namespace: string,
  target: Exclude<BufferReference, { readonly kind: 'Unsupported' }>,
): Promise<Named> {
  const [resource, shape]: readonly [Resource, Message] =
    target.kind === 'PodTemplate'
      ? [RESOURCES.podTemplates, POD_TEMPLATE]
      : [WORKLOADS[target.workload], WORKLOAD];
  const answer = await findNamed(client, resource, { namespace, name: target.name });
  if (answer.kind === 'refused' || answer.object === undefined) return answer;
  return { kind: 'answered', object: read(answer.object, shape) };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function labelsOf(labels: unknown): Labels {
  const entries = typeof labels === 'object' && labels !== null ? Object.entries(labels) : [];
  return Object.fromEntries(entries.map(([key, value]) => [key, String(value)]));
}
