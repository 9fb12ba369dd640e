import { isDeepStrictEqual } from 'node:util';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import type { Decoded } from '../../shared/api/issue.ts';
import { decodeDaemonSet } from '../../shared/api/kubernetes/cluster.ts';
import { PodDecoder } from '../../shared/api/kubernetes/pod.ts';
import { decodeNodeOverlay } from '../../shared/api/node-overlay.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import { resourceOf } from '../../shared/api/resources.ts';
import type { DaemonSet } from '../../shared/core/model/cluster.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import { isLive, type Pod, type PodSpec, podKey } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import { amountOf } from '../../shared/core/model/resources.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { type Json, listAt, numberAt, objectAt, textAt, valueAt } from '../../shared/sim/json.ts';
import { asWorkload } from '../../shared/sim/pod-templates.ts';

/** The cluster with manifests applied, and what of them could not be taken into account. */
export interface Changed {
  readonly state: ClusterState;
  readonly notes: readonly string[];
}

const pods = new PodDecoder();

/** Manifests are checked when they are loaded. */
function checkedValue<Value>(decoded: Decoded<Value>): Value {
  if (!decoded.ok) throw new Error(decoded.issues.map(({ message }) => message).join('; '));
  return decoded.value;
}

/** The list with this one instead of the one that has its name. */
function replaced<Named extends { readonly name: string }>(
  list: readonly Named[],
  one: Named,
): readonly Named[] {
  return [...list.filter(({ name }) => name !== one.name), one];
}

function withPool(state: ClusterState, object: Json): ClusterState {
  const { nodePools } = state.objects;
  const wanted = checkedValue(decodeNodePool(object));
  const live = nodePools.find(({ name }) => name === wanted.name);
  const pool: NodePool =
    live === undefined
      ? { ...wanted, uid: `changed/${wanted.name}` }
      : {
          ...wanted,
          uid: live.uid,
          isDeleting: live.isDeleting,
          conditions: live.conditions,
          annotations: { ...live.annotations, ...wanted.annotations },
        };
  return { ...state, objects: { ...state.objects, nodePools: replaced(nodePools, pool) } };
}

/** What a class resolves to only `nodeclass` finds out: until then it is what it was. */
function withClass(state: ClusterState, object: Json, notes: string[]): ClusterState {
  const wanted = checkedValue(decodeEC2NodeClass(object));
  const live = state.nodeClasses.find(({ name }) => name === wanted.name);
  const what = 'images, subnets and security groups';
  notes.push(
    live === undefined
      ? `EC2NodeClass ${wanted.name} is new: ${what} are not looked up, so that nothing is planned with it`
      : `EC2NodeClass ${wanted.name}: ${what} are those that it has now, not looked up anew`,
  );
  const { uid, generation, status, isDeleting } = live ?? wanted;
  const nodeClass: NodeClass = { ...wanted, uid, generation, status, isDeleting };
  return { ...state, nodeClasses: replaced(state.nodeClasses, nodeClass) };
}

/** As if kube-scheduler had looked at it in vain. */
function waitingPod(object: Json): Pod {
  return { ...checkedValue(pods.decode(object)), phase: 'Pending', unschedulable: true };
}

/** Whether the pod is of the workload of that kind and name, by the name of what made it. */
function isOf({ controller }: Pod, kind: string, name: string): boolean {
  if (controller === undefined) return false;
  const isMade =
    controller.name.startsWith(`${name}-`) && !controller.name.slice(name.length + 1).includes('-');
  if (kind === 'Deployment') return controller.kind === 'ReplicaSet' && isMade;
  return controller.kind === kind && controller.name === name;
}

/** What is not in the template may be a LimitRange's default. */
function asksOtherwise(wanted: PodSpec, live: PodSpec): boolean {
  return Object.entries(wanted.requests).some(
    ([resource, amount]) => amount > 0 && amountOf(live.requests, resource) !== amount,
  );
}

