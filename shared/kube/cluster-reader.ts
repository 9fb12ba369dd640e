import type { Decode, KindDecoders } from '../api/kinds.ts';
import { type LimitRange, withTemplateLimits } from '../api/kubernetes/limit-range.ts';
import { decodePauses, PAUSES_CONFIG_MAP } from '../api/pauses.ts';
import { RESOURCES } from '../api/resources.ts';
import type { MeteredUsage } from '../core/disruption/consolidation/usage-guard.ts';
import type { Condition, DaemonSet } from '../core/model/cluster.ts';
import type { Pod } from '../core/model/pod.ts';
import type { NodeClaim, NodeOverlay, NodePool } from '../core/model/provisioning.ts';
import type { Resources } from '../core/model/resources.ts';
import type {
  ClusterReader,
  ClusterState,
  NodePoolNotes,
  NodeState,
  ObjectKind,
  ReplicaSetRef,
} from '../ports/cluster.ts';
import { objectKey } from '../ports/cluster.ts';
import { resolveBuffers } from './buffer-targets.ts';
import type { KubeClient } from './client.ts';
import { decodeConditions, decodeUsage, decodeVolumeAttachment } from './decoders.ts';
import { DAEMON_SET, NAMESPACE, NODE, PERSISTENT_VOLUME_CLAIM, POD } from './fields.ts';
import { find, findNamed } from './find.ts';
import {
  type CachedObject,
  Informer,
  type InformerOptions,
  type MustSee,
  type OnInvalid,
} from './informer.ts';
import { type OnKarpenter, readKarpenterLease } from './karpenter-lease.ts';
import { property, type Selection, text, uidOf, versionOf } from './list.ts';
import { meteredUsage } from './pod-metrics.ts';
import { followWaitingPods } from './waiting-pods.ts';

export const NODES: Selection = { resource: RESOURCES.nodes, shape: NODE, protobuf: true };
export const PODS: Selection = { resource: RESOURCES.pods, shape: POD, protobuf: true };
/** A pod without a node that is overlooked waits a pass longer; the API server has an index. */
const WAITING: MustSee<Pod> = {
  fieldSelector: 'spec.nodeName=',
  holds: ({ nodeName }) => nodeName === undefined,
};

export interface ReaderOptions {
  readonly client: KubeClient;
  readonly decoders: KindDecoders;
  readonly onInvalid: OnInvalid;
  /** Told of each renewal that is read of Karpenter's Lease. @default nobody is */
  readonly onKarpenter?: OnKarpenter;
}

/** Kinds of which one that is not there would be a permission. */
const KEPT = { faulty: 'kept' } as const;

type Entries<Value> = ReadonlyMap<string, CachedObject<Value>>;

/**
 * Reads the cluster. Keep the reader as long as the sandbox lives: NodeClaims, nodes, pods and
 * volumes, of which there are many, are kept and caught up; the other kinds are small and listed
 * each time.
 */
export function clusterReader(options: ReaderOptions): ClusterReader {
  const mirrors = makeMirrors(options);
  return {
    read: () => readCluster(options, mirrors),
    readClaims: async (labelKey) => {
      const [nodeClaims, karpenterRenewedAtMs] = await Promise.all([
        labelKey === undefined ? mirrors.nodeClaims.read() : readLabelled(options, labelKey),
        karpenterRenewal(options),
      ]);
      return { nodeClaims: values(nodeClaims), karpenterRenewedAtMs };
    },
    readNode: (name) => readNode(options, name),
    readNodePoolNotes: (name) => readNodePoolNotes(options.client, name),
    wantedPods: async (sets) => {
      const wanted = await Promise.all(sets.map((each) => readWanted(options.client, each)));
      return new Map(wanted.flat());
    },
    podUsage: () => readPodUsage(options.client),
    followWaitingPods: (listener, signal) => followWaitingPods(options.client, listener, signal),
    isWarm: () => mirrors.nodes.isWarm && mirrors.pods.isWarm,
    karpenterRenewedAtMs: () => karpenterRenewal(options),
    pausedUntilMs: () => readPauses(options.client),
  };
}

