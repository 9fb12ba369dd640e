import type {
  CsiNode,
  DaemonSet,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  StorageClass,
} from '../../core/model/cluster.ts';
import { type Labels, normalizeLabelKey, ZONE } from '../../core/model/labels.ts';
import type { NodeSelectorTerm } from '../../core/model/pod.ts';
import type { RequirementExpression } from '../../core/model/requirement.ts';
import type { Decoded } from '../issue.ts';
import { type Fields, Reader, type TooLarge } from '../read.ts';
import { driverOfProvisioner, migratedVolume, readInTreeEbs } from './in-tree-volumes.ts';
import { readConditions, readMetadata } from './metadata.ts';
import { PodSpecReader } from './pod-spec.ts';
import { labelSelector, nodeSelectorTerm, taint } from './selectors.ts';

interface Parts {
  readonly read: Reader;
  readonly fields: Fields;
  readonly spec: Fields;
  readonly status: Fields;
  readonly metadata: ReturnType<typeof readMetadata>;
}

function partsOf(object: unknown): Parts {
  const read = new Reader();
  const fields = read.fields(object, '');
  return {
    read,
    fields,
    spec: read.fields(fields['spec'], 'spec'),
    status: read.fields(fields['status'], 'status'),
    metadata: readMetadata(read, fields),
  };
}

const UNSCHEDULABLE = {
  key: 'node.kubernetes.io/unschedulable',
  value: '',
  effect: 'NoSchedule',
} as const;

export function decodeNode(object: unknown): Decoded<Node> {
  const { read, spec, status, metadata } = partsOf(object);
  const taints = read
    .list(spec['taints'], 'spec.taints')
    .map((each, index) => taint(read, each, `spec.taints[${index}]`));
  const isCordoned = read.flag(spec['unschedulable'], 'spec.unschedulable') === true;
  const isMarked = taints.some((each) => each.key === UNSCHEDULABLE.key);
  const capacity = read.resources(status['capacity'], 'status.capacity', 'down');
  return read.result({
    name: metadata.name,
    uid: metadata.uid,
    labels: metadata.labels,
    annotations: metadata.annotations,
    createdAtMs: metadata.createdAtMs,
    deletedAtMs: metadata.deletedAtMs,
    providerId: read.text(spec['providerID'], 'spec.providerID') || undefined,
    taints: isCordoned && !isMarked ? [...taints, UNSCHEDULABLE] : taints,
    capacity,
    allocatable:
      status['allocatable'] === undefined
        ? capacity
        : read.resources(status['allocatable'], 'status.allocatable', 'down'),
    conditions: readConditions(read, status['conditions'], 'status.conditions'),
  });
}

export function decodeDaemonSet(
  object: unknown,
  tooLarge: TooLarge = 'refuse',
): Decoded<DaemonSet> {
  const { read, spec, metadata } = partsOf(object);
  const template = read.fields(spec['template'], 'spec.template');
  const podMetadata = read.fields(template['metadata'], 'spec.template.metadata');
  const pod = new PodSpecReader(tooLarge).read(template['spec'], 'spec.template.spec');
  read.issues.push(...pod.issues);
  return read.result({
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid,
    podLabels: read.labels(podMetadata['labels'], 'spec.template.metadata.labels'),
    podSpec: pod.spec,
    templateGeneration: metadata.annotations['deprecated.daemonset.template.generation'],
  });
}

export function decodeNamespace(object: unknown): Decoded<Namespace> {
  const { read, metadata } = partsOf(object);
  return read.result({ name: metadata.name, labels: metadata.labels });
}

export function decodePersistentVolumeClaim(object: unknown): Decoded<PersistentVolumeClaim> {
  const { read, spec, status, metadata } = partsOf(object);
  const volumeName = read.text(spec['volumeName'], 'spec.volumeName');
  return read.result({
    namespace: metadata.namespace,
    name: metadata.name,
    // The annotation of old comes first, as in Kubernetes.
    storageClassName:
      metadata.annotations['volume.beta.kubernetes.io/storage-class'] ??
      read.text(spec['storageClassName'], 'spec.storageClassName'),
    volumeName: volumeName || undefined,
    bindCompleted: metadata.annotations['pv.kubernetes.io/bind-completed'] !== undefined,
    isDeleting: metadata.deletedAtMs !== undefined,
    isLost: read.text(status['phase'], 'status.phase') === 'Lost',
  });
}

export function decodePersistentVolume(object: unknown): Decoded<PersistentVolume> {
  const { read, spec, metadata } = partsOf(object);
  const csi = read.fields(spec['csi'], 'spec.csi');
  const affinity = read.fields(spec['nodeAffinity'], 'spec.nodeAffinity');
  const path = 'spec.nodeAffinity.required.nodeSelectorTerms';
  const required = affinity['required'];
  const isOpen = required === undefined || required === null;
  const inZones = zonesOfLabels(metadata.labels);
  const terms = read.fields(required, 'spec.nodeAffinity.required')['nodeSelectorTerms'];
  const listed = isOpen
    ? []
    : read.list(terms, path).map((each, at) => nodeSelectorTerm(read, each, `${path}[${at}]`));
  const migrated =
    readInTreeEbs(read, spec['awsElasticBlockStore'], 'spec.awsElasticBlockStore') ??
    migratedVolume(metadata.annotations);
  return read.result({
    name: metadata.name,
    csiDriver: read.text(csi['driver'], 'spec.csi.driver') ?? migrated?.driver,
    csiVolumeHandle: read.text(csi['volumeHandle'], 'spec.csi.volumeHandle') ?? migrated?.volume,
    isLocal: spec['local'] !== undefined || spec['hostPath'] !== undefined,
    requiredNodeAffinity: isOpen && inZones.length === 0 ? undefined : alsoIn(inZones, listed),
  });
}