/** Where its pods may be; what the API server itself adds to the selectors of labels is left out. */
function rulesOf(spec: PodSpec): readonly unknown[] {
  const { nodeSelector, requiredNodeAffinity, preferredNodeAffinity, topologySpread } = spec;
  const { podAffinity, podAntiAffinity, preferredPodAffinity, preferredPodAntiAffinity } = spec;
  const preferred = [preferredPodAffinity, preferredPodAntiAffinity].map((terms) =>
    terms.map(({ weight, term }) => [weight, withoutSelector(term)]),
  );
  const required = [podAffinity, podAntiAffinity, topologySpread].map((terms) =>
    terms.map(withoutSelector),
  );
  return [nodeSelector, requiredNodeAffinity, preferredNodeAffinity, required, preferred];
}

function withoutSelector<Term extends { readonly labelSelector: unknown }>(term: Term): object {
  const { labelSelector: _, ...rest } = term;
  return rest;
}

/** The live pod has tolerations that are in no template. */
function standsOtherwise(wanted: PodSpec, live: PodSpec): boolean {
  const isNew = wanted.tolerations.some(
    (each) => !live.tolerations.some((other) => isDeepStrictEqual(each, other)),
  );
  return isNew || !isDeepStrictEqual(rulesOf(wanted), rulesOf(live));
}

/** Why all pods of the workload are replaced; undefined: those that are there stay. */
function whyAnew(wanted: PodSpec, live: PodSpec): string | undefined {
  if (asksOtherwise(wanted, live)) return 'request something else';
  return standsOtherwise(wanted, live) ? 'have other scheduling rules' : undefined;
}

/** A pod of the workload's template. */
function templatePod(object: Json, index: number): Pod {
  const kind = textAt(object, 'kind') ?? '';
  const name = textAt(object, 'metadata', 'name') ?? '';
  const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
  const template = objectAt(object, 'spec', 'template');
  const owner = { apiVersion: 'apps/v1', kind, name, uid: `changed/${namespace}/${kind}/${name}` };
  return waitingPod({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...objectAt(template, 'metadata'),
      name: `${name}-new${index + 1}`,
      namespace,
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: valueAt(template, 'spec'),
  });
}

/** One more of pods that stay: what admission has added to these, it adds to that one, too. */
function another(pod: Pod, { labels, spec }: Pod): Pod {
  const { volumes, hasSchedulingGates } = pod.spec;
  const added = { ...spec, volumes, hasSchedulingGates };
  return { ...pod, labels: { ...labels, ...pod.labels }, spec: added };
}

/**
 * The workload's pods as they would be: those that it lacks wait, those that are too many have gone,
 * and where the template requests something else, or wants other nodes, all are made anew.
 */
function withWorkload(state: ClusterState, object: Json, notes: string[]): ClusterState {
  const kind = textAt(object, 'kind') ?? '';
  const name = textAt(object, 'metadata', 'name') ?? '';
  const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
  const { pods: all } = state.objects;
  const own = all.filter(
    (pod) => pod.namespace === namespace && isLive(pod) && isOf(pod, kind, name),
  );
  const said = numberAt(object, 'spec', 'replicas');
  const replicas = said ?? Math.max(1, own.length);
  const [first] = own;
  const why = first && whyAnew(templatePod(object, 0).spec, first.spec);
  const alike = why === undefined ? first : undefined;
  if (alike === undefined) notes.push(...priorityNote(object));
  const kept = why === undefined ? own.slice(0, replicas) : [];
  const who = `${kind} ${namespace}/${name}`;
  if (why !== undefined) notes.push(`${who}: its pods ${why}, so that all are made anew`);
  else if (own.length > replicas) notes.push(`${who}: ${own.length - replicas} of its pods go`);
  if (listAt(object, 'spec', 'volumeClaimTemplates').length > 0) {
    notes.push(`${who}: volumes of its volumeClaimTemplates are not taken into account`);
  }
  const gone = new Set(own.filter((pod) => !kept.includes(pod)));
  const missing = Array.from({ length: Math.max(0, replicas - kept.length) }, (_, index) => {
    const pod = templatePod(object, index);
    return alike === undefined ? pod : another(pod, alike);
  });
  const pods = [...all.filter((pod) => !gone.has(pod)), ...missing];
  return { ...state, objects: { ...state.objects, pods } };
}