function readLabelled(
  { client, decoders, onInvalid }: ReaderOptions,
  labelSelector: string,
): Promise<Entries<NodeClaim>> {
  const selection = { resource: RESOURCES.nodeClaims, labelSelector };
  const kept = { onInvalid, ...KEPT };
  return new Informer({ client, selection, decode: decoders.NodeClaim, ...kept }).read();
}

/** The API server has an index of pods by their node. */
async function readNode(
  { client, decoders, onInvalid }: ReaderOptions,
  name: string,
): Promise<NodeState> {
  const node = { ...NODES, fieldSelector: `metadata.name=${name}` };
  const pods = { ...PODS, fieldSelector: `spec.nodeName=${name}` };
  const kept = { onInvalid, ...KEPT };
  const [found, bound] = await Promise.all([
    new Informer({ client, selection: node, decode: decoders.Node, ...kept }).read(),
    new Informer({ client, selection: pods, decode: decoders.Pod, ...kept }).read(),
  ]);
  return { node: found.get(name)?.value, pods: values(bound) };
}

/** Not decoded: what is noted must count although the pool's spec is at fault. */
async function readNodePoolNotes(
  client: KubeClient,
  name: string,
): Promise<NodePoolNotes | undefined> {
  const object = await find(client, RESOURCES.nodePools, { name });
  if (object === undefined) return undefined;
  const annotations = Object.entries(property(property(object, 'metadata'), 'annotations') ?? {});
  return {
    uid: uidOf(object),
    resourceVersion: versionOf(object),
    annotations: Object.fromEntries(annotations.map(([key, value]) => [key, text(value)])),
  };
}

/**
 * ReplicaFailure: the last pod that it tried to make or delete was refused. A pod may name a set
 * that the server refuses to look for: such a one wants nothing.
 */
async function readWanted(
  client: KubeClient,
  { namespace, name, uid }: ReplicaSetRef,
): Promise<readonly (readonly [string, number])[]> {
  const answer = await findNamed(client, RESOURCES.replicaSets, { namespace, name });
  if (answer.kind === 'refused') return [];
  const { object } = answer;
  const metadata = property(object, 'metadata');
  const isGone = property(metadata, 'deletionTimestamp') !== undefined;
  if (isGone || property(metadata, 'uid') !== uid) return [];
  const isRefused = ({ type, status }: Condition): boolean =>
    type === 'ReplicaFailure' && status === 'True';
  if (decodeConditions(object).some(isRefused)) return [];
  return [[uid, Number(property(property(object, 'spec'), 'replicas') ?? 1)]];
}

async function readPodUsage(client: KubeClient): Promise<MeteredUsage> {
  const usage = await meteredUsage(client);
  if ('missing' in usage) return { kind: 'missing', why: usage.missing };
  return { kind: 'metered', pods: usage.pods };
}

type Mirrors = ReturnType<typeof makeMirrors>;

