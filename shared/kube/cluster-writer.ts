import {
  encodeCapacityBufferStatus,
  encodeCondition,
  encodeNodeClaim,
  encodeNodeClaimStatus,
  encodeNodeClassStatus,
  encodeTaint,
} from '../api/encode.ts';
import { apiVersion, RESOURCES } from '../api/resources.ts';
import type { Condition } from '../core/model/cluster.ts';
import type { NodeClassStatus } from '../core/model/node-class.ts';
import type { OwnerReference } from '../core/model/pod.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Resources } from '../core/model/resources.ts';
import type { Taint } from '../core/model/taint.ts';
import { formatResources } from '../core/quantity.ts';
import type {
  ClusterEvent,
  ClusterWriter,
  ConditionChange,
  NewNodeClaim,
  NodeClaimStatusPatch,
  NodePatch,
  NodePoolStatusPatch,
  ObjectRef,
  WriteResult,
  WrittenClaim,
} from '../ports/cluster.ts';
import type { JsonPatchOperation, KubeClient } from './client.ts';
import { decodeConditions } from './decoders.ts';
import { type InvalidCause, isKubeFault, KubeError } from './errors.ts';
import type { EventSink } from './events.ts';
import { property, text, uidOf, versionOf } from './list.ts';
import { type Address, KINDS } from './resource-paths.ts';
import { restartRollout } from './rollouts.ts';

/** Nodes are kept closed for nominations, and the end of a run waits for those under way. */
const NOMINATION_PATIENCE = { attemptsMax: 2, silenceMsMax: 5_000 };

/** Tries to change an object that others change at the same time. */
const ATTEMPTS_MAX = 8;

export interface WriterOptions {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly decodeNodeClaim: (object: unknown) => NodeClaim;
}

/** The writes that use cases need, against the API server. */
export function clusterWriter({ client, events, decodeNodeClaim }: WriterOptions): ClusterWriter {
  const patchMetadata = (ref: ObjectRef, patch: NodePatch): Promise<WriteResult> =>
    patchObject(client, ref, patch);
  const status = (
    ref: ObjectRef,
    fields: StatusFields,
    conditions: readonly Condition[] | ConditionChange | undefined,
    generation?: number,
  ): Promise<WriteResult> => patchStatus(client, ref, fields, conditions, generation);
  return {
    createNodeClaim: (claim) => createNodeClaim(client, claim, decodeNodeClaim),
    patchNodeClaim: patchMetadata,
    patchNodePool: patchMetadata,
    patchNodeClass: patchMetadata,
    patchNode: patchMetadata,
    patchNodeClaimStatus: (ref, patch: NodeClaimStatusPatch) =>
      status(ref, encodeNodeClaimStatus(patch), patch.conditions),
    patchNodePoolStatus: (ref, { resources, nodes, conditions }: NodePoolStatusPatch) =>
      status(ref, (now) => ({ resources: replacing(now, resources), nodes }), conditions),
    patchNodeOverlayStatus: (ref, conditions) => status(ref, {}, conditions),
    patchNodeClassStatus: (ref, patch: NodeClassStatus) =>
      status(ref, encodeNodeClassStatus(patch), patch.conditions, patch.observedGeneration),
    patchCapacityBufferStatus: (ref, patch) =>
      status(ref, encodeCapacityBufferStatus(patch), patch.conditions),
    delete: (ref) => deleteObject(client, ref, undefined),
    deletePod: (pod, gracePeriodSeconds) => deleteObject(client, pod, gracePeriodSeconds),
    nominate: (pod, node) => nominate(client, pod, node),
    evict: (pod) => evict(client, pod),
    restartRollout: (set, times) => restartRollout(client, set, times),
    event: (event: ClusterEvent) => events.record(event),
  };
}

async function createNodeClaim(
  client: KubeClient,
  claim: NewNodeClaim,
  decode: (object: unknown) => NodeClaim,
): Promise<WrittenClaim> {
  const written = (result: WrittenClaim['result'], object: unknown): WrittenClaim => ({
    result,
    claim: decode(object),
    resourceVersion: versionOf(object),
  });
  try {
    const created = await client.create(RESOURCES.nodeClaims, encodeNodeClaim(claim));
    return written('done', created);
  } catch (error) {
    if (!(isKubeFault(error, 'conflict') && error.fault.what === 'exists')) throw error;
    const existing = await client.get(RESOURCES.nodeClaims, { name: claim.name });
    return written('exists', existing);
  }
}

/** The ref's uid and resourceVersion become preconditions; everything else is merged. */
async function mergePatch(
  client: KubeClient,
  ref: ObjectRef,
  patch: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
  subresource?: 'status',
): Promise<WriteResult> {
  const { uid, resourceVersion } = ref;
  const metadata = { ...patch.metadata, uid, resourceVersion };
  try {
    const value = { ...patch, metadata };
    await client.patch(KINDS[ref.kind], address(ref), { kind: 'merge', value }, subresource);
    return 'done';
  } catch (error) {
    return await refusal(client, ref, error);
  }
}

