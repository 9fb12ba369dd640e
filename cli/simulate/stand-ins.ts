import { canonicalText } from '../../shared/core/launch/canonical-text.ts';
import { type Json, listAt, objectAt, textAt, textsAt } from '../../shared/sim/json.ts';

/** Whom pods name as the one that makes them. */
export interface Owner {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** Labels that a controller gives each of its pods anew. */
const OWN_LABELS: ReadonlySet<string> = new Set([
  'apps.kubernetes.io/pod-index',
  'statefulset.kubernetes.io/pod-name',
  'pod-template-generation',
]);

/** Whether the pod has not ended. */
export function isActive(pod: Json): boolean {
  const phase = textAt(pod, 'status', 'phase');
  return phase !== 'Succeeded' && phase !== 'Failed';
}

/** Without the node that the DaemonSet controller made the pod for. */
function withoutOwnNode(spec: Json): Json {
  const affinity = objectAt(spec, 'affinity');
  const nodeAffinity = objectAt(affinity, 'nodeAffinity');
  const nodeSelectorTerms = listAt(nodeAffinity, REQUIRED, 'nodeSelectorTerms').flatMap((term) => {
    const { matchFields: _, ...rest } = objectAt(term);
    return Object.keys(rest).length === 0 ? [] : [rest];
  });
  const { [REQUIRED]: __, ...preferred } = nodeAffinity;
  const required = nodeSelectorTerms.length === 0 ? {} : { [REQUIRED]: { nodeSelectorTerms } };
  return { ...spec, affinity: { ...affinity, nodeAffinity: { ...preferred, ...required } } };
}

/** The template of which such a pod could have been made. */
function templateOf(pod: Json): Json {
  const { nodeName: _, ...spec } = objectAt(pod, 'spec');
  const labels = Object.entries(textsAt(pod, 'metadata', 'labels'));
  return {
    metadata: {
      labels: Object.fromEntries(labels.filter(([key]) => !OWN_LABELS.has(key))),
      annotations: textsAt(pod, 'metadata', 'annotations'),
    },
    spec,
  };
}

function workload(kind: string, owner: Owner, template: Json, spec: Json): Json {
  const { name, namespace, uid } = owner;
  return {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name, namespace, uid },
    spec: { ...spec, selector: { matchLabels: textsAt(template, 'metadata', 'labels') }, template },
  };
}

function ordinalOf(pod: Json): number {
  const ordinal = Number(textAt(pod, 'metadata', 'name')?.split('-').at(-1));
  return Number.isInteger(ordinal) ? ordinal : 0;
}

/** The claims that a StatefulSet makes for each pod are named after their volume and the pod. */
function statefulSet(owner: Owner, pods: readonly Json[], first: Json): Json {
  const template = templateOf(first);
  const pod = textAt(first, 'metadata', 'name') ?? '';
  const volumes = listAt(template, 'spec', 'volumes');
  const isOwn = (volume: unknown): boolean =>
    textAt(volume, 'persistentVolumeClaim', 'claimName') === `${textAt(volume, 'name')}-${pod}`;
  const volumeClaimTemplates = volumes
    .filter(isOwn)
    .map((volume) => ({ metadata: { name: textAt(volume, 'name') }, spec: {} }));
  const shared = volumes.filter((each) => !isOwn(each));
  const spec = { ...objectAt(template, 'spec'), volumes: shared };
  const replicas = Math.max(...pods.map(ordinalOf)) + 1;
  return workload('StatefulSet', owner, { ...template, spec }, { replicas, volumeClaimTemplates });
}

/** Owners whose pods are all of one template. */
const SAME: ReadonlySet<string> = new Set(['ReplicaSet', 'ReplicationController']);

/** One for each spec: an owner of an unknown kind may have made pods of several. */
function replicaSets(owner: Owner, pods: readonly Json[]): ReadonlyMap<Json, readonly Json[]> {
  const bySpec = Map.groupBy(pods, (pod) =>
    SAME.has(owner.kind) ? '' : canonicalText(objectAt(templateOf(pod), 'spec')),
  );
  const sets = [...bySpec.values()].map((group, index): [Json, readonly Json[]] => {
    const active = group.filter(isActive);
    const [first = {}] = active.length === 0 ? group : active;
    const suffix = index === 0 ? '' : `-${index + 1}`;
    const own = { ...owner, name: `${owner.name}${suffix}`, uid: `${owner.uid}${suffix}` };
    return [workload('ReplicaSet', own, templateOf(first), { replicas: active.length }), group];
  });
  return new Map(sets);
}

/** Workloads of which the simulated cluster would make such pods, each with those that it has. */
export function standInsOf(
  owner: Owner,
  pods: readonly Json[],
): ReadonlyMap<Json, readonly Json[]> {
  const active = pods.filter(isActive);
  const [first = {}] = active.length === 0 ? pods : active;
  switch (owner.kind) {
    case 'DaemonSet': {
      const template = templateOf(first);
      const spec = withoutOwnNode(objectAt(template, 'spec'));
      return new Map([[workload('DaemonSet', owner, { ...template, spec }, {}), pods]]);
    }
    case 'StatefulSet':
      return new Map([[statefulSet(owner, pods, first), pods]]);
    case 'Job': {
      const completions = pods.filter(
        (pod) => active.includes(pod) || textAt(pod, 'status', 'phase') === 'Succeeded',
      ).length;
      const spec = { parallelism: active.length, completions };
      return new Map([[workload('Job', owner, templateOf(first), spec), pods]]);
    }
    default:
      return replicaSets(owner, pods);
  }
}

/** The pod as one of the workload's. */
export function ownedBy(pod: Json, owner: Json): Json {
  const { kind, apiVersion } = owner;
  const { name, uid } = objectAt(owner, 'metadata');
  const labels = textsAt(pod, 'metadata', 'labels');
  // The simulated DaemonSet controller replaces pods of another generation.
  const generation = kind === 'DaemonSet' ? { 'pod-template-generation': '1' } : {};
  const reference = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
  const metadata = objectAt(pod, 'metadata');
  return {
    ...pod,
    metadata: {
      ...metadata,
      labels: { ...labels, ...generation },
      ownerReferences: [reference],
    },
  };
}