function makeMirrors({ client, decoders, onInvalid }: ReaderOptions) {
  const listed = <Value>(
    selection: Selection,
    decode: Decode<Value>,
    more: Pick<InformerOptions<Value>, 'faulty'> = {},
  ): Informer<Value> => new Informer({ client, selection, decode, onInvalid, ...more });
  /** A kind that Joiner can do without: its definition need not be installed. */
  const optional = <Value>(selection: Selection, decode: Decode<Value>): Informer<Value> =>
    new Informer({ client, selection, decode, onInvalid, optional: true });
  const warm = <Value>(
    selection: Selection,
    decode: Decode<Value>,
    more: Pick<InformerOptions<Value>, 'faulty' | 'probe'> = {},
  ): Informer<Value> => new Informer({ client, selection, decode, onInvalid, warm: true, ...more });
  return {
    nodePools: listed({ resource: RESOURCES.nodePools }, withRaw(decoders.NodePool, decodeUsage)),
    nodeClaims: warm({ resource: RESOURCES.nodeClaims }, decoders.NodeClaim, {
      ...KEPT,
      // One that is overlooked is launched for again.
      probe: 'all',
    }),
    nodeOverlays: optional(
      { resource: RESOURCES.nodeOverlays },
      withRaw(decoders.NodeOverlay, decodeConditions),
    ),
    nodeClasses: listed({ resource: RESOURCES.nodeClasses }, decoders.EC2NodeClass),
    buffers: optional({ resource: RESOURCES.capacityBuffers }, decoders.CapacityBuffer),
    nodes: warm(NODES, decoders.Node, KEPT),
    pods: warm(PODS, decoders.Pod, { ...KEPT, probe: WAITING }),
    claims: warm(
      { resource: RESOURCES.persistentVolumeClaims, shape: PERSISTENT_VOLUME_CLAIM },
      decoders.PersistentVolumeClaim,
    ),
    volumes: warm({ resource: RESOURCES.persistentVolumes }, decoders.PersistentVolume),
    daemonSets: listed(
      { resource: RESOURCES.daemonSets, shape: DAEMON_SET },
      withRaw(decoders.DaemonSet, (object) => object),
    ),
    limitRanges: listed({ resource: RESOURCES.limitRanges }, decoders.LimitRange),
    resourceQuotas: listed({ resource: RESOURCES.resourceQuotas }, decoders.ResourceQuota),
    namespaces: listed({ resource: RESOURCES.namespaces, shape: NAMESPACE }, decoders.Namespace),
    storageClasses: listed({ resource: RESOURCES.storageClasses }, decoders.StorageClass),
    csiNodes: listed({ resource: RESOURCES.csiNodes }, decoders.CSINode),
    budgets: listed(
      { resource: RESOURCES.podDisruptionBudgets },
      decoders.PodDisruptionBudget,
      KEPT,
    ),
    attachments: listed({ resource: RESOURCES.volumeAttachments }, decodeVolumeAttachment),
  };
}

/** A decoded value together with something else of the same object. */
export function withRaw<Value, More>(
  decode: Decode<Value>,
  more: (object: unknown) => More,
): Decode<{ readonly value: Value; readonly more: More }> {
  return (object) => {
    const decoded = decode(object);
    if (!decoded.ok) return { ok: false, issues: decoded.issues };
    return { ok: true, value: { value: decoded.value, more: more(object) } };
  };
}

/**
 * Nodes and claims are read before the pods: a pod that was bound meanwhile then names a node that
 * may be too new to be known, instead of seeming to need one that is there.
 */
async function readCluster(options: ReaderOptions, mirrors: Mirrors): Promise<ClusterState> {
  const { client } = options;
  const [pools, nodeClaims, overlays, nodeClasses, nodes, buffers, pauses, karpenter] =
    await Promise.all([
      mirrors.nodePools.read(),
      mirrors.nodeClaims.read(),
      mirrors.nodeOverlays.read(),
      mirrors.nodeClasses.read(),
      mirrors.nodes.read(),
      mirrors.buffers.read(),
      readPauses(client),
      karpenterRenewal(options),
    ]);
  const [rest, pods, quotas] = await Promise.all([
    readRest(options, mirrors),
    mirrors.pods.read(),
    buffers.size === 0 ? new Map<string, never>() : mirrors.resourceQuotas.read(),
  ]);
  const { onInvalid } = options;
  const capacityBuffers = await resolveBuffers(
    { client, onInvalid, limitRanges: rest.limitRanges },
    values(buffers),
  );
  return {
    objects: {
      ...rest.objects,
      nodePools: values(pools).map(({ value }) => value),
      nodeOverlays: values(overlays).map(({ value }) => value),
      nodeClaims: values(nodeClaims),
      nodes: values(nodes),
      pods: values(pods),
    },
    nodeClasses: values(nodeClasses),
    nodeOverlayConditions: moreOf<NodeOverlay, readonly Condition[]>(overlays),
    nodePoolUsage: moreOf<NodePool, Resources>(pools),
    capacityBuffers,
    resourceQuotas: values(quotas),
    volumeAttachments: rest.volumeAttachments,
    resourceVersions: versions({
      NodePool: pools,
      NodeClaim: nodeClaims,
      NodeOverlay: overlays,
      EC2NodeClass: nodeClasses,
      CapacityBuffer: buffers,
      Node: nodes,
      Pod: pods,
    }),
    pausedUntilMs: pauses,
    karpenterRenewedAtMs: karpenter,
  };
}

