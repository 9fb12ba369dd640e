import type { Decoded } from '../api/issue.ts';
import type {
  Condition,
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from '../core/model/cluster.ts';
import type { Labels } from '../core/model/labels.ts';
import type { NodeClass } from '../core/model/node-class.ts';
import type { Pod, PodSpec } from '../core/model/pod.ts';
import type { NodeClaim, NodeOverlay, NodePool } from '../core/model/provisioning.ts';
import type { Resources } from '../core/model/resources.ts';
import { parseResources } from '../core/quantity.ts';
import type { CapacityBuffer, VolumeAttachment } from '../ports/cluster.ts';
import { property, text } from './list.ts';

export type Decode<Value> = (object: unknown) => Decoded<Value>;

/** How each kind becomes a model value; `shared/api` knows it for all but the smallest. */
export interface ClusterDecoders {
  readonly nodePool: Decode<NodePool>;
  readonly nodeClaim: Decode<NodeClaim>;
  readonly nodeOverlay: Decode<NodeOverlay>;
  readonly nodeClass: Decode<NodeClass>;
  readonly capacityBuffer: Decode<UnresolvedBuffer>;
  /** A pod template of a workload or a PodTemplate. */
  readonly podTemplate: Decode<DecodedTemplate>;
  readonly node: Decode<Node>;
  readonly pod: Decode<Pod>;
  readonly daemonSet: Decode<DaemonSet>;
  readonly persistentVolumeClaim: Decode<PersistentVolumeClaim>;
  readonly persistentVolume: Decode<PersistentVolume>;
  readonly storageClass: Decode<StorageClass>;
  readonly csiNode: Decode<CsiNode>;
  readonly podDisruptionBudget: Decode<PodDisruptionBudget>;
}

/** A CapacityBuffer whose target has only been named so far. */
export interface UnresolvedBuffer {
  readonly buffer: Omit<CapacityBuffer, 'target'>;
  readonly target: BufferReference;
}

export type BufferReference =
  | { readonly kind: 'PodTemplate'; readonly name: string }
  | {
      readonly kind: 'ScalableRef';
      readonly workload: 'Deployment' | 'ReplicaSet' | 'StatefulSet';
      readonly name: string;
    };

export interface DecodedTemplate {
  readonly labels: Labels;
  readonly spec: PodSpec;
}

export function decodeNamespace(object: unknown): Decoded<Namespace> {
  const metadata = property(object, 'metadata');
  const value = { name: text(property(metadata, 'name')), labels: labelsOf(metadata) };
  return { ok: true, value };
}

export function decodeVolumeAttachment(object: unknown): Decoded<VolumeAttachment> {
  const spec = property(object, 'spec');
  const volume = property(property(spec, 'source'), 'persistentVolumeName');
  const value: VolumeAttachment = {
    name: text(property(property(object, 'metadata'), 'name')),
    nodeName: text(property(spec, 'nodeName')),
    persistentVolumeName: typeof volume === 'string' ? volume : undefined,
  };
  return { ok: true, value };
}

/** `status.resources` of a NodePool, rounded down as all capacity is. */
export function decodeUsage(object: unknown): Resources {
  const resources = property(property(object, 'status'), 'resources');
  const amounts: Record<string, string> = {};
  for (const [name, amount] of Object.entries(record(resources))) amounts[name] = String(amount);
  return parseResources(amounts, 'down').resources;
}

const STATUSES: Readonly<Record<string, Condition['status']>> = { True: 'True', False: 'False' };

/** `status.conditions`; a time that is missing is 0. */
export function decodeConditions(object: unknown): readonly Condition[] {
  const conditions = property(property(object, 'status'), 'conditions');
  return (Array.isArray(conditions) ? conditions : []).map(
    (each: unknown): Condition => ({
      type: text(property(each, 'type')),
      status: STATUSES[text(property(each, 'status'))] ?? 'Unknown',
      reason: text(property(each, 'reason')),
      message: text(property(each, 'message')),
      lastTransitionAtMs: Date.parse(text(property(each, 'lastTransitionTime'))) || 0,
    }),
  );
}

function labelsOf(metadata: unknown): Labels {
  const labels = Object.entries(record(property(metadata, 'labels')));
  return Object.fromEntries(labels.map(([key, value]) => [key, String(value)]));
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
