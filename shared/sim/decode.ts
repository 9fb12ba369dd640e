import type { Decoded } from '../api/issue.ts';
import { type Decode, type Kind, kindDecoders, type ValueByKind } from '../api/kinds.ts';
import { withTemplateLimits } from '../api/kubernetes/limit-range.ts';
import { outdated } from '../api/kubernetes/metadata.ts';
import { decodePauses, PAUSES_CONFIG_MAP } from '../api/pauses.ts';
import type { Condition, DaemonSet, Node } from '../core/model/cluster.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { ResourceQuota } from '../core/model/resource-quota.ts';
import { parseResources } from '../core/quantity.ts';
import { type ClusterState, type ObjectKind, objectKey } from '../ports.ts';
import { limitRangesOf } from './admission.ts';
import { bufferOf } from './buffers.ts';
import { type Json, listAt, numberAt, objectAt, textAt } from './json.ts';
import { type KubeObject, keyOf, type ObjectStore } from './store.ts';

const decoders = kindDecoders('manifest');

/** Decoded once for each version of an object: objects never change. */
const decoded = new WeakMap<KubeObject, unknown>();

function decode<Value>(object: KubeObject, decoder: Decode<Value>): Value {
  const known = decoded.get(object);
  if (known !== undefined) return known as Value;
  const value = readable(decoder(object), () => keyOf(object));
  decoded.set(object, value);
  return value;
}

function readable<Value>(result: Decoded<Value>, nameOf: () => string): Value {
  if (result.ok) return result.value;
  const issues = result.issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new Error(`${nameOf()} cannot be read: ${issues}`);
}

/** A pod that the store does not have yet. */
export function decodeNewPod(manifest: Json): Pod {
  return readable(decoders.Pod(manifest), () => 'a new pod');
}

export function decodeNodeClaimObject(object: KubeObject): NodeClaim {
  return decode(object, decoders.NodeClaim);
}

export function decodeNodeObject(object: KubeObject): Node {
  return decode(object, decoders.Node);
}

export function decodePodObject(object: KubeObject): Pod {
  return decode(object, decoders.Pod);
}

export function decodeQuotaObject(object: KubeObject): ResourceQuota {
  return decode(object, decoders.ResourceQuota);
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  const { generation } = object.metadata;
  return listAt(object, 'status', 'conditions').map((each) => {
    const status = textAt(each, 'status');
    return {
      ...outdated(numberAt(each, 'observedGeneration'), generation),
      type: textAt(each, 'type') ?? '',
      status: status === 'True' || status === 'False' ? status : 'Unknown',
      reason: textAt(each, 'reason') ?? '',
      message: textAt(each, 'message') ?? '',
      lastTransitionAtMs: Date.parse(textAt(each, 'lastTransitionTime') ?? '') || 0,
    };
  });
}

function usageOf(object: KubeObject) {
  const texts = Object.entries(objectAt(object, 'status', 'resources')).flatMap(([name, amount]) =>
    typeof amount === 'string' ? [[name, amount] as const] : [],
  );
  return parseResources(Object.fromEntries(texts)).resources;
}

const VERSIONED = [
  'NodePool',
  'NodeClaim',
  'NodeOverlay',
  'EC2NodeClass',
  'CapacityBuffer',
  'Node',
  'Pod',
] as const satisfies readonly ObjectKind[];

function versionsOf(lists: readonly (readonly KubeObject[])[]): ReadonlyMap<string, string> {
  return new Map(
    VERSIONED.flatMap((kind, index) =>
      (lists[index] ?? []).map(({ metadata }) => {
        const { name, namespace, resourceVersion } = metadata;
        const ref = namespace === undefined ? { kind, name } : { kind, name, namespace };
        return [objectKey(ref), resourceVersion] as const;
      }),
    ),
  );
}

/** The values of a kind's objects, and the list that they are of. */
interface Values {
  readonly objects: readonly KubeObject[];
  readonly values: readonly unknown[];
}

/** As they were read last: most objects are the same the next time. */
const valuesByStore = new WeakMap<ObjectStore, Map<string, Values>>();

function allOf<Known extends Kind>(store: ObjectStore, kind: Known): readonly ValueByKind[Known][] {
  type Value = ValueByKind[Known];
  const byKind = valuesByStore.get(store) ?? new Map<string, Values>();
  valuesByStore.set(store, byKind);
  const objects = store.list(kind);
  const before = byKind.get(kind);
  if (before?.objects === objects) return before.values as readonly Value[];
  const values = objects.map((object, index) =>
    before?.objects[index] === object
      ? (before.values[index] as Value)
      : decode<Value>(object, decoders[kind]),
  );
  byKind.set(kind, { objects, values });
  return values;
}

/** As the LimitRanges of its namespace will have its pods. */
function daemonSetOf(store: ObjectStore, object: KubeObject): DaemonSet {
  const ranges = limitRangesOf(store, object.metadata.namespace);
  const limited = withTemplateLimits(object, ranges);
  const decoded = limited === object ? undefined : decoders.DaemonSet(limited);
  const daemonSet = decoded?.ok === true ? decoded.value : decode(object, decoders.DaemonSet);
  return { ...daemonSet, templateGeneration: String(object.metadata.generation) };
}

/** Read once for each version of the store. */
const states = new WeakMap<
  ObjectStore,
  { readonly version: number; readonly state: ClusterState }
>();

/** The whole cluster as decisions see it, through the same decoders as production. */
export function readState(store: ObjectStore): ClusterState {
  const known = states.get(store);
  if (known?.version === store.version) return known.state;
  const all = <Known extends Kind>(kind: Known): readonly ValueByKind[Known][] =>
    allOf(store, kind);
  const named = <Value>(kind: string, value: (object: KubeObject) => Value) =>
    new Map(store.list(kind).map((object) => [object.metadata.name, value(object)]));
  const lists = VERSIONED.map((kind) => store.list(kind));
  const { namespace, name } = PAUSES_CONFIG_MAP;
  let versions: ReadonlyMap<string, string> | undefined;
  const state: ClusterState = {
    objects: {
      nodePools: all('NodePool'),
      nodeOverlays: all('NodeOverlay'),
      nodeClaims: all('NodeClaim'),
      nodes: all('Node'),
      pods: all('Pod'),
      daemonSets: store.list('DaemonSet').map((each) => daemonSetOf(store, each)),
      namespaces: all('Namespace'),
      persistentVolumeClaims: all('PersistentVolumeClaim'),
      persistentVolumes: all('PersistentVolume'),
      storageClasses: all('StorageClass'),
      csiNodes: all('CSINode'),
      podDisruptionBudgets: all('PodDisruptionBudget'),
    },
    nodeClasses: all('EC2NodeClass'),
    nodeOverlayConditions: named('NodeOverlay', conditionsOf),
    nodePoolUsage: named('NodePool', usageOf),
    capacityBuffers: all('CapacityBuffer').map((buffer) => bufferOf(store, buffer)),
    resourceQuotas: all('ResourceQuota'),
    volumeAttachments: store.list('VolumeAttachment').map((each) => ({
      name: each.metadata.name,
      nodeName: textAt(each, 'spec', 'nodeName') ?? '',
      persistentVolumeName: textAt(each, 'spec', 'source', 'persistentVolumeName'),
    })),
    // Few of those who read the state ask for them.
    get resourceVersions() {
      versions ??= versionsOf(lists);
      return versions;
    },
    pausedUntilMs: decodePauses(store.get('ConfigMap', namespace, name)),
    karpenterRenewedAtMs: undefined,
  };
  states.set(store, { version: store.version, state });
  return state;
}
