import type { Stage } from '../../shared/core/explain/parameters.ts';
import type { Reason } from '../../shared/core/explain/reason.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import { type Pod, type PodSpec, type PodVolume, podKey } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { taintText } from '../../shared/core/model/taint.ts';
import { FAMILY } from './scheduling.ts';

/** Takes away what a reason names, and nothing else. */
type Removal = (
  snapshot: ClusterSnapshot,
  at: Place,
  parameters: Stage['parameters'],
) => ClusterSnapshot;

/** The pod and the NodePool that the reason is about. */
interface Place {
  readonly pod: string;
  readonly nodePool: string;
}

function ofPool(change: (pool: NodePool, parameters: Stage['parameters']) => NodePool): Removal {
  return (snapshot, { nodePool }, parameters) => ({
    ...snapshot,
    nodePools: snapshot.nodePools.map((pool) =>
      pool.name === nodePool ? change(pool, parameters) : pool,
    ),
  });
}

function ofTypes(change: (types: readonly InstanceType[]) => readonly InstanceType[]): Removal {
  return (snapshot, { nodePool }) => {
    const types = change(snapshot.instanceTypes.get(nodePool) ?? []);
    return { ...snapshot, instanceTypes: new Map([...snapshot.instanceTypes, [nodePool, types]]) };
  };
}

function ofPod(change: (spec: PodSpec, parameters: Stage['parameters']) => PodSpec): Removal {
  return (snapshot, { pod: key }, parameters) => ({
    ...snapshot,
    pods: snapshot.pods.map((pod) =>
      podKey(pod) === key ? { ...pod, spec: change(pod.spec, parameters) } : pod,
    ),
  });
}

function ofTemplate(
  change: (template: NodePool['template'], parameters: Stage['parameters']) => NodePool['template'],
): Removal {
  return ofPool((pool, parameters) => ({ ...pool, template: change(pool.template, parameters) }));
}

function without<Value>(map: Readonly<Record<string, Value>>, keys: readonly unknown[]) {
  return Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The node affinity without the label, whatever it asks of it. */
function withoutLabel(
  { nodeSelector, requiredNodeAffinity, ...spec }: PodSpec,
  key: unknown,
): PodSpec {
  const terms = requiredNodeAffinity?.flatMap((term) => {
    const matchExpressions = term.matchExpressions.filter((each) => each.key !== key);
    // An empty term would match no node.
    return matchExpressions.length + term.matchFields.length === 0
      ? []
      : [{ ...term, matchExpressions }];
  });
  return {
    ...spec,
    nodeSelector: without(nodeSelector, [key]),
    requiredNodeAffinity: terms?.length === 0 ? undefined : terms,
  };
}

function withoutTerms<Each extends { readonly topologyKey: string }>(
  terms: readonly Each[],
  key: unknown,
): readonly Each[] {
  return terms.filter(({ topologyKey }) => topologyKey !== key);
}

function allAvailable(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) => ({ ...each, available: true })),
  }));
}

/** The pod without the volumes of this claim. */
const withoutClaim: Removal = ofPod((spec, { volumeClaim }) => ({
  ...spec,
  volumes: spec.volumes.filter((each) => each.kind !== 'claim' || each.claimName !== volumeClaim),
}));

/** The pod without the volumes whose claims are bound to this PersistentVolume. */
const withoutVolume: Removal = (snapshot, at, { volume }) =>
  snapshot.persistentVolumeClaims
    .filter(({ volumeName }) => volumeName === volume)
    .reduce((each, { name }) => withoutClaim(each, at, { volumeClaim: name }), snapshot);

/** The pod's bound volumes, attached as they are and wherever the node is. */
const inAnyZone: Removal = (snapshot, at, parameters) =>
  ofPod((spec) => ({
    ...spec,
    volumes: spec.volumes.map((each) => attachedIn(snapshot, each)),
  }))(snapshot, at, parameters);

function attachedIn(
  { persistentVolumeClaims, persistentVolumes }: ClusterSnapshot,
  volume: PodVolume,
): PodVolume {
  if (volume.kind !== 'claim') return volume;
  const claim = persistentVolumeClaims.find(({ name }) => name === volume.claimName);
  const bound = persistentVolumes.find(({ name }) => name === claim?.volumeName);
  if (bound?.csiDriver === undefined || claim?.bindCompleted === false) return volume;
  return { kind: 'attached', driver: bound.csiDriver, volume: bound.name };
}

function attachingMore(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((type) => ({ ...type, attachLimits: undefined }));
}