/** By namespace. */
export type LimitRanges = ReadonlyMap<string, readonly LimitRange[]>;

/** DaemonSets with what LimitRanges will add to their pods, which may not be there yet. */
function limitedDaemonSets(
  { decoders }: ReaderOptions,
  daemonSets: Entries<{ readonly value: DaemonSet; readonly more: unknown }>,
  limitRanges: LimitRanges,
): readonly DaemonSet[] {
  return values(daemonSets).map(({ value, more }) => {
    const ranges = limitRanges.get(value.namespace);
    if (ranges === undefined) return value;
    const limited = decoders.DaemonSet(withTemplateLimits(more, ranges));
    return limited.ok ? limited.value : value;
  });
}

async function readRest(options: ReaderOptions, mirrors: Mirrors) {
  const [claims, volumes, daemonSets, ranges, namespaces, classes, csiNodes, budgets, attachments] =
    await Promise.all([
      mirrors.claims.read(),
      mirrors.volumes.read(),
      mirrors.daemonSets.read(),
      mirrors.limitRanges.read(),
      mirrors.namespaces.read(),
      mirrors.storageClasses.read(),
      mirrors.csiNodes.read(),
      mirrors.budgets.read(),
      mirrors.attachments.read(),
    ]);
  const limitRanges = Map.groupBy(values(ranges), ({ namespace }) => namespace);
  return {
    volumeAttachments: values(attachments),
    limitRanges,
    objects: {
      persistentVolumeClaims: values(claims),
      persistentVolumes: values(volumes),
      daemonSets: limitedDaemonSets(options, daemonSets, limitRanges),
      namespaces: values(namespaces),
      storageClasses: values(classes),
      csiNodes: values(csiNodes),
      podDisruptionBudgets: values(budgets),
    },
  };
}

function values<Value>(entries: Entries<Value>): readonly Value[] {
  return Array.from(entries.values(), ({ value }) => value);
}

function moreOf<Value, More>(
  entries: Entries<{ readonly value: Value; readonly more: More }>,
): ReadonlyMap<string, More> {
  return new Map(Array.from(entries, ([name, { value }]) => [name, value.more]));
}

function versions(
  kinds: Readonly<Record<ObjectKind, Entries<unknown>>>,
): ReadonlyMap<string, string> {
  const all = new Map<string, string>();
  const add = (kind: ObjectKind, entries: Entries<unknown>): void => {
    for (const [key, { resourceVersion }] of entries) {
      const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
      const ref = { kind, name: name ?? '', ...(namespace === undefined ? {} : { namespace }) };
      all.set(objectKey(ref), resourceVersion);
    }
  };
  add('NodePool', kinds.NodePool);
  add('NodeClaim', kinds.NodeClaim);
  add('NodeOverlay', kinds.NodeOverlay);
  add('EC2NodeClass', kinds.EC2NodeClass);
  add('CapacityBuffer', kinds.CapacityBuffer);
  add('Node', kinds.Node);
  add('Pod', kinds.Pod);
  return all;
}

async function readPauses(client: KubeClient): Promise<ClusterState['pausedUntilMs']> {
  return decodePauses(await find(client, RESOURCES.configMaps, PAUSES_CONFIG_MAP));
}

async function karpenterRenewal(options: ReaderOptions): Promise<number | undefined> {
  const renewal = await readKarpenterLease(options.client);
  if (renewal !== undefined) options.onKarpenter?.(renewal);
  return renewal?.renewedAtMs;
}