/** A refused precondition is `gone` where the name belongs to another object by now. */
async function refusal(client: KubeClient, ref: ObjectRef, error: unknown): Promise<WriteResult> {
  if (isKubeFault(error, 'notFound')) return 'gone';
  // A patch that changes the uid of a stored object is refused as invalid before the precondition.
  const isUidRefusal =
    isKubeFault(error, 'invalid') && error.fault.causes.some(({ path }) => path === 'metadata.uid');
  if (!isKubeFault(error, 'conflict') && !isUidRefusal) throw error;
  if (ref.uid === undefined) return 'conflict';
  const current = await getOrUndefined(client, ref);
  return current === undefined || uidOf(current) !== ref.uid ? 'gone' : 'conflict';
}

/**
 * Labels, annotations and taints are merged by the API server. Finalizers and owners are lists in
 * which others have entries too, so those are read, changed and written back as read.
 */
async function patchObject(
  client: KubeClient,
  ref: ObjectRef,
  patch: NodePatch,
): Promise<WriteResult> {
  const { labels, annotations, taints, taintsBefore } = patch;
  const { addFinalizer, removeFinalizer, owner } = patch;
  const merged = { labels, annotations };
  const spec = taints === undefined ? {} : { spec: { taints: taints.map(encodeTaint) } };
  if ([addFinalizer, removeFinalizer, owner, taintsBefore].every((each) => each === undefined)) {
    return await mergePatch(client, ref, { metadata: merged, ...spec });
  }
  const others = [addFinalizer, removeFinalizer, owner, ref.resourceVersion];
  const isOfTaints = others.every((each) => each === undefined);
  if (isOfTaints && (await replacesTaints(client, ref, patch))) return 'done';
  return await changing(client, ref, async (current) => {
    if (taintsBefore !== undefined && !hasTaints(current, taintsBefore)) return 'overtaken';
    const finalizers = listOf(current, 'finalizers').filter((each) => each !== removeFinalizer);
    if (addFinalizer !== undefined && !finalizers.includes(addFinalizer)) {
      // The API server takes no new ones then.
      if (property(property(current, 'metadata'), 'deletionTimestamp')) return 'overtaken';
      finalizers.push(addFinalizer);
    }
    const owners = listOf(current, 'ownerReferences');
    const others = owners.filter((each) => property(each, 'uid') !== owner?.uid);
    const ownerReferences = owner === undefined ? undefined : [...others, encodeOwner(owner)];
    const metadata = { ...merged, finalizers, ownerReferences };
    const seen = { ...ref, resourceVersion: versionOf(current) };
    return await mergePatch(client, seen, { metadata, ...spec });
  });
}