/** In the place of a pod of its name, if there is one. */
function withPod(state: ClusterState, object: Json, notes: string[]): ClusterState {
  notes.push(...priorityNote(object));
  const pod = waitingPod(object);
  const others = state.objects.pods.filter((each) => podKey(each) !== podKey(pod));
  if (others.length < state.objects.pods.length) {
    notes.push(`Pod ${podKey(pod)} is there: it counts as deleted and made anew`);
  }
  return { ...state, objects: { ...state.objects, pods: [...others, pod] } };
}

/** A class of pods whose priority only the API server would look up. */
function priorityNote(object: Json): readonly string[] {
  const spec =
    object['kind'] === 'Pod' ? object['spec'] : valueAt(object, 'spec', 'template', 'spec');
  const name = textAt(spec, 'priorityClassName');
  if (name === undefined || numberAt(spec, 'priority') !== undefined) return [];
  const who = `${textAt(object, 'kind') ?? ''} ${textAt(object, 'metadata', 'name') ?? ''}`;
  return [`${who}: the value of PriorityClass ${name} is not looked up; its new pods count as 0`];
}

function withOverlay(state: ClusterState, object: Json): ClusterState {
  const nodeOverlays = replaced(
    state.objects.nodeOverlays,
    checkedValue(decodeNodeOverlay(object)),
  );
  return { ...state, objects: { ...state.objects, nodeOverlays } };
}

/** Pods of the live template say what those of another one will request only where it is the same. */
function changedDaemonSet(live: DaemonSet, wanted: DaemonSet): DaemonSet {
  const { uid, templateGeneration } = live;
  if (asksOtherwise(wanted.podSpec, live.podSpec)) {
    return { ...wanted, uid, templateGeneration: 'changed' };
  }
  const podSpec = { ...wanted.podSpec, requests: live.podSpec.requests };
  return { ...wanted, uid, templateGeneration, podSpec };
}

function withDaemonSet(state: ClusterState, object: Json): ClusterState {
  const read = checkedValue(decodeDaemonSet(object));
  const isOther = (each: DaemonSet): boolean => podKey(each) !== podKey(read);
  const others = state.objects.daemonSets.filter(isOther);
  const live = state.objects.daemonSets.find((each) => !isOther(each));
  const wanted = live === undefined ? read : changedDaemonSet(live, read);
  return { ...state, objects: { ...state.objects, daemonSets: [...others, wanted] } };
}

type Apply = (state: ClusterState, object: Json, notes: string[]) => ClusterState;

/** How each kind is taken into account. */
const KINDS: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['NodePool', withPool],
  ['EC2NodeClass', withClass],
  ['NodeOverlay', withOverlay],
  ['DaemonSet', withDaemonSet],
  ['Pod', withPod],
  ['Deployment', withWorkload],
  ['ReplicaSet', withWorkload],
  ['StatefulSet', withWorkload],
]);

/** The object where kubectl would put it: those of a namespace that name none in this one. */
function placed(object: Json, namespace: string): Json {
  const resource = resourceOf(textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? '');
  if (resource?.namespaced === false) return object;
  return { ...object, metadata: { namespace, ...objectAt(object, 'metadata') } };
}

/**
 * The cluster as if the manifests had been applied to it a moment ago; `namespace` is that of the
 * kubeconfig's context.
 */
export function withChanges(
  before: ClusterState,
  manifests: readonly Json[],
  namespace = 'default',
): Changed {
  const notes: string[] = [];
  const state = manifests.reduce((each, written) => {
    const object = placed(written, namespace);
    const kind = textAt(object, 'kind') ?? '';
    const form = asWorkload(object);
    const formKind = textAt(form, 'kind') ?? '';
    const apply = KINDS.get(formKind);
    // Pods of a Rollout are a ReplicaSet's, those of all others name it themselves.
    if (apply !== undefined) return apply(each, formKind === 'ReplicaSet' ? object : form, notes);
    notes.push(`${kind} ${textAt(object, 'metadata', 'name') ?? ''} is not taken into account`);
    return each;
  }, before);
  return { state, notes };
}
