import { decodeCapacityBuffer } from '../api/capacity-buffer.ts';
import { decodeEC2NodeClass } from '../api/ec2-node-class.ts';
import type { Decoded } from '../api/issue.ts';
import {
  decodeCsiNode,
  decodeDaemonSet,
  decodeNamespace,
  decodeNode,
  decodePersistentVolume,
  decodePersistentVolumeClaim,
  decodePodDisruptionBudget,
  decodeStorageClass,
} from '../api/kubernetes/cluster.ts';
import { withTemplateLimits } from '../api/kubernetes/limit-range.ts';
import { PodDecoder } from '../api/kubernetes/pod.ts';
import { decodeNodeClaim } from '../api/node-claim.ts';
import { decodeNodeOverlay } from '../api/node-overlay.ts';
import { decodeNodePool } from '../api/node-pool.ts';
import type { Condition, DaemonSet } from '../core/model/cluster.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import { parseResources } from '../core/quantity.ts';
import { type ClusterState, type ObjectKind, objectKey } from '../ports.ts';
import { limitRangesOf } from './admission.ts';
import { bufferOf } from './buffers.ts';
import { listAt, objectAt, textAt } from './json.ts';
import { type KubeObject, keyOf, type ObjectStore } from './store.ts';

const pods = new PodDecoder();

/** Decoded once for each version of an object: objects never change. */
const decoded = new WeakMap<KubeObject, unknown>();

function decode<Value>(object: KubeObject, decoder: (raw: unknown) => Decoded<Value>): Value {
  const known = decoded.get(object);
  if (known !== undefined) return known as Value;
  const result = decoder(object);
  if (!result.ok) {
    const issues = result.issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
    throw new Error(`${keyOf(object)} cannot be read: ${issues}`);
  }
  decoded.set(object, result.value);
  return result.value;
}

export function decodeNodeClaimObject(object: KubeObject): NodeClaim {
  return decode(object, decodeNodeClaim);
}

export function conditionsOf(object: KubeObject): readonly Condition[] {
  return listAt(object, 'status', 'conditions').map((each) => {
    const status = textAt(each, 'status');
    return {
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

function versionsOf(store: ObjectStore): ReadonlyMap<string, string> {
  return new Map(
    VERSIONED.flatMap((kind) =>
      store.list(kind).map(({ metadata }) => {
        const { name, namespace, resourceVersion } = metadata;
        const ref = namespace === undefined ? { kind, name } : { kind, name, namespace };
        return [objectKey(ref), resourceVersion] as const;
      }),
    ),
  );
}

/** As the LimitRanges of its namespace will have its pods. */
function daemonSetOf(store: ObjectStore, object: KubeObject): DaemonSet {
  const ranges = limitRangesOf(store, object.metadata.namespace);
  const limited = withTemplateLimits(object, ranges);
  const decoded = limited === object ? undefined : decodeDaemonSet(limited);
  const daemonSet = decoded?.ok === true ? decoded.value : decode(object, decodeDaemonSet);
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
  const all = <Value>(kind: string, decoder: (raw: unknown) => Decoded<Value>): readonly Value[] =>
    store.list(kind).map((object) => decode(object, decoder));
  const named = <Value>(kind: string, value: (object: KubeObject) => Value) =>
    new Map(store.list(kind).map((object) => [object.metadata.name, value(object)]));
  const state: ClusterState = {
    objects: {
      nodePools: all('NodePool', decodeNodePool),
      nodeOverlays: all('NodeOverlay', decodeNodeOverlay),
      nodeClaims: all('NodeClaim', decodeNodeClaim),
      nodes: all('Node', decodeNode),
      pods: all('Pod', (raw) => pods.decode(raw)),
      daemonSets: store.list('DaemonSet').map((each) => daemonSetOf(store, each)),
      namespaces: all('Namespace', decodeNamespace),
      persistentVolumeClaims: all('PersistentVolumeClaim', decodePersistentVolumeClaim),
      persistentVolumes: all('PersistentVolume', decodePersistentVolume),
      storageClasses: all('StorageClass', decodeStorageClass),
      csiNodes: all('CSINode', decodeCsiNode),
      podDisruptionBudgets: all('PodDisruptionBudget', decodePodDisruptionBudget),
    },
    nodeClasses: all('EC2NodeClass', decodeEC2NodeClass),
    nodeOverlayConditions: named('NodeOverlay', conditionsOf),
    nodePoolUsage: named('NodePool', usageOf),
    capacityBuffers: all('CapacityBuffer', decodeCapacityBuffer).map((buffer) =>
      bufferOf(store, buffer),
    ),
    volumeAttachments: [],
    resourceVersions: versionsOf(store),
    pausedUntilMs: {},
    karpenterRenewedAtMs: undefined,
  };
  states.set(store, { version: store.version, state });
  return state;
}