/** The terms with more expressions in each; no term means every node, as far as the more say. */
function alsoIn(
  more: readonly RequirementExpression[],
  terms: readonly NodeSelectorTerm[],
): readonly NodeSelectorTerm[] {
  if (more.length === 0) return terms;
  const any: NodeSelectorTerm = { matchExpressions: [], matchFields: [] };
  return (terms.length === 0 ? [any] : terms).map((term) => ({
    ...term,
    matchExpressions: [...term.matchExpressions, ...more],
  }));
}

/** Between the zones of a volume that is in several (kube-scheduler, VolumeZone). */
const ZONE_SEPARATOR = '__';

/** Volumes of old are told their zone by labels, which kube-scheduler heeds like node affinity. */
function zonesOfLabels(labels: Labels): readonly RequirementExpression[] {
  return [ZONE, 'failure-domain.beta.kubernetes.io/zone'].flatMap((key) => {
    const value = labels[key];
    if (value === undefined) return [];
    return [{ key: ZONE, operator: 'In' as const, values: value.split(ZONE_SEPARATOR) }];
  });
}

/** A topology selector term written as the node selector term that means the same. */
function topologyTerm(read: Reader, value: unknown, path: string): NodeSelectorTerm {
  const fields = read.fields(value, path);
  const matchExpressions = read
    .list(fields['matchLabelExpressions'], `${path}.matchLabelExpressions`)
    .map((each, index) => {
      const at = `${path}.matchLabelExpressions[${index}]`;
      const expression = read.fields(each, at);
      return {
        key: normalizeLabelKey(read.requiredText(expression['key'], `${at}.key`)),
        operator: 'In' as const,
        values: read.texts(expression['values'], `${at}.values`),
      };
    });
  return { matchExpressions, matchFields: [] };
}

export function decodeStorageClass(object: unknown): Decoded<StorageClass> {
  const { read, fields, metadata } = partsOf(object);
  const modes = ['Immediate', 'WaitForFirstConsumer'] as const;
  return read.result({
    name: metadata.name,
    provisioner: driverOfProvisioner(read.requiredText(fields['provisioner'], 'provisioner')),
    volumeBindingMode:
      read.oneOf(fields['volumeBindingMode'], 'volumeBindingMode', modes) ?? 'Immediate',
    allowedTopologies: read
      .list(fields['allowedTopologies'], 'allowedTopologies')
      .map((each, index) => topologyTerm(read, each, `allowedTopologies[${index}]`)),
  });
}

export function decodeCsiNode(object: unknown): Decoded<CsiNode> {
  const { read, spec, metadata } = partsOf(object);
  const attachLimits: Record<string, number> = {};
  for (const [index, each] of read.list(spec['drivers'], 'spec.drivers').entries()) {
    const at = `spec.drivers[${index}]`;
    const driver = read.fields(each, at);
    const name = read.requiredText(driver['name'], `${at}.name`);
    const allocatable = read.fields(driver['allocatable'], `${at}.allocatable`);
    const count = read.integer(allocatable['count'], `${at}.allocatable.count`, { least: 0 });
    if (count !== undefined) attachLimits[name] = count;
  }
  return read.result({ name: metadata.name, attachLimits });
}

/** An absolute number or a percentage; undefined where absent. */
function amountOrShare(read: Reader, value: unknown, path: string): number | string | undefined {
  if (typeof value === 'number') return read.integer(value, path, { least: 0 });
  const text = read.text(value, path);
  if (text !== undefined && !/^\d+%?$/.test(text)) {
    read.note(path, `must be a number or a percentage such as 25%, not "${text}"`);
  }
  return text;
}

export function decodePodDisruptionBudget(object: unknown): Decoded<PodDisruptionBudget> {
  const { read, spec, status, metadata } = partsOf(object);
  const policies = ['IfHealthyBudget', 'AlwaysAllow'] as const;
  const allowed = read.integer(status['disruptionsAllowed'], 'status.disruptionsAllowed');
  return read.result({
    namespace: metadata.namespace,
    name: metadata.name,
    selector: labelSelector(read, spec['selector'], 'spec.selector'),
    disruptionsAllowed: allowed ?? 0,
    desiredHealthy: read.integer(status['desiredHealthy'], 'status.desiredHealthy'),
    expectedPods: read.integer(status['expectedPods'], 'status.expectedPods'),
    maxUnavailable: amountOrShare(read, spec['maxUnavailable'], 'spec.maxUnavailable'),
    minAvailable: amountOrShare(read, spec['minAvailable'], 'spec.minAvailable'),
    unhealthyPodEvictionPolicy:
      read.oneOf(spec['unhealthyPodEvictionPolicy'], 'spec.unhealthyPodEvictionPolicy', policies) ??
      'IfHealthyBudget',
  });
}
