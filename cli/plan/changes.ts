import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import type { Decoded } from '../../shared/api/issue.ts';
import { decodeDaemonSet } from '../../shared/api/kubernetes/cluster.ts';
import { PodDecoder } from '../../shared/api/kubernetes/pod.ts';
import { decodeNodeOverlay } from '../../shared/api/node-overlay.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { type Json, numberAt, objectAt, textAt, textsAt, valueAt } from '../../shared/sim/json.ts';

/** The cluster with manifests applied, and what of them could not be taken into account. */
export interface Changed {
  readonly state: ClusterState;
  readonly notes: readonly string[];
}

/** Kinds whose `spec.replicas` pods are made from a template. */
const WORKLOADS: ReadonlySet<string> = new Set(['Deployment', 'ReplicaSet', 'StatefulSet']);

const pods = new PodDecoder();

/** Manifests are checked when they are loaded. */
function checkedValue<Value>(decoded: Decoded<Value>): Value {
  if (!decoded.ok) throw new Error(decoded.issues.map(({ message }) => message).join('; '));
  return decoded.value;
}

/** The list with this one in the place of the one that has its name. */
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
  const { uid, generation, status } = live ?? wanted;
  const nodeClass: NodeClass = { ...wanted, uid, generation, status };
  return { ...state, nodeClasses: replaced(state.nodeClasses, nodeClass) };
}

/** As if kube-scheduler had looked at it in vain. */
function waitingPod(object: Json): Pod {
  return { ...checkedValue(pods.decode(object)), phase: 'Pending', unschedulable: true };
}

function isCounted({ phase, deletedAtMs }: Pod): boolean {
  return phase !== 'Succeeded' && phase !== 'Failed' && deletedAtMs === undefined;
}

/** Pods that the workload lacks; those that it has are told by the labels of its template. */
function missingPods(state: ClusterState, object: Json): readonly Pod[] {
  const kind = textAt(object, 'kind') ?? '';
  const name = textAt(object, 'metadata', 'name') ?? '';
  const namespace = textAt(object, 'metadata', 'namespace') ?? 'default';
  const template = objectAt(object, 'spec', 'template');
  const labels = textsAt(template, 'metadata', 'labels');
  const own = state.objects.pods.filter(
    (pod) =>
      pod.namespace === namespace &&
      isCounted(pod) &&
      Object.entries(labels).every(([key, value]) => pod.labels[key] === value),
  );
  const missing = Math.max(0, (numberAt(object, 'spec', 'replicas') ?? 1) - own.length);
  const owner = { apiVersion: 'apps/v1', kind, name, uid: `changed/${kind}/${name}` };
  return Array.from({ length: missing }, (_, index) =>
    waitingPod({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...objectAt(template, 'metadata'),
        name: `${name}-new${index + 1}`,
        namespace,
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: valueAt(template, 'spec'),
    }),
  );
}

function withPods(state: ClusterState, more: readonly Pod[]): ClusterState {
  const known = new Set(state.objects.pods.map(podKey));
  const fresh = more.filter((pod) => !known.has(podKey(pod)));
  return { ...state, objects: { ...state.objects, pods: [...state.objects.pods, ...fresh] } };
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

/** The cluster as if the manifests had been applied to it a moment ago. */
export function withChanges(before: ClusterState, manifests: readonly Json[]): Changed {
  const notes: string[] = [];
  let state = before;
  for (const object of manifests) {
    const kind = textAt(object, 'kind') ?? '';
    const { objects } = state;
    if (kind === 'NodePool') state = withPool(state, object);
    else if (kind === 'EC2NodeClass') state = withClass(state, object, notes);
    else if (kind === 'NodeOverlay') {
      const nodeOverlays = replaced(objects.nodeOverlays, checkedValue(decodeNodeOverlay(object)));
      state = { ...state, objects: { ...objects, nodeOverlays } };
    } else if (kind === 'DaemonSet') {
      const wanted = checkedValue(decodeDaemonSet(object));
      const others = objects.daemonSets.filter((each) => podKey(each) !== podKey(wanted));
      state = { ...state, objects: { ...objects, daemonSets: [...others, wanted] } };
    } else if (kind === 'Pod' || WORKLOADS.has(kind)) {
      notes.push(...priorityNote(object));
      const more = kind === 'Pod' ? [waitingPod(object)] : missingPods(state, object);
      state = withPods(state, more);
    } else {
      notes.push(`${kind} ${textAt(object, 'metadata', 'name') ?? ''} is not taken into account`);
    }
  }
  return { state, notes };
}