/** By the code of a stage. */
const OF_STAGES: Readonly<Record<string, Removal>> = {
  'nodepool-deleting': ofPool((pool) => ({ ...pool, isDeleting: false })),
  'nodepool-static': ofPool((pool) => ({ ...pool, replicas: undefined })),
  'nodepool-invalid': ofPool((pool) => ({ ...pool, invalid: undefined })),
  'nodepool-not-ready': ofPool((pool) => ({
    ...pool,
    conditions: pool.conditions.map((each) => ({ ...each, status: 'True' as const })),
  })),
  'nodepool-without-types': ofTypes(() => FAMILY),
  'nodepool-requirements': ofTemplate((template) => ({
    ...template,
    requirements: template.requirements
      .filter(({ minValues }) => minValues !== undefined)
      .map((each) => ({ ...each, operator: 'Exists', values: [] })),
  })),
  'offerings-unavailable': ofTypes(allAvailable),
  'daemonset-requests': (snapshot) => ({ ...snapshot, daemonSets: [] }),
  'node-affinity': ofPod((spec, { key }) => withoutLabel(spec, key)),
  'node-affinity-terms': ofPod((spec) => ({ ...spec, requiredNodeAffinity: undefined })),
  'node-affinity-contradicts-itself': ofPod((spec) => ({
    ...spec,
    nodeSelector: {},
    requiredNodeAffinity: undefined,
  })),
  'taint-not-tolerated': ofTemplate((template, { taints }) => ({
    ...template,
    taints: template.taints.filter((taint) => !list(taints).includes(taintText(taint))),
  })),
  'volume-zones': inAnyZone,
  'request-too-large': ofPod((spec, { resource }) => ({
    ...spec,
    requests: without(spec.requests, [resource]),
  })),
  'too-many-volumes': ofTypes(attachingMore),
  'host-ports-of-daemonsets': ofPod((spec) => ({ ...spec, hostPorts: [] })),
  'limits-reached': ofPool((pool, { resources }) => ({
    ...pool,
    limits: without(pool.limits, list(resources)),
  })),
  'limit-group-reached': (snapshot, _, { group }) => ({
    ...snapshot,
    groupCaps: snapshot.groupCaps?.filter((each) => each.group !== group) ?? [],
  }),
  'limits-or-reservations-reached': ofPool((pool) => ({ ...pool, limits: {} })),
  'topology-spread': ofPod((spec, { key }) => ({
    ...spec,
    topologySpread: withoutTerms(spec.topologySpread, key),
  })),
  'pod-affinity': ofPod((spec, { key }) => ({
    ...spec,
    podAffinity: withoutTerms(spec.podAffinity, key),
  })),
  'pod-anti-affinity': ofPod((spec, { key }) => ({
    ...spec,
    podAntiAffinity: withoutTerms(spec.podAntiAffinity, key),
  })),
  'anti-affinity-of-others': (snapshot, { pod: key }) => ({
    ...snapshot,
    pods: snapshot.pods.map((pod) =>
      podKey(pod) === key ? pod : { ...pod, spec: { ...pod.spec, podAntiAffinity: [] } },
    ),
  }),
  'min-values': ofTemplate((template) => ({
    ...template,
    requirements: template.requirements.map(({ minValues: _, ...rest }) => rest),
  })),
  'room-beside-other-pods': ofPod((spec) => ({ ...spec, podAffinity: [] })),
};

/** By the code of a reason that is about the pod alone. */
const OF_PODS: Readonly<Record<string, Removal>> = {
  'pod-unreadable': ofPod(({ unreadable: _, ...spec }) => spec),
  'pod-with-resource-claims': ofPod((spec) => ({ ...spec, hasResourceClaims: false })),
  'volume-claim-missing': withoutClaim,
  'volume-claim-deleting': withoutClaim,
  'volume-claim-lost': withoutClaim,
  'volume-claim-binding': withoutClaim,
  'volume-missing': withoutVolume,
  'volume-claim-without-class': withoutClaim,
  'storage-class-missing': withoutClaim,
  'volume-claim-unbound': withoutClaim,
};

/** The snapshot without what these stages of the NodePool name. */
export function withoutObstacles(
  snapshot: ClusterSnapshot,
  at: Place,
  stages: readonly Stage[],
): ClusterSnapshot {
  return stages.reduce((each, { code, parameters }) => {
    const remove = OF_STAGES[code];
    if (remove === undefined) throw new Error(`nobody knows how to remove ${code}`);
    return remove(each, at, parameters);
  }, snapshot);
}

/** The snapshot without what the reason names of the pod. */
export function withoutFault(snapshot: ClusterSnapshot, pod: Pod, why: Reason): ClusterSnapshot {
  const remove = OF_PODS[why.code];
  if (remove === undefined) throw new Error(`nobody knows how to remove ${why.code}`);
  return remove(
    snapshot,
    { pod: podKey(pod), nodePool: pod.spec.nodeSelector[NODE_POOL] ?? '' },
    why.parameters,
  );
}