/** Sets or removes labels or annotations. */
function metadataOperations(
  field: 'labels' | 'annotations',
  values: Readonly<Record<string, string | null>> = {},
): readonly JsonPatchOperation[] {
  return Object.entries(values).map(([key, value]) => {
    const path = `/metadata/${field}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return value === null ? { op: 'remove', path } : { op: 'add', path, value };
  });
}

/**
 * Taints that are written as they were read are replaced by one request, whatever else of the node
 * changes meanwhile. False: something is not as expected, and the node has to be read.
 */
async function replacesTaints(
  client: KubeClient,
  ref: ObjectRef,
  { labels, annotations, taints = [], taintsBefore = [] }: NodePatch,
): Promise<boolean> {
  const value: readonly JsonPatchOperation[] = [
    { op: 'test', path: '/metadata/uid', value: ref.uid },
    { op: 'test', path: '/spec/taints', value: taintsBefore.map(encodeTaint) },
    { op: 'replace', path: '/spec/taints', value: taints.map(encodeTaint) },
    ...metadataOperations('labels', labels),
    ...metadataOperations('annotations', annotations),
  ];
  try {
    await client.patch(KINDS[ref.kind], address(ref), { kind: 'json', value });
    return true;
  } catch (error) {
    if (isKubeFault(error, 'invalid') || isKubeFault(error, 'notFound')) return false;
    throw error;
  }
}

/** Whether the node has these taints, in whatever order. */
function hasTaints(node: unknown, taints: readonly Taint[]): boolean {
  const list = property(property(node, 'spec'), 'taints');
  const now = (Array.isArray(list) ? list : []).map((each) =>
    ['key', 'value', 'effect'].map((name) => text(property(each, name))).join(' '),
  );
  const before = taints.map(({ key, value, effect }) => [key, value, effect].join(' '));
  return now.sort().join() === before.sort().join();
}

function encodeOwner({ kind, name, uid }: OwnerReference): object {
  const resource = Object.values(RESOURCES).find((each) => each.kind === kind);
  if (resource === undefined) throw new Error(`no resource is known for the owner kind ${kind}`);
  return { apiVersion: apiVersion(resource), kind, name, uid, blockOwnerDeletion: true };
}

/** What of a status is written beside its conditions; it may depend on the status that is there. */
type StatusFields = object | ((status: unknown) => object);

/** A patch leaves what it does not name: resources that are gone are named, as null. */
function replacing(status: unknown, resources: Resources): object {
  const before = Object.keys(property(status, 'resources') ?? {});
  return {
    ...Object.fromEntries(before.map((name) => [name, null])),
    ...formatResources(resources),
  };
}

/**
 * Conditions say which generation they are about: the one that the caller has looked at, or the one
 * that is there, which is read first. A status patch of a custom
 * resource drops its metadata but for the resourceVersion (seen with 1.35), so the uid is compared
 * here and the version at which it was read becomes the precondition.
 */
async function patchStatus(
  client: KubeClient,
  ref: ObjectRef,
  fields: StatusFields,
  conditions: readonly Condition[] | ConditionChange | undefined,
  lookedAt: number | undefined,
): Promise<WriteResult> {
  return await changing(client, ref, async (current) => {
    const generation = property(property(current, 'metadata'), 'generation');
    const observed = lookedAt ?? (typeof generation === 'number' ? generation : 0);
    const list =
      typeof conditions === 'function' ? conditions(decodeConditions(current)) : conditions;
    const encoded = list?.map((each) => encodeCondition(each, observed));
    const own = typeof fields === 'function' ? fields(property(current, 'status')) : fields;
    const status = encoded === undefined ? own : { ...own, conditions: encoded };
    const seen = { ...ref, resourceVersion: versionOf(current) };
    return await mergePatch(client, seen, { status }, 'status');
  });
}

/**
 * Reads the object and lets `change` write it; repeated while others write in between, unless the
 * caller itself insists on a resourceVersion. `overtaken`: what it is now must not be changed so.
 */
async function changing(
  client: KubeClient,
  ref: ObjectRef,
  change: (current: unknown) => Promise<WriteResult | 'overtaken'>,
): Promise<WriteResult> {
  for (let attempt = 1; ; attempt += 1) {
    const current = await getOrUndefined(client, ref);
    if (current === undefined) return 'gone';
    if (ref.uid !== undefined && uidOf(current) !== ref.uid) return 'gone';
    const isChanged =
      ref.resourceVersion !== undefined && versionOf(current) !== ref.resourceVersion;
    if (isChanged) return 'conflict';
    const result = await change(current);
    if (result === 'overtaken') return 'conflict';
    const isFinal = ref.resourceVersion !== undefined || attempt === ATTEMPTS_MAX;
    if (result !== 'conflict' || isFinal) return result;
  }
}

async function deleteObject(
  client: KubeClient,
  ref: ObjectRef,
  gracePeriodSeconds: number | undefined,
): Promise<WriteResult> {
  const { uid, resourceVersion } = ref;
  const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
  try {
    await client.delete(KINDS[ref.kind], address(ref), { uid, resourceVersion, ...grace });
    return 'done';
  } catch (error) {
    // Whatever changes of an object, only another one of its name refuses a delete by uid alone.
    const isByUid = uid !== undefined && resourceVersion === undefined;
    if (isByUid && isKubeFault(error, 'conflict')) return 'gone';
    return await refusal(client, ref, error);
  }
}

/**
 * From Kubernetes 1.35 on a pod that is bound is refused as invalid. Before, it keeps a nomination
 * that nobody looks at.
 */
async function nominate(
  client: KubeClient,
  pod: ObjectRef,
  nominatedNodeName: string,
): Promise<'done' | 'gone'> {
  const value = { metadata: { uid: pod.uid }, status: { nominatedNodeName } };
  try {
    const patch = { kind: 'merge', value } as const;
    await client.patch(RESOURCES.pods, address(pod), patch, 'status', NOMINATION_PATIENCE);
    return 'done';
  } catch (error) {
    if (isKubeFault(error, 'notFound') || isKubeFault(error, 'conflict')) return 'gone';
    const isMoved = ({ path }: InvalidCause): boolean =>
      path === 'metadata.uid' || path === 'status.nominatedNodeName';
    if (isKubeFault(error, 'invalid') && error.fault.causes.some(isMoved)) return 'gone';
    throw error;
  }
}

async function evict(client: KubeClient, pod: ObjectRef): Promise<'done' | 'gone' | 'blocked'> {
  const { name, namespace, uid } = pod;
  try {
    await client.createBelow(RESOURCES.pods, address(pod), 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace },
      deleteOptions: { preconditions: { uid } },
    });
    return 'done';
  } catch (error) {
    if (isKubeFault(error, 'notFound') || isKubeFault(error, 'conflict')) return 'gone';
    if (isKubeFault(error, 'blocked')) return 'blocked';
    throw error;
  }
}

function address({ kind, namespace, name }: ObjectRef): Address {
  if (KINDS[kind].namespaced && namespace === undefined) {
    throw new Error(`${kind} ${name} needs a namespace`);
  }
  return { namespace, name };
}

async function getOrUndefined(client: KubeClient, ref: ObjectRef): Promise<unknown> {
  try {
    return await client.get(KINDS[ref.kind], address(ref));
  } catch (error) {
    if (error instanceof KubeError && error.fault.kind === 'notFound') return undefined;
    throw error;
  }
}

function listOf(object: unknown, name: 'finalizers' | 'ownerReferences'): unknown[] {
  const list = property(property(object, 'metadata'), name);
  return Array.isArray(list) ? list : [];
}
